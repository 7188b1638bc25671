/** Enqueues BaseImagePolicies that need a reconcile: after changes of the policy, of the workloads and Namespaces that it selects, and of its children, and when a poll is due. */
import type { BoundedMap } from '../../core/async/bounded-map.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { isActiveBase, isUsableBase } from '../../core/model/base-policy.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { matchesSelector, sameLabels } from '../../core/model/label-selector.ts';
import { isApproved, releaseTime } from '../../core/model/policy-actions.ts';
import type { Reason } from '../../core/model/reasons.ts';
import type { TriggerSource } from '../../core/model/policy-status.ts';
import { imagesOf, type Workload } from '../../core/model/workload.ts';
import { endedRound, unseenApprovals, withdrawnApprovals } from '../../core/plan/approvals.ts';
import { nextOpening } from '../../core/plan/next-opening.ts';
import { openRejection } from '../../core/plan/rejections.ts';
import { policyJobId, type BaseJob } from '../../service/queue/jobs.ts';
import { isYounger } from './select-base.ts';
import { selectsWorkload, type NamespaceMatches } from './selects-workload.ts';

/** A changed object, with its state before the change in `previous`. */
export interface Change<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: T;
  readonly previous?: T;
}

/** The fields of a Namespace that a policy may depend on. */
export interface NamespaceFacts {
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allowPoliciesFrom: string | null;
}

