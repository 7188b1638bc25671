/** The status of a BaseImagePolicy: what the service found and did. */
import { z } from 'zod';
import { approvalRound } from './approval-round.ts';
import type { Immutable } from './immutable.ts';
import { conditions } from './policy-status.ts';
import { count, digest, image, maxLengths, message, tag, text, time } from './status-fields.ts';
import { withoutLongLists, withoutOddFields } from './stored-status.ts';

/** The maximum lengths of the lists of a status. */
export const maxDependents = 20;
const maxHistory = 10;
export const maxRequests = 20;

/** The maximum of `waves.maxParallel`. */
const maxWave = 100;

const base = z
  .object({ tag: tag('The tag.'), digest: digest('Its digest.'), selectedAt: time('When the policy first selected it.') })
  .describe('The base that applications should be built on.');

/** One image in the list of a status. */
export const dependentSchema = z
  .object({
    image: image('The repository and tag that the workloads run.'),
    digest: digest('The digest that was examined.').exactOptional(),
    base: text(maxLengths.digest + maxLengths.tag, 'The base that it is built on: tag@digest, or one of them.').exactOptional(),
    recognizedBy: z
      .enum(['Layers', 'Annotation', 'Buildpacks', 'Provenance', 'Origin'])
      .exactOptional()
      .describe('How the base was recognized. Origin: it is that of the image that this one was rebased from.'),
    state: z
      .enum([
        'Current',
        'Behind',
        'OtherLine',
        'Unknown',
        'Requested',
        'RebuildOverdue',
        'Rebased',
        'Updating',
        'Updated',
        'Failed',
        'Refused',
      ])
      .describe(
        'Current: built on the selected base. Behind: on an older one, and nothing is done about it, or not yet. OtherLine: on a version that the selection does not mean, such as 17.0.9 or 21.0.1-alpine where 21.0.2 is selected; nothing is done about it. Unknown: the base could not be recognized. Requested: a rebuild was requested. RebuildOverdue: it has not come in time. Rebased: the image is rebased and waits for its wave. Updating, Updated: its workloads are rolling out, or have. Failed: a rollout failed. Refused: the image cannot be rebased.',
      ),
    action: z.enum(['rebase', 'trigger', 'restart', 'report']).exactOptional().describe('What is done about it.'),
    behindSince: time('When the first newer base was selected.').exactOptional(),
    at: time('When the state was reached.').exactOptional(),
    workloads: count('How many workloads run it; 0 for a base in between, on which images are built.'),
    example: text(400, 'One of them: "Deployment shop/web".').exactOptional(),
    rebased: tag('The tag of the rebased image.').exactOptional(),
    reason: text(maxLengths.reason, 'The reason, as a stable word for programs.').exactOptional(),
    message: message('The explanation, for people.').exactOptional(),
  })
  .describe('One image of the workloads.');

const request = z
  .object({
    base: digest('The digest of the base that the rebuild was requested for.'),
    source: text(512, 'The source that was to be rebuilt.'),
    at: time('When the rebuild was requested, or is to be.'),
    state: z.enum(['Pending', 'Requested', 'Failed']).describe('Whether the CI system has accepted the request.'),
    message: message('Why it has not.').exactOptional(),
  })
  .describe('A rebuild that was requested from a CI system.');

const entry = z
  .object({
    tag: tag('The tag of the base.'),
    digest: digest('Its digest.'),
    selectedAt: time('When the policy selected it.'),
    requested: count('Sources whose rebuild was requested.'),
    updated: count('Workloads that were brought to it.'),
    failed: count('Workloads whose rollout failed.'),
    result: z
      .enum(['Selected', 'Rejected'])
      .describe('Rejected: rollouts failed, or somebody rejected the base, and it is not used again.'),
  })
  .describe('One base, and what was done for it.');

