/**
 * Validates the data of jobs, which anybody with write access to Redis may have written. They are limited in size and only hints: decisions depend on the API
 * server and the registry. Unknown fields, such as those of a later version, are ignored.
 */
import { z } from 'zod';
import { describeError } from '../../core/model/errors.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import { maxAlongside, maxFixes, noticeKinds, type Notice } from '../../core/model/notice.ts';
import { triggerSource } from '../../core/model/policy-status.ts';
import { vulnerabilitySeverities } from '../../core/model/vulnerabilities.ts';
import type { TickJob } from './producer.ts';
import {
  schema,
  type BaseJob,
  type NoticeJob,
  type PolicyJob,
  type PollJob,
  type PushJob,
  type ScanJob,
  type SummaryJob,
  type TriggerJob,
} from './jobs.ts';

const versioned = { schema: z.literal(schema) };
const time = z.iso.datetime({ offset: true }).max(40);
const id = z.string().regex(/^[\w-]{1,128}$/);
const word = z.string().min(1).max(253);
const name = z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/);
const tag = z.string().refine(isTag, 'is not a tag');
const digest = z.string().refine(isDigest, 'is not a digest');
const traceparent = z
  .string()
  .regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
  .exactOptional();
const repository = {
  registry: z.string().regex(/^[a-z0-9._:[\]-]{1,255}$/),
  path: z.string().regex(/^[a-z0-9._/-]{1,255}$/),
};

const hint = z.object({ tag, digest: digest.exactOptional(), repository: z.object(repository).exactOptional() });

/** A push as stored in a job and in the record of an event. */
export const pushSchema = z.object({
  id,
  receiver: word,
  provider: word,
  repository: z.object(repository),
  tag,
  digest: digest.exactOptional(),
  receivedAt: time,
  pushedAt: z.string().max(40).exactOptional(),
  replayOf: id.exactOptional(),
});

const pushJob = pushSchema.extend({ ...versioned, traceparent });

const reconcileJob = z.object({
  ...versioned,
  policy: z.object({ namespace: name, name, uid: word }),
  source: triggerSource,
  cause: z.string().min(1).max(16_384),
  receivedAt: time,
  generation: z.int().min(0).exactOptional(),
  eventId: id.exactOptional(),
  hint: hint.exactOptional(),
  notBefore: time.exactOptional(),
});

const policyJob = reconcileJob.extend({
  traceparent,
  wait: z.object({ until: z.string().max(64), at: time }).exactOptional(),
  receiver: word.exactOptional(),
  actions: z
    .object({
      approve: word.exactOptional(),
      reject: word.exactOptional(),
      rollbackTo: word.exactOptional(),
      release: word.exactOptional(),
      promote: word.exactOptional(),
      requestedAt: word.exactOptional(),
      approvals: z
        .array(z.object({ tag, digest, at: time, user: word, reason: z.string().max(300).exactOptional() }))
        .max(32)
        .exactOptional(),
      hold: z.object({ at: time.exactOptional(), user: word.exactOptional(), reason: z.string().max(300).exactOptional() }).exactOptional(),
    })
    .exactOptional(),
  task: z.enum(['rollout', 'check']).exactOptional(),
  check: id.exactOptional(),
});

const baseJob = reconcileJob.extend({ pushed: z.object(repository).exactOptional() });

const triggerJob = z.object({
  ...versioned,
  policy: z.object({ namespace: name, name, uid: word }),
  pipeline: id,
  base: z.object({ repository: z.string().min(1).max(512), tag, digest }),
  source: z.string().min(1).max(512),
  image: z.string().min(1).max(1_024),
  after: time.exactOptional(),
  receivedAt: time,
});

