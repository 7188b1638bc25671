/** The record of activity as the API shows it: the shape of the answer and its path. The wing `activity` answers it, and the dashboard, which is another wing, reads it. */
import { z } from 'zod';
import { activitySchemas } from '../../core/model/activity.ts';
import type { Immutable } from '../../core/model/immutable.ts';
import { asOf } from './route.ts';
import { event } from './event-view.ts';

const [change, action] = activitySchemas;
const id = { id: z.string().describe('The position in the list; unique.') };

/** The types of entries. */
export const activityTypes = ['push', 'change', 'action'] as const;
export type ActivityType = (typeof activityTypes)[number];

export const activityEntry = z
  .discriminatedUnion('type', [
    z
      .object({ type: z.literal('push'), ...id, at: z.string().describe('When it was received.'), push: event })
      .meta({ id: 'PushActivity', description: 'A push that a sender announced.' }),
    change.extend(id).meta({ id: 'ChangeActivity', description: change.description }),
    action.extend(id).meta({ id: 'ActionActivity', description: action.description }),
  ])
  .meta({ id: 'Activity' });
export type ActivityEntry = z.output<typeof activityEntry>;
/** An entry as a route answers it. */
export type AnsweredEntry = Immutable<z.input<typeof activityEntry>>;

/** The path and the answer that the dashboard reads. */
export const activityReads = {
  list: {
    path: '/activity',
    answer: z
      .object({
        activity: z.array(activityEntry),
        next: z.string().exactOptional().describe('For `before`; absent on the last page.'),
        asOf,
      })
      .meta({ id: 'ActivityList' }),
  },
} as const;
