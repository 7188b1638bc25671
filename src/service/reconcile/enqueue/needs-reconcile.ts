/**
 * The predicate for reconciles: which policies need one because they, or something that they refer to, changed. It is a pure function of the caches, called on
 * every change and once a minute for all policies, so a missed event does no harm.
 */
import { defined } from '../../../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Seen } from '../../../core/plan/consent.ts';
import { isStop } from '../../../core/model/guard-reasons.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import { resolveTargets } from '../../../core/model/resolve-target.ts';
import { minuteOf, shorten, versionOf } from './job-cause.ts';
import { permissionJob } from './permission-job.ts';
import { recoveryJob } from './recovery-job.ts';
import { actionJob, endedApprovalJob } from './requested-actions.ts';
import { decidedJob } from './decided-jobs.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';
import { isSameJson } from '../../../core/model/untyped.ts';
import { followedBy } from '../../../core/plan/proven.ts';
import { findRejection } from '../../../core/plan/rejections.ts';
import { whyShared } from '../../../core/plan/shared-companions.ts';
import { tagOfImage } from '../../../core/model/running-image.ts';
import { changedTargets, type Compared } from '../../../core/plan/seen-targets.ts';
import { isReleased } from '../../../core/plan/guards/released.ts';
import { isPending, waitsUntil } from '../../../core/plan/pending-candidate.ts';
import { toSeconds } from '../../../core/model/text.ts';
import { wantsChange, type UnchangedContainer, type TargetPlan } from '../../../core/plan/plan-update.ts';
import { planWith } from '../plan.ts';
import { selectKnown, usableSpec } from '../selection.ts';
import type { ClusterView, SecretVersions, SeenCluster } from '../ports.ts';

const targetPaused: Reason = 'TargetPaused';
const upToDate: Reason = 'UpToDate';
/** What is said of a rejected image: the guard that refuses it comes before all others that hold it. */
const rejectedReasons: ReadonlySet<string> = new Set<Reason>(['RejectedDigest', 'RolloutFailed']);
const retrying: Reason = 'Retrying';

type Job = Pick<PolicyJob, 'source' | 'cause' | 'hint' | 'actions'>;

/** The data that the predicate reads from the caches. */
export type NeedsView = Pick<
  ClusterView,
  | 'findWorkload'
  | 'listWorkloads'
  | 'targetState'
  | 'namespaceVersion'
  | 'crossNamespace'
  | 'namespaceConsent'
  | 'mayUseRegistry'
  | 'findPolicy'
  | 'hasTrustRoot'
> &
  Partial<Pick<ClusterView, 'aliases' | 'policiesOf'>>;

/**
 * The jobs that the policy needs now. Replicas that see the same state make the same jobs. An annotation may stay for weeks after its request was answered, so
 * it must not hide other changes.
 */
export function neededReconciles(
  policy: ImagePolicy,
  view: NeedsView & Seen,
  compared: Compared,
  secretVersions?: SecretVersions,
): PolicyJob[] {
  const { generation, status } = policy;
  const { now } = compared;
  if (status.observedGeneration !== generation) return [jobOf(policy, now, { source: 'PolicyChange', cause: `generation:${generation}` })];
  const permission = holdJob(policy, now) ?? permissionJob(policy, view, now);
  if (permission !== undefined) return [jobOf(policy, now, permission)];
  const needed: readonly (Job | undefined)[] = [
    actionJob(policy) ?? decidedJob(policy, now) ?? endedApprovalJob(policy, now),
    recoveryJob(policy, view, secretVersions) ?? unsharedJob(policy, view),
    changedTargetsJob(policy, view, compared),
    changedWaitJob(policy, now),
    heldBackJob(policy, view, now),
    followJob(policy, view, now),
    retryJob(policy, now),
  ];
  return needed.flatMap((job) => (job === undefined ? [] : [jobOf(policy, now, job)]));
}

/** The job for a policy whose companions no other policy changes any more. */
function unsharedJob(policy: ImagePolicy, view: NeedsView & Seen): Job | undefined {
  const { generation, spec, status } = policy;
  const { policiesOf, aliases = new Map() } = view;
  const stalled = status.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === 'CompanionShared');
  if (stalled?.status !== 'True' || !isUsable(spec) || policiesOf === undefined) return undefined;
  const isShared = resolveTargets(spec.targets, view).some((workload) => whyShared(workload, { policy, spec, aliases }, policiesOf));
  return isShared ? undefined : { source: 'PolicyChange', cause: `unshared:${generation}:${stalled.lastTransitionTime}` };
}

