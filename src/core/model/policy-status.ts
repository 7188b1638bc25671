/** The `status` of an ImagePolicy v1: types, definition, reader and conversion are derived from it. Writers keep the limits, or the API server refuses all of it. */
import { z } from 'zod';
import { approvalRound } from './approval-round.ts';
import { assessments } from './assessment.ts';
import { checkList } from './check-record.ts';
import { alongside, companions, incompleteImage, pendingApproval, setDigest } from './companion-status.ts';
import { sides } from './failure-side.ts';
import { followFields } from './followed-status.ts';
import type { Immutable } from './immutable.ts';
import { documentation } from './reasons.ts';
import { count, digest, image, maxLengths, message, tag, text, time } from './status-fields.ts';

/** The maximum length of the lists of changes and of images. They would otherwise grow with every change. */
export const maxListed = 10;
/** The maximum number of listed containers; `targetCounts` counts all. */
export const maxTargetsListed = 20;

const reason = text(maxLengths.reason, 'The reason, as a stable word for programs.');
/** A time that other writers set as well. The API server checks it, and the reader accepts any short text. */
const foreignTime = (description: string) => z.string().max(maxLengths.time).meta({ format: 'date-time', description });

const workload = {
  apiVersion: text(317, 'API version of the workload; only of custom resources.').exactOptional(),
  kind: text(63, 'Kind of the workload.'),
  namespace: text(63, 'Namespace of the workload.'),
  name: text(253, 'Name of the workload.'),
};
// A target that was not found has no uid.
const uid = text(63, 'UID of the workload, which distinguishes it from a later one of the same name.').exactOptional();
const container = (description: string) => text(71, description);

/** The schema of the causes of a reconcile. */
export const triggerSource = z
  .enum(['Webhook', 'Poll', 'PolicyChange', 'TargetChange', 'SecretChange', 'WaitOver', 'Approval', 'Rollback', 'Request'])
  .describe('What caused the reconcile.');

