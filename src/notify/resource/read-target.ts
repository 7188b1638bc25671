/** Reads NotificationTargets of the API server into the model. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import type { PolicyProblem } from '../../core/model/image-policy.ts';
import { noticeKinds } from '../../core/model/notice.ts';
import {
  defaultPerMinute,
  targetStatusSchema,
  type NotificationTarget,
  type NotificationTargetSpec,
} from '../../core/model/notification-target.ts';
import { withoutLongLists } from '../../core/model/stored-status.ts';
import { cut } from '../../core/model/text.ts';
import { specProblems, unknownFields } from '../../service/resources/validation/spec-problems.ts';
import { withoutNulls } from '../../service/resources/validation/walk-schema.ts';
import { targetSpecSchema } from './schema.ts';

const envelope = z.looseObject({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.number().default(0),
    creationTimestamp: z.string().optional().catch(undefined),
  }),
  spec: z.unknown().optional(),
  status: z.preprocess(withoutLongLists, targetStatusSchema.loose().catch({})),
});
const maxMessageLength = 1_000;

/** Reads an object. Throws only if it has no metadata. Errors in its spec become the target's problem, and invalid fields of its status are dropped. */
export function readNotificationTarget(raw: unknown): NotificationTarget {
  const { metadata, spec, status } = envelope.parse(raw);
  const { creationTimestamp: createdAt, ...names } = metadata;
  return { ...names, ...defined({ createdAt }), spec: readSpecOrProblem(spec), status };
}

function readSpecOrProblem(raw: unknown): NotificationTargetSpec | PolicyProblem {
  try {
    const problems = specProblems(targetSpecSchema, raw, {});
    if (problems.length > 0)
      throw new PermanentError('InvalidPolicy', problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
    const unknown = unknownFields(targetSpecSchema, withoutNulls(raw), ['spec']);
    if (unknown.length > 0)
      throw new PermanentError(
        'NotYetSupported',
        `this version does not know ${unknown.map(({ path }) => path).join(', ')}, so it sends nothing`,
      );
    return readSpec(targetSpecSchema.parse(withoutNulls(raw)));
  } catch (error) {
    return {
      problem: {
        reason: error instanceof PermanentError ? error.reason : 'InvalidPolicy',
        message: cut(describeError(error), maxMessageLength),
      },
    };
  }
}

function readSpec(spec: z.output<typeof targetSpecSchema>): NotificationTargetSpec {
  const { type, urlSecretRef, secretRef, email, github, template, events, policies, perMinute = defaultPerMinute(type), suspend } = spec;
  return {
    type,
    ...defined({ urlSecret: urlSecretRef, secret: secretRef, email, github, template }),
    events: events ?? noticeKinds,
    policyLabels: policies?.matchLabels ?? {},
    ...defined({ perMinute }),
    suspended: suspend ?? false,
  };
}