/** The job for a policy whose status does not show what the policies that it follows show now. */
function followJob(policy: ImagePolicy, view: NeedsView & Seen, now: Date): Job | undefined {
  const { generation, resourceVersion, spec, status } = policy;
  if (!isUsable(spec) || spec.suspended || view.findPolicy === undefined) return undefined;
  const follows = followedBy(policy, spec, view);
  if (isSameJson(follows, status.follows ?? [])) return undefined;
  // The version of the status is part of the cause, because a followed policy may come back to what it showed before.
  return { source: 'PolicyChange', cause: `follows:${generation}:${resourceVersion}:${minuteOf(now)}:${shorten(JSON.stringify(follows))}` };
}

/** How long a try is left to the job that has failed. */
const retryAfterMs = 60_000;

/** The job for a policy whose status says that it is retried, so that this is true also if Redis has lost the job. */
function retryJob({ generation, spec, status }: ImagePolicy, now: Date): Job | undefined {
  const ready = status.conditions?.find(({ type, reason }) => type === 'Ready' && reason === retrying);
  if (ready === undefined || !isUsable(spec) || spec.suspended) return undefined;
  const isRecent = Math.abs(now.getTime() - Date.parse(ready.lastTransitionTime)) < retryAfterMs;
  return isRecent ? undefined : { source: 'TargetChange', cause: `retrying:${generation}:${ready.lastTransitionTime}` };
}

/**
 * The job for a policy whose wait is longer or shorter than its spec now demands. Defaults change without an edit of the policy: with the configuration, or
 * with the labels of its namespace. A wait that is over has a job of its own.
 */
function changedWaitJob({ generation, spec, status }: ImagePolicy, now: Date): Job | undefined {
  const { waiting } = status;
  if (!isUsable(spec) || spec.suspended || !isPending(waiting) || Date.parse(waiting.until) <= now.getTime()) return undefined;
  const until = waitsUntil(waiting, spec, now);
  const isSame = until === undefined ? false : toSeconds(until) === waiting.until;
  return isSame
    ? undefined
    : { source: 'PolicyChange', cause: `waits:${generation}:${waiting.until}:${until?.toISOString() ?? 'no more'}` };
}

/**
 * The job for a policy that holds its image back, and whose status does not name all reasons: a target was paused since, or the image that is held has failed on
 * another target.
 */
function heldBackJob(policy: ImagePolicy, view: NeedsView & Seen, now: Date): Job | undefined {
  const { generation, spec, status } = policy;
  const { conditions = [], waiting, latest, rejected = [], targetCounts = { total: 0, upToDate: 0 } } = status;
  const held = conditions.filter(({ type }) => type === 'Held' || type === 'ApprovalRequired');
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (!isUsable(spec) || latest === undefined) return undefined;
  const { tag, digest } = latest;
  const image = { tag, ...defined({ digest }) };
  // The cause includes the image, because the reconcile of a later image may not have seen the pause.
  const job = (what: string, versions = '') => ({
    source: 'TargetChange' as const,
    cause: `${what}:${generation}:${tag}@${digest ?? ''}:${versions}`,
    hint: image,
  });
  const rejection = findRejection({ rejected }, latest);
  const isRejected = rejection !== undefined && !isReleased(new Date(rejection.at), policy.actions, now);
  if (isRejected && held.some(({ reason }) => !rejectedReasons.has(reason))) return job('rejected');
  // While a rollout had failed, this was said of it, and not of the rejected image.
  if (isRejected && ready?.reason === upToDate && targetCounts.upToDate < targetCounts.total)
    return job('rejected', ready.lastTransitionTime);
  if (held.length === 0 && !isPending(waiting) && !isStop(ready?.reason ?? upToDate)) return undefined;
  if (held.some(({ reason }) => reason === targetPaused)) return undefined;
  const paused = resolveTargets(spec.targets, view).filter((workload) => workload.paused === true);
  if (paused.length === 0) return undefined;
  return job('paused', shorten(paused.map((workload) => versionOf(workload, targetPaused)).join(',')));
}

