/** The targets of notifications as the API answers them, for the wing that knows them and for the pages that show them. */
import { z } from 'zod';
import { targetReasons, targetTypes } from '../../core/model/notification-target.ts';
import { time } from './route.ts';

const target = z
  .object({
    name: z.string().describe('The name in the configuration, or `NAMESPACE/NAME` of a NotificationTarget.'),
    namespace: z.string().exactOptional().describe('Of a NotificationTarget; absent for a target of the configuration.'),
    type: z.enum(targetTypes).exactOptional().describe('Absent if the target cannot be understood.'),
    ready: z.boolean().describe('Whether messages can be sent, and the last one was accepted.'),
    reason: z.enum(targetReasons),
    message: z.string(),
    lastAcceptedAt: time.exactOptional().describe('When it last accepted a message, within 30 days.'),
    lastFailedAt: time.exactOptional().describe('When it last did not accept a message, within 30 days.'),
    lastFailure: z.string().exactOptional().describe('Why it did not.'),
  })
  .meta({ id: 'NotificationTarget', description: 'A target of notifications, and whether it accepts messages.' });
export type NotificationView = z.output<typeof target>;

/** The paths and the answers that the dashboard uses. */
export const notificationRoutes = {
  list: { path: '/notification-targets', answer: z.object({ targets: z.array(target) }).meta({ id: 'NotificationTargetList' }) },
  test: {
    path: '/notification-targets/test',
    answer: z
      .object({ accepted: z.boolean(), message: z.string().describe('What was answered, and what to do if it was not accepted.') })
      .meta({ id: 'NotificationTest' }),
  },
} as const;