const count = z.int().min(0);
const notice = z.object({
  kind: z.enum(noticeKinds),
  subject: z.union([
    z.object({ kind: z.enum(['ImagePolicy', 'BaseImagePolicy']), namespace: name, name, uid: word }),
    z.object({ kind: z.literal('Image'), namespace: name, name: z.string().min(1).max(1_024), uid: word }),
    z.object({ kind: z.literal('Certificate'), name: word, uid: word }),
  ]),
  at: time,
  tag: tag.exactOptional(),
  digest: digest.exactOptional(),
  setDigest: digest.exactOptional(),
  alongside: z
    .array(z.object({ from: z.string().max(1_024).exactOptional(), to: z.string().max(1_024) }))
    .max(maxAlongside)
    .exactOptional(),
  base: z.string().max(1_024).exactOptional(),
  images: z.object({ current: count, behind: count, refused: count, unknown: count }).exactOptional(),
  fixes: z
    .array(z.object({ id: z.string().max(64), severity: z.enum(vulnerabilitySeverities) }))
    .max(maxFixes)
    .exactOptional(),
  from: z.array(z.string().max(1_024)).max(32).exactOptional(),
  workloads: z.array(z.string().max(400)).max(32).exactOptional(),
  hasMore: z.boolean().exactOptional(),
  share: z.object({ count, total: count }).exactOptional(),
  undone: digest.exactOptional(),
  interim: z.boolean().exactOptional(),
  reason: z.string().max(1_024).exactOptional(),
  message: z.string().max(32_768).exactOptional(),
  nextStep: z.string().max(1_024).exactOptional(),
  // The id of an event, as long as a status may name it.
  eventId: z.string().max(128).exactOptional(),
});
/** The name of a notification target: one of the configuration, or `namespace/name`. */
const targetName = z
  .string()
  .max(512)
  .regex(/^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9.-]*)?$/);
const noticeJob = z.object({
  ...versioned,
  target: targetName,
  identity: z.array(z.string().max(512)).max(32),
  notice,
  receivedAt: time,
});
const summaryJob = z.object({ ...versioned, target: targetName, group: z.int().min(1), receivedAt: time });

const secret = z.object({ namespace: name, name, namedBy: z.enum(['policy', 'target', 'serviceAccount']) });
const pollJob = z.object({
  ...versioned,
  repository: z.object({ ...repository, access: z.object({ secrets: z.array(secret).max(10_000) }).exactOptional() }),
  intervalMs: z.int().min(1),
  receivedAt: time,
});

const scanJob = z.object({ ...versioned, scanned: z.object(repository), receiver: word, receivedAt: time });

/** Reads a push; throws an Error that names what cannot be read. */
export const readPushJob = (data: unknown): PushJob => read(pushJob, data);
/** Reads a policy to reconcile; throws an Error that names what cannot be read. */
export const readPolicyJob = (data: unknown): PolicyJob => read(policyJob, data);
/** Reads a BaseImagePolicy to reconcile; throws an Error that names what cannot be read. */
export const readBaseJob = (data: unknown): BaseJob => read(baseJob, data);
/** Reads a rebuild to request; throws an Error that names what cannot be read. */
export const readTriggerJob = (data: unknown): TriggerJob => read(triggerJob, data);
/** Reads a notice to send, or a summary; throws an Error that names what cannot be read. */
export const readNoticeJob = (data: unknown): NoticeJob | SummaryJob => read(z.union([noticeJob, summaryJob]), data);
/** Reads a notice; throws an Error that names what cannot be read. */
export const readNotice = (data: unknown): Notice => read(notice, data);
/** Reads a repository to list, a report of a scan, or a tick, which has no data of its own; throws an Error that names what cannot be read. */
export const readPollQueueJob = (data: unknown): PollJob | ScanJob | TickJob =>
  read(z.union([pollJob, scanJob, z.strictObject(versioned)]), data);

function read<T>(reader: z.ZodType<T>, data: unknown): T {
  const parsed = reader.safeParse(data);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`the job cannot be read: ${issue?.path.join('.') ?? ''} ${issue?.message ?? describeError(parsed.error)}`);
}