export interface BaseEnqueuerPorts {
  readonly all: () => Iterable<BaseImagePolicy>;
  /** Whether the policies have been listed. */
  readonly areKnown: () => boolean;
  readonly addBaseJobs: (jobs: readonly BaseJob[]) => Promise<void>;
  readonly namespaceMatches: NamespaceMatches;
  /** Whether the workloads of a kind have been listed. */
  readonly isListed: (workload: Workload) => boolean;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export interface BaseEnqueuer {
  /** Checks whether a changed policy needs a reconcile. If the watch has delivered it late, it is polled: pushes may have been matched without it. */
  onPolicy(change: Change<BaseImagePolicy>): void;
  /** A workload was created, changed or deleted, or is in the first list of its kind. */
  onWorkload(change: Change<Workload>): void;
  /** A Namespace was created, changed or deleted. */
  onNamespace(change: Change<NamespaceFacts>): void;
  /** An ImagePolicy changed, which may be a child. */
  onImagePolicy(policy: ImagePolicy): void;
  /** Checks all policies. */
  resync(): void;
  stop(): void;
}

/** Changes of this time are enqueued together, because installations and rollouts change many objects one after the other. */
const gatherMs = 1_000;
const retryMs = 1_000;
/** More than the rounding of the API server, whose times are whole seconds. */
const lateMs = 2_000;

/** Enqueues one job for each policy and cause. Jobs of the same second are sent together, and sent again if Redis did not accept them. */
export function createBaseEnqueuer({
  all,
  areKnown,
  addBaseJobs,
  namespaceMatches,
  isListed,
  now,
  onError,
}: BaseEnqueuerPorts): BaseEnqueuer {
  const pending = new Map<string, BaseJob>();
  /** The policies to check, by uid, in their newest state: a policy that was reconciled within this second needs nothing more. */
  const considered = new Map<string, { readonly policy: BaseImagePolicy; readonly isMissed: boolean }>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const flush = async () => {
    timer = undefined;
    for (const { policy, isMissed } of considered.values()) {
      const needed = neededReconcile(policy, now());
      if (isMissed) keep(jobFor(policy, 'Poll', `late:${now()}`, now()));
      // This poll also reconciles a changed policy. A second job would ask the registry for the same list of tags.
      const isCovered = isMissed && (needed?.source === 'PolicyChange' || needed?.source === 'Poll');
      if (!isCovered) keep(needed);
    }
    considered.clear();
    const jobs = [...pending];
    if (jobs.length === 0) return;
    try {
      await addBaseJobs(jobs.map(([, job]) => job));
      for (const [key] of jobs) pending.delete(key);
    } catch (error) {
      onError(error);
      schedule(retryMs);
    }
  };
  const schedule = (delayMs: number) => {
    if (!isStopped) timer ??= setTimeout(() => void flush(), delayMs).unref();
  };
  const keep = (job: BaseJob | undefined, key = job && policyJobId(job)) => {
    if (job !== undefined && key !== undefined) pending.set(key, job);
  };
  const add = (job: BaseJob, key: string) => {
    keep(job, key);
    schedule(gatherMs);
  };
  const consider = (policy: BaseImagePolicy, isMissed = false) => {
    considered.set(policy.uid, { policy, isMissed: isMissed || considered.get(policy.uid)?.isMissed === true });
    schedule(gatherMs);
  };
  return {
    onPolicy({ type, object, previous }) {
      if (type === 'deleted') considered.delete(object.uid);
      else consider(object, areKnown() && object.generation !== previous?.generation && isActiveBase(object) && isLate(object, now()));
    },
    onWorkload({ type, object, previous }) {
      if (type === 'updated' && previous !== undefined && isSameFor(object, previous)) return;
      const isFirstList = !isListed(object);
      for (const policy of all()) {
        // The first reconcile of a policy waits for the first list of the kind, so it sees all workloads of the list.
        if (isFirstList && isUnobserved(policy)) continue;
        const selects =
          isActiveBase(policy) &&
          [object, previous].some((workload) => workload !== undefined && selectsWorkload(policy, workload, namespaceMatches));
        // One job is enqueued for all workloads of this second. The last workload is the cause that the job names.
        if (selects)
          add(jobFor(policy, 'TargetChange', `workload:${object.uid}:${object.resourceVersion}`, now()), `workloads ${policy.uid}`);
      }
    },
    onNamespace({ type, object, previous }) {
      const { name, resourceVersion, labels, allowPoliciesFrom } = object;
      if (type === 'updated' && sameLabels(labels, previous?.labels) && allowPoliciesFrom === previous?.allowPoliciesFrom) return;
      for (const policy of all()) {
        const isConcerned =
          isActiveBase(policy) &&
          policy.spec.workloads.some(
            ({ namespaceSelector: selector }) =>
              selector !== undefined && [object, previous].some((one) => one !== undefined && matchesSelector(selector, one.labels)),
          );
        if (isConcerned) add(jobFor(policy, 'TargetChange', `namespace:${name}:${resourceVersion}`, now()), `namespaces ${policy.uid}`);
      }
    },
    onImagePolicy({ namespace, uid, resourceVersion, spec }) {
      if (!isUsable(spec) || spec.strategy.id !== 'replace') return;
      for (const policy of all()) {
        if (policy.namespace !== namespace || policy.status.waves === undefined) continue;
        add(jobFor(policy, 'TargetChange', `child:${uid}:${resourceVersion}`, now()), `children ${policy.uid}`);
      }
    },
    resync() {
      for (const policy of all()) consider(policy);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/**
 * The job that a policy needs according to its own state, so that a lost event does no harm. While a job fails and is retried, the next one for the same cause
 * is the same job.
 */
export function neededReconcile(policy: BaseImagePolicy, now: number): BaseJob | undefined {
  const { generation, status, actions = {}, spec } = policy;
  const { latest, lastCheckTime, lastHandledRequest, pendingApproval, rejected = [], waves, waiting, dependents = [] } = status;
  if (policy.isDeleting === true) return undefined;
  if (isUnobserved(policy)) return jobFor(policy, 'PolicyChange', `generation:${generation}`, now);
  if (!isUsableBase(spec) || spec.base.suspended) return undefined;
  const { requestedAt, approve, reject } = actions;
  if (requestedAt !== undefined && requestedAt !== lastHandledRequest) return jobFor(policy, 'Request', `request:${requestedAt}`, now);
  if (latest !== undefined && openRejection(policy, latest) !== undefined) return jobFor(policy, 'Request', `reject:${reject}`, now);
  const approvals = spec.base.approvals && (unseenApprovals(actions, status) ?? withdrawnApprovals(actions, status));
  if (approvals !== undefined) return jobFor(policy, 'Approval', approvals, now);
  const ended = endedRound(status, new Date(now));
  if (ended !== undefined) return jobFor(policy, 'WaitOver', ended, now);
  if (spec.base.approvals === undefined && pendingApproval !== undefined && isApproved(actions, pendingApproval))
    return jobFor(policy, 'Approval', `approve:${approve}`, now);
  const released = releaseTime(actions)?.getTime() ?? 0;
  if (rejected.some(({ at }) => Date.parse(at) < released)) return jobFor(policy, 'Request', `release:${actions.release}`, now);
  // The first reconcile of the policy has failed, and the job of this name retries it. Another job would ask the registry a second time.
  if (lastCheckTime === undefined) return jobFor(policy, 'PolicyChange', `generation:${generation}`, now);
  const interval = spec.base.pollIntervalMs;
  // A text that is no time was written by somebody else.
  if (!isYounger(Date.parse(lastCheckTime), interval, now)) return jobFor(policy, 'Poll', 'poll', now);
  const retriedSince = whenRetried(status);
  if (retriedSince !== undefined && !isYounger(Date.parse(retriedSince), retryAfterMs, now))
    return jobFor(policy, 'WaitOver', `retrying:${retriedSince}`, now);
  const isClosed = nextOpening(spec.base.windows, new Date(now)) !== undefined;
  const isHeld = isClosed && isWaitingForWindow(status);
  const isOpen = waves !== undefined && waves.stopped === undefined && waves.pending + waves.progressing > 0 && !isHeld;
  // The configuration may have other windows, or another minimum age, than when the status was written.
  const isOver =
    (!isClosed && dependents.some(({ reason }) => reason === 'Window')) ||
    (waiting !== undefined && Date.parse(waiting.since) + (spec.base.minAgeMs ?? 0) <= now);
  return isOpen || isOver ? jobFor(policy, 'WaitOver', 'sweep', now) : undefined;
}

/** How long a try is left to the job that has failed. Redis may have lost it. */
const retryAfterMs = 60_000;
const retried: ReadonlySet<string> = new Set<Reason>([
  'Retrying',
  'NotShownYet',
  'RegistryThrottled',
  'RegistryUnavailable',
  'RegistryBusy',
]);

/** Since when the status says that a failed reconcile is retried; undefined if it does not. */
function whenRetried({ conditions = [] }: BaseStatus): string | undefined {
  return conditions.find(({ type, status, reason }) => type === 'Ready' && status === 'False' && retried.has(reason))?.lastTransitionTime;
}

/** Whether the policy, in its current form, has never been reconciled. */
function isUnobserved({ generation, status }: BaseImagePolicy): boolean {
  return status.observedGeneration !== generation;
}

/** Whether a policy was written so long before its watch delivers it that pushes may have been matched without it. */
function isLate({ createdAt = '', writtenAt = createdAt }: BaseImagePolicy, now: number): boolean {
  return now - Date.parse(writtenAt) >= lateMs;
}

function isWaitingForWindow({ conditions = [] }: BaseStatus): boolean {
  return conditions.some(({ type, reason }) => type === 'Ready' && reason === 'Window');
}

/** The time for which the next reconcile of a policy was requested, by the uid of the policy, in ms since 1970. */
export type WaitMemory = BoundedMap<string, number>;

interface WaitPorts {
  readonly queues: { readonly addBaseJobs: (jobs: readonly BaseJob[]) => Promise<void> };
  readonly waits: WaitMemory;
  readonly cluster: { readonly now: () => number };
}

/**
 * Requests the reconcile of a policy at a time, unless an earlier one was requested already. Each reconcile requests the next, so two requests would continue
 * side by side as long as there is something to wait for. `running` is the job that asks: a job of the same name would be ignored until it has ended.
 */
export async function enqueueWait(
  at: number,
  policy: BaseImagePolicy,
  { queues, waits, cluster }: WaitPorts,
  running?: Pick<BaseJob, 'cause'>,
): Promise<void> {
  const now = cluster.now();
  const requested = waits.get(policy.uid);
  if (requested !== undefined && requested > now && requested <= at) return;
  const notBefore = new Date(at).toISOString();
  const cause = running?.cause === waitCause(at) ? `${waitCause(at)}:again` : waitCause(at);
  await queues.addBaseJobs([{ ...jobFor(policy, 'WaitOver', cause, now), notBefore }]);
  waits.set(policy.uid, at);
}

/** Forgets the wait that a job ends. If the clock was set back since, the time of the wait has not come, and it is requested again. */
export function endWait({ policy: { uid }, cause }: Pick<BaseJob, 'policy' | 'cause'>, waits: WaitMemory): void {
  const requested = waits.get(uid);
  if (requested !== undefined && cause.startsWith(waitCause(requested))) waits.delete(uid);
}

function waitCause(at: number): string {
  return `wait:${new Date(at).toISOString()}`;
}

/** A job of the queue `base` for a policy. */
export function jobFor({ namespace, name, uid, generation }: BaseImagePolicy, source: TriggerSource, cause: string, now: number): BaseJob {
  return { schema: 1, policy: { namespace, name, uid }, generation, source, cause, receivedAt: new Date(now).toISOString() };
}

/** Whether a change does not concern base policies, like most changes of rollouts. The end of a halt concerns them: a halted workload is not restarted. */
function isSameFor(a: Workload, b: Workload): boolean {
  const isSameHalt = a.rollout?.haltedBecause === b.rollout?.haltedBecause;
  return isSameHalt && sameLabels(a.labels, b.labels) && a.allowPoliciesFrom === b.allowPoliciesFrom && formatImages(a) === formatImages(b);
}

function formatImages(workload: Workload): string {
  return JSON.stringify(imagesOf(workload).map(({ container: { name, image } }) => [name, image]));
}