/** The schema of `status`. Every field is optional: a reader drops one that does not fit. */
export const baseStatusSchema = z
  .object({
    observedGeneration: z.int().min(0).exactOptional().describe('The generation of the policy that was last reconciled.'),
    conditions: conditions
      .exactOptional()
      .describe('Ready, and Reconciling, Stalled and others while they are true.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    latest: base.exactOptional(),
    lastCheckTime: z
      .string()
      .max(maxLengths.time)
      .meta({ format: 'date-time', description: 'When the registry was last asked for the base.' })
      .exactOptional(),
    lastHandledRequest: text(maxLengths.request, 'The value of the annotation requested-at that was last handled.').exactOptional(),
    lastHandledRejection: text(maxLengths.request, 'The value of the annotation reject that was last handled.').exactOptional(),
    waiting: z
      .object({
        tag: tag('The tag of the base that waits.'),
        digest: digest('Its digest.'),
        since: time('When it was first seen.'),
        until: time('When the policy is reconciled again.').exactOptional(),
        reason: text(maxLengths.reason, 'The reason, as a stable word for programs.'),
      })
      .exactOptional()
      .describe('A base that is not used yet.'),
    images: z
      .object({
        total: count('The images that the selected workloads run, and the bases in between through which some of them are reached.'),
        current: count('Those that are built on the selected base.'),
        behind: count('Those that are built on an older version of the base, or under whose tag pods still run such an image.'),
        otherLine: count('Those that are built on a version of another line.').exactOptional(),
        unknown: count('Those whose base could not be recognized.'),
        unrelated: count('Those that are built on something else.'),
        refused: count(
          'Of those behind: for these, nothing more is done until somebody acts, because the rebase was refused, the rollout failed or the rebuild did not come.',
        ).exactOptional(),
        overdue: count('Of those behind: those whose rebuild has not come in time.').exactOptional(),
        reported: count('Of those behind: those that are only reported, because no other action applies.').exactOptional(),
      })
      .exactOptional()
      .describe('Counts of images, each digest once.'),
    versions: z
      .object({
        known: count('The versions of the base that images are compared with.'),
        unread: count(
          'The tags and versions of the base that are not compared: they are still to be read, cannot be read, do not show their layers, or are too many.',
        ),
      })
      .exactOptional()
      .describe('What is known about the base.'),
    behindSince: time('The earliest time since which an image is behind.').exactOptional(),
    dependents: z
      .array(dependentSchema)
      .max(maxDependents)
      .exactOptional()
      .describe(`The first ${maxDependents} images that are built on the base or may be, those that are behind first.`),
    waves: z
      .object({
        base: digest('The digest of the base that is rolled out.'),
        pending: count('Workloads that wait for their wave.'),
        progressing: count('Workloads that are rolling out.'),
        done: count('Workloads that have rolled out.'),
        failed: count('Workloads whose rollout failed.'),
        lastDoneAt: time('When the last rollout was complete.').exactOptional(),
        stopped: message('Why no further wave begins.').exactOptional(),
      })
      .exactOptional()
      .describe('The waves in which rebased images are rolled out.'),
    lastWave: z
      .object({
        base: digest('The digest of the base that is rolled out.'),
        workloads: z
          .array(text(600, 'A workload: "Deployment/shop/web".'))
          .max(maxWave)
          .describe('The workloads that are changed or restarted in it.'),
      })
      .exactOptional()
      .describe('The wave that began last. It is written before anything is changed, so that no other one begins meanwhile.'),
    requests: z
      .array(request)
      .max(maxRequests)
      .exactOptional()
      .describe(`The first ${maxRequests} rebuilds that were requested for the base, those that are not accepted first.`),
    history: z.array(entry).max(maxHistory).exactOptional().describe(`The last ${maxHistory} bases, the latest first.`),
    rejected: z
      .array(
        z
          .object({
            digest: digest('The digest of the base.'),
            tag: tag('Its tag.'),
            at: time('When.'),
            reason: text(maxLengths.reason, 'RejectedByUser if somebody rejected it; absent if its rollouts failed.').exactOptional(),
            message: message('Why.'),
          })
          .describe('A base that is not used again.'),
      )
      .max(maxHistory)
      .exactOptional()
      .describe(`The last ${maxHistory} bases that failed or were rejected.`),
    pendingApproval: z
      .object({ tag: tag('The tag that waits for approval.'), digest: digest('The digest that waits for approval.') })
      .exactOptional()
      .describe('The base that waits for approval.'),
    approvals: approvalRound.exactOptional().describe('The approvals of the selected base; only with spec.approvals.'),
  })
  .describe('What the service found and did.');

/** The status of a BaseImagePolicy in the model. */
export type BaseStatus = Immutable<z.output<typeof baseStatusSchema>>;
export type Dependent = Immutable<z.output<typeof dependentSchema>>;

const storedStatus = baseStatusSchema.loose();

/** Reads `status`. A field that does not fit the schema is dropped. A field that this version does not know is kept, because the status is written back. */
export function readBaseStatus(raw: unknown): BaseStatus {
  const bounded = withoutLongLists(raw);
  const read = storedStatus.safeParse(bounded);
  return read.success ? read.data : storedStatus.parse(withoutOddFields(bounded, read.error));
}

/** Whether a status says that its policy is suspended. */
export function saysSuspended({ conditions = [] }: BaseStatus): boolean {
  return conditions.some(({ type, reason }) => type === 'Ready' && reason === 'Suspended');
}
