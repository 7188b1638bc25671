/** Reads NotificationTargets of the API server into the model. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import {
  defaultPerMinute,
  targetStatusSchema,
  type NotificationTarget,
  type NotificationTargetSpec,
} from '../../core/model/notification-target.ts';
import { eventsOf } from '../../core/model/severity.ts';
import { withoutLongLists } from '../../core/model/stored-status.ts';
import { parseSpec, readEnvelope, specOrProblem } from '../../service/resources/read-envelope.ts';
import { targetSpecSchema } from './schema.ts';

const statusSchema = z.preprocess(withoutLongLists, targetStatusSchema.loose().catch({}));

/** Reads an object. Throws only if it has no metadata. Errors in its spec become the target's problem, and invalid fields of its status are dropped. */
export function readNotificationTarget(raw: unknown): NotificationTarget {
  const { known, spec, status } = readEnvelope(raw);
  const read = () => readSpec(parseSpec(targetSpecSchema, spec, {}, 'so it sends nothing'));
  return { ...known, spec: specOrProblem(spec, read), status: statusSchema.parse(status) };
}

function readSpec(spec: z.output<typeof targetSpecSchema>): NotificationTargetSpec {
  const {
    type,
    urlSecretRef,
    secretRef,
    email,
    github,
    commitStatus,
    template,
    events,
    policies,
    perMinute = defaultPerMinute(type),
    suspend,
  } = spec;
  return {
    type,
    ...defined({ urlSecret: urlSecretRef, secret: secretRef, email, forge: github ?? commitStatus, template }),
    events: eventsOf(type, events),
    policyLabels: policies?.matchLabels ?? {},
    ...defined({ perMinute }),
    suspended: suspend ?? false,
  };
}
