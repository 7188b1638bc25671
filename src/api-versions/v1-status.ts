/** `status` of ImagePolicy v1, as the service writes it. */
import { z } from 'zod';
import { condition } from './condition.ts';

const text = (max: number, what: string) => z.string().max(max).describe(what);
const tag = (what: string) => text(128, what);
const digest = (what: string) => text(160, what);
const image = (what: string) => text(1024, what);
const time = (what: string) => z.iso.datetime().describe(what);
const reason = text(64, 'A stable word for programs.');

const source = z
  .enum(['Webhook', 'Poll', 'PolicyChange', 'TargetChange', 'SecretChange', 'WaitOver', 'Approval', 'Rollback', 'Request'])
  .describe('What made us look.');

const latest = z
  .object({
    tag: tag('The selected tag.'),
    digest: digest('What the tag pointed to.').optional(),
    createdAt: time('When the image was created, by its own word; known where select.newest asks for it.').optional(),
    selectedAt: time('When it was selected first.'),
  })
  .describe('What the policy selects.');

const trigger = z
  .object({
    source,
    receiver: text(63, 'The receiver of the webhook.').optional(),
    event: text(128, 'The id of the event, for "image-watcher events".').optional(),
    receivedAt: time('When it was received.').optional(),
    handledAt: time('When the look that it caused ended.'),
  })
  .describe('What caused the last look that changed something or found something new.');

const waiting = z
  .object({
    tag: tag('The tag that waits.').optional(),
    digest: digest('The digest that waits.').optional(),
    since: time('Since when it waits: the first sight of the digest.').optional(),
    until: time('When it is looked at again.'),
    reason,
  })
  .describe('What is selected but not applied before a time.');

const target = z
  .object({
    apiVersion: text(317, 'API version of the workload; only of custom resources.').optional(),
    kind: text(63, 'Kind of the workload.'),
    namespace: text(63, 'Namespace of the workload.'),
    name: text(253, 'Name of the workload.'),
    uid: text(63, 'Its uid: a workload that is created anew under the name is another.').optional(),
    container: text(71, 'The container, or "volumes/NAME" for an image volume; absent when there is none that runs the image.').optional(),
    image: image('The image that it runs.').optional(),
    state: z
      .enum(['UpToDate', 'Kept', 'Problem'])
      .describe('UpToDate, Kept (something else runs, for the reason in the message), Problem.'),
    message: text(1024, 'A sentence for people.').optional(),
  })
  .describe('One container of one workload.');

const targetCounts = z
  .object({
    total: z.int().min(0).describe('All containers.'),
    upToDate: z.int().min(0).describe('Those that run what is selected.'),
    problems: z.int().min(0).describe('Those that cannot be brought there.'),
  })
  .describe('All targets in numbers; the list of targets holds only the first 20.');

const rollouts = z
  .object({
    progressing: z.int().min(0).describe('Those that are not out yet.'),
    done: z.int().min(0).describe('Those that are out.'),
    failed: z.int().min(0).describe('Those whose rollout failed, and which still run the failed image.'),
    rolledBack: z.int().min(0).describe('Those that went back to an older image.'),
    settledAt: time('Changes up to this time are over: what happens to their workloads later is no rollout.').optional(),
  })
  .describe('The rollouts of workloads that run what the policy gave them, in numbers; the history names only the last 10 changes.');

const change = z
  .object({
    apiVersion: text(317, 'API version of the workload; only of custom resources.').optional(),
    kind: text(63, 'Kind of the workload.'),
    namespace: text(63, 'Namespace of the workload.'),
    name: text(253, 'Name of the workload.'),
    uid: text(63, 'Its uid: a workload that is created anew under the name is another.').optional(),
    container: text(71, 'The container, or "volumes/NAME" for an image volume.'),
    from: image('The image before; absent where it is not known, because the change was found afterwards.').optional(),
    to: image('The image after.'),
    tag: tag('The tag that was applied.'),
    digest: digest('The digest that was applied.').optional(),
    trigger: source,
    at: time('When it was changed.'),
    result: z.enum(['Applied', 'RolledOut', 'RolledBack', 'Failed']).describe('What became of it.'),
    rollbackRefused: z
      .object({ reason, message: text(1024, 'Why, in a sentence.'), at: time('Since when that is known.') })
      .optional()
      .describe('Why it failed and is not rolled back.'),
  })
  .describe('One change of one container.');

const rejected = z
  .object({
    digest: digest('The digest that is not tried again.'),
    tag: tag('The tag it had.').optional(),
    reason,
    message: text(1024, 'Why, in a sentence.').optional(),
    at: time('When it was rejected.'),
  })
  .describe('An image that failed.');

const reverted = z
  .object({
    apiVersion: text(317, 'API version of the workload; only of custom resources.').optional(),
    kind: text(63, 'Kind of the workload.'),
    namespace: text(63, 'Namespace of the workload.'),
    name: text(253, 'Name of the workload.'),
    container: text(71, 'The container, or "volumes/NAME" for an image volume.'),
    tag: tag('The tag that was put back.'),
    digest: digest('Its digest.').optional(),
    count: z.int().min(1).describe('How often; after the second time it is left alone.'),
    at: time('When that was noticed.'),
  })
  .describe('A change that a GitOps tool has put back.');

/** `status` of a v1 policy. */
export const statusSchema = z
  .object({
    observedGeneration: z.int().min(0).optional().describe('The generation of the policy for which all tags were last looked at.'),
    conditions: z
      .array(condition)
      .max(32)
      .optional()
      .describe('Ready, and Reconciling, Stalled and others while they are true.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    latest: latest.optional(),
    trigger: trigger.optional(),
    lastCheckTime: time('When the registry was last asked for this policy.').optional(),
    lastHandledRequest: text(253, 'The value of the annotation requested-at that was last answered.').optional(),
    lastHandledRollback: text(253, 'The value of the annotation rollback-to that was last answered.').optional(),
    waiting: waiting.optional(),
    targets: z.array(target).max(20).optional().describe('What the targets run: the first 20 containers.'),
    targetCounts: targetCounts.optional(),
    rollouts: rollouts.optional(),
    lastAppliedTag: tag('The tag that was applied last; known also of policies that were updated before there was a history.').optional(),
    history: z.array(change).max(10).optional().describe('The last 10 changes, the latest first.'),
    rejected: z.array(rejected).max(10).optional().describe('The last 10 digests that failed, the latest first.'),
    reverted: z.array(reverted).max(10).optional().describe('The last 10 changes that a GitOps tool has put back, the latest first.'),
    pendingApproval: z
      .object({ tag: tag('The tag that waits for approval.'), digest: digest('Its digest.') })
      .optional()
      .describe('What waits for approval.'),
  })
  .describe('What the service found and did.');

export type Status = z.input<typeof statusSchema>;