const changedPrefix = 'running:';

/** Whether a job is about targets that run other images than the status shows. */
export function isChangedTargetsJob({ cause }: Pick<PolicyJob, 'cause'>): boolean {
  return cause.startsWith(changedPrefix);
}

/**
 * The job for a policy whose status does not show what its targets run, even if no replica was running when they changed: another image, a container or a
 * workload that was deleted, added or renamed, another object of the same name. The reconcile compares them with what was selected last, and asks the registry
 * only if that changes something.
 */
export function changedTargetsJob(policy: ImagePolicy, view: NeedsView & Seen, compared: Compared): PolicyJob | undefined {
  const { generation, resourceVersion, status } = policy;
  const { now } = compared;
  const changed = changedTargets(policy, view, compared);
  if (changed.length === 0) return undefined;
  const { tag, digest } = status.latest ?? {};
  return jobOf(policy, now, {
    source: 'TargetChange',
    // The cause includes the version of the status, because a label may be removed, added and removed again.
    cause: `${changedPrefix}${generation}:${resourceVersion}:${minuteOf(now)}:${shorten(changed.join(','))}`,
    ...(tag !== undefined && { hint: { tag, ...defined({ digest }) } }),
  });
}

/** The job for a policy that its parent holds, or holds no more, and whose status does not show it. It may be held again for the same reason. */
function holdJob({ generation, resourceVersion, parent, spec, status }: ImagePolicy, now: Date): Job | undefined {
  if (parent === undefined || !isUsable(spec)) return undefined;
  const saysSuspended = status.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Suspended') === true;
  if (saysSuspended === spec.suspended) return undefined;
  return { source: 'PolicyChange', cause: `${spec.suspended ? 'held' : 'resumed'}:${generation}:${resourceVersion}:${minuteOf(now)}` };
}

/** The job for a policy whose namespace (in this `version`) is selected now and was not before. Until then, pushes did not reach the policy. */
export function selectedJob(policy: ImagePolicy, version: string, now: Date): PolicyJob {
  return jobOf(policy, now, { source: 'PolicyChange', cause: `selected:${policy.generation}:${version}` });
}

/**
 * The job for new targets of a policy; undefined unless one of them would be changed to the image that the policy selected last. The check costs no request.
 * The reconcile finds out what the policy selects now.
 */
export function newTargetJob(policy: ImagePolicy, newTargets: ReadonlySet<string>, cluster: SeenCluster, now: Date): PolicyJob | undefined {
  const { generation } = policy;
  const spec = usableSpec(policy);
  const selection = 'kind' in spec ? undefined : selectKnown(policy, spec);
  if ('kind' in spec || selection === undefined || 'kind' in selection) return undefined;
  const { tag, digest } = selection.candidate;
  if (spec.targets.some((target) => cluster.targetState(target, policy) === 'starting')) return undefined;
  const { targets } = planWith(policy, selection, cluster);
  // Without the creation times of the images, which only the reconcile asks for, images cannot be ordered.
  const { status } = policy;
  const isOther = ({ workload }: TargetPlan, { container, image }: UnchangedContainer) =>
    tagOfImage(image, { candidate: selection.candidate, status, workload, container }) !== tag;
  const wants = (planned: TargetPlan) =>
    wantsChange(planned) || (spec.strategy.withCreationTimes !== undefined && planned.unchanged.some((one) => isOther(planned, one)));
  const changed = targets.flatMap((planned) => (wants(planned) && planned.workload !== undefined ? [planned.workload] : []));
  const versions = changed.filter(({ uid }) => newTargets.has(uid)).map((workload) => versionOf(workload, ''));
  if (versions.length === 0) return undefined;
  return jobOf(policy, now, {
    source: 'TargetChange',
    cause: `new-targets:${generation}:${tag}@${digest ?? ''}:${shorten(versions.join(','))}`,
    hint: { tag, ...defined({ digest }) },
  });
}

function jobOf(policy: ImagePolicy, now: Date, job: Job): PolicyJob {
  return policyJob(policy, { generation: policy.generation, receivedAt: now.toISOString(), ...job });
}