/** The schema of metav1.Condition, which is the same in every version. */
export const conditionSchema = z
  .object({
    type: text(316, 'Ready, which is always present, or Reconciling, Stalled and others while they are true.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
    reason: text(1_024, `The reason, as a stable word for programs; ${documentation}/reasons.md explains each.`),
    message: text(32_768, 'The state and what to do about it, for people.'),
    lastTransitionTime: foreignTime('When the status of the condition last changed.'),
    observedGeneration: z.int().min(0).exactOptional().describe('The generation of the policy that the condition describes.'),
  })
  .describe('One aspect of the state of the policy.');
/** The schema of the conditions of a policy, in every version. */
export const conditions = z.array(conditionSchema).max(32);

const latest = z
  .object({
    tag: tag('The selected tag.'),
    digest: digest('The digest that the tag pointed to.').exactOptional(),
    companions,
    setDigest,
    createdAt: time('When the image was created, according to its own metadata; set with select.newest.').exactOptional(),
    selectedAt: time('When the policy first selected it.'),
  })
  .describe('The image that the policy selects.');

const trigger = z
  .object({
    source: triggerSource,
    receiver: text(maxLengths.receiver, 'The receiver that accepted the webhook.').exactOptional(),
    event: text(maxLengths.event, 'The id of the event, for "image-watcher events".').exactOptional(),
    receivedAt: time('When the service received or noticed it.').exactOptional(),
    handledAt: time('When the reconcile that it caused ended.'),
  })
  .describe('The cause of the last reconcile that changed something or found something new.');

const waiting = z
  .object({
    tag: tag('The tag of the image that waits.').exactOptional(),
    digest: digest('The digest of the image that waits.').exactOptional(),
    setDigest,
    since: time('When the wait began: for minAge, when the digest was first seen.').exactOptional(),
    until: time('When the policy is reconciled again.'),
    reason,
  })
  .describe('A selected image that is not applied before a time, or a retry.');

const containerState = z
  .object({
    ...workload,
    uid,
    container: container('The container, or "volumes/NAME" for an image volume; absent if no container runs the image.').exactOptional(),
    image: image('The image that it runs.').exactOptional(),
    companion: z.boolean().exactOptional().describe('Whether it runs a companion (spec.alongside).'),
    state: z
      .enum(['UpToDate', 'Kept', 'Problem'])
      .describe(
        'UpToDate: the selected image runs. Kept: another image runs, for the reason beside it. Problem: the target cannot be updated.',
      ),
    reason: reason.exactOptional(),
    message: message('Why it is in this state, for people.').exactOptional(),
  })
  .describe('One container of one workload.');

const targetCounts = z
  .object({
    total: count('All containers of the targets.'),
    upToDate: count('Those that run the selected image.'),
    problems: count('Those that cannot be updated.'),
    unlisted: text(
      64,
      'A hash of what the containers run that the list of targets has no place for, so that their changes are noticed.',
    ).exactOptional(),
  })
  .describe(`Counts of containers; the list of targets has only the first ${maxTargetsListed}.`);

const rollouts = z
  .object({
    progressing: count('Those whose rollout is under way.'),
    done: count('Those whose rollout is complete.'),
    failed: count('Those whose rollout failed, and which still run the failed image.'),
    rolledBack: count('Those that were rolled back to an older image.'),
    settledAt: time(
      'Changes up to this time are complete: what happens to their workloads later is not part of a rollout.',
    ).exactOptional(),
    lastDoneAt: time('When the last rollout was complete; only with rollout.waves.').exactOptional(),
  })
  .describe(`Counts of the workloads that run what the policy applied; the history has only the last ${maxListed} changes.`);

/** The schema of one change of one container. */
export const changeSchema = z
  .object({
    ...workload,
    uid,
    container: container('The container, or "volumes/NAME" for an image volume.'),
    from: image('The previous image; absent if unknown, because the change was found afterwards.').exactOptional(),
    to: image('The new image.'),
    tag: tag('The tag that was applied.'),
    digest: digest('The digest that was applied.').exactOptional(),
    setDigest,
    alongside,
    trigger: triggerSource,
    at: time('When the container was changed.'),
    result: z
      .enum(['Applied', 'RolledOut', 'RolledBack', 'Failed'])
      .describe(
        'Applied: the rollout has no result yet. RolledOut: it succeeded. RolledBack: the container was rolled back to an older image. Failed: the rollout failed.',
      ),
    failure: z
      .object({
        against: z
          .enum(sides)
          .describe(
            'What the failure speaks against. image: its digest is rejected. registry, cluster, configuration: it is tried again. unknown: nothing was reported, and it is tried again.',
          ),
        reason,
        message: message('What the pod or the controller reported.'),
      })
      .exactOptional()
      .describe('Why the rollout failed.'),
    rollbackRefused: z
      .object({ reason, message: message('The explanation, for people.'), at: time('When that was found.') })
      .exactOptional()
      .describe('Why the failed change is not rolled back.'),
  })
  .describe('One change of one container.');

const rejected = z
  .object({
    digest: digest('The digest that is not applied again.'),
    setDigest,
    tag: tag('The tag that pointed to it.').exactOptional(),
    reason,
    message: message('The explanation, for people.').exactOptional(),
    at: time('When it was rejected.'),
  })
  .describe('An image that failed a rollout, was rolled back or was rejected, and is not applied again.');

const reverted = z
  .object({
    ...workload,
    container: container('The container, or "volumes/NAME" for an image volume.'),
    tag: tag('The tag that was reverted.'),
    digest: digest('The digest that was reverted.').exactOptional(),
    count: z.int().min(1).describe('How often it was reverted; after the second time it is not applied again.'),
    at: time('When the last revert was found.'),
  })
  .describe('A change that a GitOps tool reverted.');

/** The schema of `status`. Every field is optional: a reader drops one that does not fit. */
export const statusSchema = z
  .object({
    observedGeneration: z.int().min(0).exactOptional().describe('The generation of the policy for which all tags were last evaluated.'),
    conditions: conditions
      .exactOptional()
      .describe('Ready, and Reconciling, Stalled and others while they are true.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
    latest: latest.exactOptional(),
    trigger: trigger.exactOptional(),
    lastCheckTime: foreignTime('When the registry was last asked for this policy.').exactOptional(),
    lastHandledRequest: text(maxLengths.request, 'The value of the annotation requested-at that was last handled.').exactOptional(),
    lastHandledRollback: text(maxLengths.request, 'The value of the annotation rollback-to that was last handled.').exactOptional(),
    lastRollbackProblem: text(
      maxLengths.message,
      'Why the rollback that was last handled changed nothing; absent if it changed something.',
    ).exactOptional(),
    lastHandledRejection: text(maxLengths.request, 'The value of the annotation reject that was last handled.').exactOptional(),
    rollback: z
      .object({
        request: text(maxLengths.request, 'The value of the annotation rollback-to.'),
        tag: tag('The tag that is brought back.'),
        digest: digest('The digest that is brought back.'),
        companions,
      })
      .exactOptional()
      .describe('The rollback that is under way: what was asked for, and the image that this meant when it began.'),
    waiting: waiting.exactOptional(),
    refused: z
      .object({ tag: tag('The tag of the image.'), digest: digest('The digest of the image.').exactOptional() })
      .exactOptional()
      .describe('The image that the policy is Stalled because of: it is not signed as verify demands.'),
    announced: z
      .object({
        tag: tag('The tag of the image.'),
        digest: digest('The digest of the image.').exactOptional(),
        event: text(maxLengths.event, 'The id of the event, for "image-watcher events".'),
      })
      .exactOptional()
      .describe(
        'The push of the image that is selected or waits, where another cause had found the image before the push was announced; or of one that is not evaluated yet, because another one waits for its age or the policy is suspended.',
      ),
    running: text(
      maxLengths.running,
      'What the targets run, as "kubectl get" shows it: the tag that most containers run, and the number of other tags: "1.4.2,+1".',
    ).exactOptional(),
    targets: z
      .array(containerState)
      .max(maxTargetsListed)
      .exactOptional()
      .describe(`What the targets run: the first ${maxTargetsListed} containers.`),
    targetCounts: targetCounts.exactOptional(),
    rollouts: rollouts.exactOptional(),
    lastAppliedTag: tag(
      'The tag that was applied last; also set for policies that were updated before there was a history.',
    ).exactOptional(),
    history: z.array(changeSchema).max(maxListed).exactOptional().describe(`The last ${maxListed} changes, the latest first.`),
    rejected: z
      .array(rejected)
      .max(maxListed)
      .exactOptional()
      .describe(`The last ${maxListed} images that failed or were rejected, the latest first.`),
    incomplete: z
      .array(incompleteImage)
      .max(maxListed)
      .exactOptional()
      .describe(`The last ${maxListed} images of which companions are missing, the latest first.`),
    reverted: z
      .array(reverted)
      .max(maxListed)
      .exactOptional()
      .describe(`The last ${maxListed} changes that a GitOps tool reverted, the latest first.`),
    checks: checkList.exactOptional(),
    vulnerabilities: assessments,
    pendingApproval,
    approvals: approvalRound.exactOptional(),
    ...followFields,
  })
  .describe('What the service found and did.');

/** The status of an ImagePolicy in the model. */
export type PolicyStatus = Immutable<z.output<typeof statusSchema>>;
/** metav1.Condition. */
export type Condition = Immutable<z.output<typeof conditionSchema>>;
/** The cause of a reconcile. */
export type TriggerSource = z.output<typeof triggerSource>;
/** The image that the policy selects. */
export type LatestImage = Immutable<z.output<typeof latest>>;
/** The cause of the last reconcile that changed or found something. */
export type Trigger = Immutable<z.output<typeof trigger>>;
/** An image or a retry that waits until a time. */
export type Waiting = Immutable<z.output<typeof waiting>>;
/** One container of one target, or (without a container) a target whose containers cannot be shown. */
export type ContainerState = Immutable<z.output<typeof containerState>>;
export type TargetCounts = Immutable<z.output<typeof targetCounts>>;
/** Counts of the workloads that run the image that the policy applied. */
export type RolloutCounts = Immutable<z.output<typeof rollouts>>;
/** One change of one container. */
export type HistoryEntry = Immutable<z.output<typeof changeSchema>>;
/** An image that is not applied again. */
export type RejectedImage = Immutable<z.output<typeof rejected>>;
/** How often a GitOps tool reverted the changes of a container. */
export type Reversion = Immutable<z.output<typeof reverted>>;
/** An image of which companions are missing. */
export type IncompleteImage = Immutable<z.output<typeof incompleteImage>>;

/** Whether a value is one of the causes of a reconcile. */
export function isTriggerSource(value: unknown): value is TriggerSource {
  return typeof value === 'string' && Object.hasOwn(triggerSource.enum, value);
}
