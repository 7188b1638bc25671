/**
 * The reconcile of a BaseImagePolicy: select the base → verify its signatures → list and examine the images that run → act on those that are behind → report. It reads all state itself and
 * takes a job only as a hint, so that lost and repeated jobs do no harm.
 */
import { defined } from '../../core/model/defined.ts';
import { type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { saysSuspended, type BaseStatus } from '../../core/model/base-status.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { mayHaveConsent } from '../../core/plan/consent.ts';
import { newlyEnough } from '../../core/plan/base-decisions.ts';
import { concealedHint } from '../../service/reconcile/conceal-push.ts';
import type { Hint } from '../../service/reconcile/resolve-tag.ts';
import type { PolicyResult } from '../../service/queue/event-log.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { JobContext } from '../../service/queue/worker.ts';
import { act, type Acted, type Acting, type UsableBasePolicy } from './act.ts';
import { announcedSource, awaitAnnounced, secondLookAfter, whyUnread } from './await-announced.ts';
import { PolicyChanged, startBrake, type Brake } from './brake.ts';
import { endWait, enqueueWait } from './enqueue-bases.ts';
import { compareImages } from './compare-images.ts';
import { toImage, type ExaminedImage } from './examine-images.ts';
import { maxVersions } from './learn-versions.ts';
import { type Findings, listDependents, nextBaseStatus, whileExamining, whileSuspended, withProblem } from './next-base-status.ts';
import { isImageInUse } from './list-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePorts } from './ports.ts';
import { reportFailure, reportGone, reportStatus, type BaseSubject } from './report-base.ts';
import { reportImages } from './report-images.ts';
import { baseSourceOf, selectBase } from './select-base.ts';
import { verifyBase } from './verify-base.ts';
import { selectsWorkload } from './selects-workload.ts';
import { unpermittedOf } from './unpermitted.ts';

/** The sources of jobs that ask the registry for the base again. What is remembered is of one generation of the policy, so that a changed one asks in any case. */
const asksRegistry: ReadonlySet<BaseJob['source']> = new Set(['Webhook', 'Poll', 'SecretChange', 'Request']);
/** How often a changed policy is read again in one job. After that, the job is retried. */
const maxTries = 5;
/** A job is retried after this time if another one is reconciling the same policy. */
const busyMs = 2_000;
/** Images that could not be read are read again after this time. */
const retryMs = 300_000;
/** Notices that could not be stored are stored after this time. */
const rereportMs = 10_000;
/** Versions of the base that remain to be read are read after this time. */
const nextReadMs = 1_000;
/** Versions of the base that could not be read are read again after this time: nothing can be said of the images on them. */
const rereadMs = 60_000;

/** The processor of the queue `base`. Throws to be retried. */
export async function processBaseJob(job: BaseJob, context: JobContext, ports: BasePorts): Promise<void> {
  const { signal } = context;
  const { underWay } = ports.basePolicies;
  const key = policyKey(job.policy);
  // A job that waited here would occupy the worker: a few jobs for one slow policy would stop all others.
  if (underWay.has(key)) throw new WaitError('Retrying', new Date(ports.cluster.now() + busyMs), `${key} is being reconciled`);
  underWay.add(key);
  endWait(job, ports.waits);
  try {
    for (let tries = 1; ; tries++) {
      const policy =
        tries === 1 ? await findNewest(job, ports, context) : await ports.basePolicies.read(job.policy.namespace, job.policy.name, signal);
      if (policy?.uid !== job.policy.uid || policy.isDeleting === true) return await reportGone(job, ports);
      const subject = { policy, job, signal };
      let unread: unknown;
      try {
        const { kind, basis, update, next, found } = await reconcileBraked(subject, ports);
        // Before the status, so that whoever sees that reads this.
        if (found !== undefined) await keepDependents(basis, found, ports);
        const write = (status: BaseStatus) => update(status, new Date(ports.cluster.now()));
        await reportStatus({ ...subject, policy: basis }, kind, write, { ...ports, isExclusive: true });
        const isReported = found === undefined || (await reportImages(basis, found, ports));
        const due = isReported ? next : new Date(ports.cluster.now() + rereportMs).toISOString();
        if (due !== undefined) await enqueueWait(Date.parse(due), policy, ports, job);
        const again = secondLookAfter(job, ports);
        if (again !== undefined) await ports.queues.addBaseJobs([again]);
        unread = whyUnread(job, found?.images);
        if (unread === undefined) return;
        throw unread;
      } catch (error) {
        if (unread !== undefined) throw error;
        if (error instanceof PolicyChanged && tries < maxTries) continue;
        return await reportFailure(subject, error, { ...context, concealed: await concealedOf(subject, ports) }, ports);
      }
    }
  } finally {
    underWay.delete(key);
  }
}

/** The hint of a push of the base or an application, where the policy has not read the repository: messages must not contain it. */
async function concealedOf({ policy, job }: BaseSubject, { registry }: BasePorts): Promise<Hint | undefined> {
  const { spec } = policy;
  if ('problem' in spec) return undefined;
  const source = announcedSource(job, baseSourceOf({ ...policy, spec }, registry));
  return source === undefined ? job.hint : concealedHint(job.hint, source, registry);
}

/** Nothing is done or reported for a policy that changes during the reconcile: it is reconciled again in its current form. */
async function reconcileBraked({ policy, job, signal }: BaseSubject, ports: BasePorts): Promise<BaseResult> {
  const brake = startBrake(policy, ports.basePolicies, signal);
  try {
    const result = await reconcileBase({ policy, job, brake }, ports);
    brake.signal.throwIfAborted();
    return result;
  } catch (error) {
    // An error that follows from the abort is replaced by the reason of the abort.
    brake.signal.throwIfAborted();
    throw error;
  } finally {
    brake.release();
  }
}

/** The result of a reconcile. */
interface BaseResult {
  readonly kind: PolicyResult['kind'];
  /** The policy from which the result was made. The status is written only while the policy is unchanged, so that it never describes an older one. */
  readonly basis: BaseImagePolicy;
  /** Makes the next status. */
  readonly update: (status: BaseStatus, now: Date) => BaseStatus;
  /** The time of the next reconcile even if nothing changes; ISO. */
  readonly next?: string | undefined;
  /** The findings of which the status shows a part. */
  readonly found?: Findings;
}

/** Keeps what the status has no room for. */
async function keepDependents(policy: BaseImagePolicy, found: Findings, { dependents, cluster }: BasePorts): Promise<void> {
  await dependents.keep(policy, { base: found.base.digest, dependents: listDependents(policy, found, new Date(cluster.now())) });
}

/** Throws PolicyChanged if the status at the API server says that another replica has selected another base, or if the policy was deleted. */
async function confirmSelected(
  { namespace, name, uid, status }: UsableBasePolicy,
  selected: SelectedBase,
  { basePolicies }: BasePorts,
  signal: AbortSignal,
): Promise<void> {
  const found = await basePolicies.read(namespace, name, signal);
  const latest = found?.status.latest?.digest;
  const isOther = latest !== undefined && latest !== selected.digest && latest !== status.latest?.digest;
  if (found?.uid !== uid || isOther) throw new PolicyChanged('another base was selected meanwhile');
}

/** Reads the newest policy: another replica may have enqueued the job, or failed with it and written so, and may know a newer state. */
async function findNewest(
  { policy: { namespace, name, uid }, source, generation = 0 }: BaseJob,
  { basePolicies }: BasePorts,
  { failures, signal }: Pick<JobContext, 'failures' | 'signal'>,
): Promise<BaseImagePolicy | undefined> {
  const cached = basePolicies.find(namespace, name);
  const isKnown = cached?.uid === uid && cached.generation >= generation && source !== 'PolicyChange' && failures === 0;
  return isKnown ? cached : basePolicies.read(namespace, name, signal);
}

interface Braked extends Pick<BaseSubject, 'policy' | 'job'> {
  readonly brake: Brake;
}

async function reconcileBase({ policy, job, brake }: Braked, ports: BasePorts): Promise<BaseResult> {
  const { spec } = policy;
  const { signal } = brake;
  if ('problem' in spec) {
    if (spec.suspended === true) return suspended(policy);
    throw new PermanentError(spec.problem.reason, spec.problem.message);
  }
  if (spec.base.suspended) return suspended(policy);
  const asRead: UsableBasePolicy = { ...policy, spec };
  awaitKinds(asRead, ports);
  await awaitAnnounced(job, { base: baseSourceOf(asRead, ports.registry), status: policy.status, signal }, ports);
  const startedAt = ports.cluster.now();
  const choice = await selectBase(asRead, { isFresh: asksRegistry.has(job.source), signal }, ports);
  const { selected, waiting, checkedAt } = choice;
  if (selected === undefined) return waitForAge(policy, waiting);
  await verifyBase(asRead, { base: selected, source: choice.source, job }, ports, signal);
  const usable = await recordApprovals(await recordSelection(asRead, selected, ports, signal), selected, ports, signal);
  let basis: BaseImagePolicy = usable;
  const reason = { job, asksRegistry: asksRegistry.has(job.source), isResumed: saysSuspended(policy.status) };
  const { images, left, versions, unread } = await compareImages(usable, { ...choice, ...reason, selected }, ports, signal);
  const isActedOn = (image: ExaminedImage) => (image.state === 'Behind' || image.state === 'Current') && !left.has(image);
  const acted = new Map(images.filter(isActedOn).map((image) => [image, toImage(image)]));
  const inState = (wanted: ExaminedImage['state']) =>
    [...acted].flatMap(([{ state }, image]) => (state === wanted && image ? [image] : []));
  // What this process remembers may be outdated. Another replica may have moved these images to a newer base, which the cached status does not show yet.
  if (checkedAt < startedAt && inState('Behind').length > 0) await confirmSelected(usable, selected, ports, signal);
  const acting: Acting = {
    policy: usable,
    base: selected,
    behind: inState('Behind'),
    current: inState('Current'),
    versions,
    findWorkload: ports.cluster.findWorkload,
    selects: (workload) => selectsWorkload(asRead, workload, ports.cluster.namespaceMatches),
    permits: (workload) => mayHaveConsent(workload, policy, ports.cluster),
    isInUse: isImageInUse(ports.cluster.listEveryWorkload, ports.cluster),
    confirm: () => brake.confirm(selected),
    async confirmUnchanged() {
      const found = await ports.basePolicies.read(policy.namespace, policy.name, signal);
      if (found?.resourceVersion !== basis.resourceVersion) throw new PolicyChanged('its status was written meanwhile');
    },
    async beginWave(workloads) {
      const lastWave = { base: selected.digest, workloads };
      basis = await ports.basePolicies.writeStatus(basis, (status) => ({ ...status, lastWave }), { signal, isExclusive: true });
    },
    now: ports.cluster.now(),
    signal,
  };
  const result = await act(acting, ports);
  const stateOf = (image: ExaminedImage) => {
    const found = acted.get(image);
    return found === undefined ? left.get(image) : result.states.get(found);
  };
  const request = policy.actions?.requestedAt;
  const found: Findings = {
    base: selected,
    images,
    versions: { known: Math.min(versions.known.length, maxVersions), ...unread },
    acted: result.status,
    stateOf,
    ...defined({ replacements: result.replacements }),
    unpermitted: unpermittedOf(usable, images.filter(isActedOn), ports.mayPush),
    checkedAt,
    request,
    ...defined({ waiting }),
  };
  const hasFault = images.some(({ error }) => error !== undefined);
  const goesOn = unread.isBeingRead ? acting.now + nextReadMs : unread.fault !== undefined && acting.now + rereadMs;
  const times = [result.until?.getTime(), waiting?.until && Date.parse(waiting.until), hasFault && acting.now + retryMs, goesOn];
  const next = times.filter((time) => typeof time === 'number');
  return {
    kind: kindOf(result),
    basis,
    found,
    update: (status, now) => nextBaseStatus({ ...policy, status }, found, now),
    ...(next.length > 0 && { next: new Date(Math.min(...next)).toISOString() }),
  };
}

function suspended(policy: BaseImagePolicy): BaseResult {
  return { kind: 'suspended', basis: policy, update: (status, now) => whileSuspended({ ...policy, status }, now) };
}

function waitForAge(policy: BaseImagePolicy, waiting: BaseStatus['waiting']): BaseResult {
  const message = `${waiting?.tag} waits until ${waiting?.until}, when it has had its minimum age; no older base was selected before`;
  return {
    kind: 'waiting',
    basis: policy,
    update: (status, now) => ({
      ...withProblem({ ...policy, status }, { reason: 'MinAge', message, isRetried: true }, now),
      ...defined({ waiting }),
    }),
    next: waiting?.until,
  };
}

/** An image that waits for its wave or a window is not updated yet. */
function kindOf({ status: { waves, requests = [] } }: Acted): PolicyResult['kind'] {
  if (requests.length > 0 || (waves?.progressing ?? 0) > 0) return 'updated';
  return waves !== undefined && waves.stopped === undefined && waves.pending > 0 ? 'waiting' : 'unchanged';
}

/** Writes a new selection before anything is done for it. A repeated rebase uses the recorded time, and so has the same result. */
async function recordSelection(
  policy: UsableBasePolicy,
  selected: SelectedBase,
  { basePolicies, cluster }: BasePorts,
  signal: AbortSignal,
): Promise<UsableBasePolicy> {
  if (policy.status.latest?.digest === selected.digest) return policy;
  const at = new Date(cluster.now());
  const update = (status: BaseStatus) => whileExamining({ ...policy, status }, selected, at);
  const written = await basePolicies.writeStatus(policy, update, { signal, isExclusive: true });
  return { ...written, spec: policy.spec };
}

/** Writes that there are enough approvals before anything is done for the base. After a crash they count from when they were seen, and do not end meanwhile. */
async function recordApprovals(
  policy: UsableBasePolicy,
  selected: SelectedBase,
  { basePolicies, cluster }: BasePorts,
  signal: AbortSignal,
): Promise<UsableBasePolicy> {
  const approvals = newlyEnough(policy, selected, new Date(cluster.now()));
  if (approvals === undefined) return policy;
  const written = await basePolicies.writeStatus(policy, (status) => ({ ...status, approvals }), { signal, isExclusive: true });
  return { ...written, spec: policy.spec };
}

/** Workloads that are not listed yet must not be taken for missing ones. */
function awaitKinds({ namespace, spec }: UsableBasePolicy, { cluster }: BasePorts): void {
  for (const kind of new Set(spec.workloads.flatMap(({ kinds }) => kinds))) {
    const state = cluster.targetState({ kind, namespace, name: '' }, { namespace });
    if (state === 'starting') throw new Error(`the workloads of kind ${kind} have not been listed yet`);
    if ('problem' in state) throw new PermanentError(state.problem.reason, state.problem.message);
  }
}
