/**
 * The reconcile of a BaseImagePolicy: select the base → verify its signatures → list and examine the images that run → act on those that are behind → report. It reads all state itself and
 * takes a job only as a hint, so that lost and repeated jobs do no harm.
 */
import type { BaseVersion, BaseVersions } from '../recognize/recognize-images.ts';
import { type BaseImagePolicy, type BaseStatus } from '../../core/model/base-policy.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { sameRepository } from '../../core/model/image-reference.ts';
import { toSeconds } from '../../core/model/text.ts';
import { mayHaveConsent } from '../../core/plan/consent.ts';
import { concealedHint } from '../../service/reconcile/conceal-push.ts';
import type { Hint } from '../../service/reconcile/resolve-tag.ts';
import type { PolicyResult } from '../../service/queue/event-log.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { JobContext } from '../../service/queue/worker.ts';
import { act, type Acted, type Acting, type ImageBehind, type UsableBasePolicy } from './act.ts';
import { announcedSource, awaitAnnounced, secondLookAfter } from './await-announced.ts';
import { PolicyChanged, startBrake, type Brake } from './brake.ts';
import { enqueueWait } from './enqueue-bases.ts';
import { examineImages, type Examination, type ExaminedImage } from './examine-images.ts';
import { listImages } from './list-images.ts';
import { type Findings, nextBaseStatus, whileSuspended, withProblem } from './next-base-status.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePorts } from './ports.ts';
import { reportFailure, reportGone, reportStatus, type BaseSubject } from './report-base.ts';
import { baseSourceOf, selectBase } from './select-base.ts';
import { verifyBase } from './verify-base.ts';
import { selectsWorkload } from './selects-workload.ts';

/** What caused a reconcile that asks the registry for the base again. */
const asksRegistry: ReadonlySet<BaseJob['source']> = new Set(['Webhook', 'Poll', 'PolicyChange', 'SecretChange', 'Request']);
/** A policy that changes so often during one job is left to the next try of the job. */
const maxTries = 5;
/** A job for a policy that is being reconciled is tried again after this time. */
const busyMs = 2_000;
/** Images that could not be read are read again after this time. */
const retryMs = 300_000;

/** The processor of the queue `base`. Throws to be retried. */
export async function processBaseJob(job: BaseJob, context: JobContext, ports: BasePorts): Promise<void> {
  const { signal } = context;
  const { underWay } = ports.basePolicies;
  const key = policyKey(job.policy);
  // A job that waited here would occupy the worker: a few for one slow policy would stop all others.
  if (underWay.has(key)) throw new WaitError('Retrying', new Date(ports.cluster.now() + busyMs), `${key} is being reconciled`);
  underWay.add(key);
  try {
    for (let tries = 1; ; tries++) {
      const policy =
        tries === 1 ? await findNewest(job, ports, signal) : await ports.basePolicies.read(job.policy.namespace, job.policy.name, signal);
      if (policy?.uid !== job.policy.uid || policy.isDeleting === true) return await reportGone(job, ports);
      const subject = { policy, job, signal };
      try {
        const { kind, basis, update, next } = await reconcileBraked(subject, ports);
        const write = (status: BaseStatus) => update(status, new Date(ports.cluster.now()));
        await reportStatus({ ...subject, policy: basis }, kind, write, { ...ports, isExclusive: true });
        if (next !== undefined) await enqueueWait(Date.parse(next), policy, ports);
        const again = secondLookAfter(job, ports);
        if (again !== undefined) await ports.queues.addBaseJobs([again]);
        return;
      } catch (error) {
        if (error instanceof PolicyChanged && tries < maxTries) continue;
        return await reportFailure(subject, error, context, ports, await concealedOf(subject, ports));
      }
    }
  } finally {
    underWay.delete(key);
  }
}

/** What a push of the base or of an application names, where the policy has not read its repository. */
async function concealedOf({ policy, job }: BaseSubject, { registry }: BasePorts): Promise<Hint | undefined> {
  const { spec } = policy;
  if ('problem' in spec) return undefined;
  const source = announcedSource(job, baseSourceOf({ ...policy, spec }, registry));
  return source === undefined ? job.hint : concealedHint(job.hint, source, registry);
}

/** Nothing is done, and nothing is reported, of a policy that has changed meanwhile: it is reconciled as it is now. */
async function reconcileBraked({ policy, job, signal }: BaseSubject, ports: BasePorts): Promise<BaseResult> {
  const brake = startBrake(policy, ports.basePolicies, signal);
  try {
    const result = await reconcileBase({ policy, job, brake }, ports);
    brake.signal.throwIfAborted();
    return result;
  } catch (error) {
    // Whatever fails because it was stopped fails for this reason.
    brake.signal.throwIfAborted();
    throw error;
  } finally {
    brake.release();
  }
}

/** The result of a reconcile. */
interface BaseResult {
  readonly kind: PolicyResult['kind'];
  /** What it was made from. Its status is written only while the policy is still that, so that nothing is said of before. */
  readonly basis: BaseImagePolicy;
  /** Makes the next status. */
  readonly update: (status: BaseStatus, now: Date) => BaseStatus;
  /** When to reconcile again, although nothing has changed; ISO. */
  readonly next?: string | undefined;
}

/** Throws PolicyChanged where the status at the API server says that another replica has selected another base, or where the policy is gone. */
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

/** Another replica may have made the job, and know a newer state. */
async function findNewest(
  { policy: { namespace, name, uid }, source, generation = 0 }: BaseJob,
  { basePolicies }: BasePorts,
  signal: AbortSignal,
): Promise<BaseImagePolicy | undefined> {
  const cached = basePolicies.find(namespace, name);
  const isKnown = cached?.uid === uid && cached.generation >= generation && source !== 'PolicyChange';
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
  const usable = await recordSelection(asRead, selected, ports, signal);
  let basis: BaseImagePolicy = usable;
  const known = { source: choice.source, versions: withFormer(choice.versions, usable.status) };
  const images = await examine(usable, { ...known, selected, isFresh: freshOf(job) }, ports, signal);
  const acted = new Map(images.filter(({ state }) => state === 'Behind' || state === 'Current').map((image) => [image, toImage(image)]));
  const inState = (wanted: ExaminedImage['state']) =>
    [...acted].flatMap(([{ state }, image]) => (state === wanted && image ? [image] : []));
  // What this process remembers may be of before: another one may have moved these images to a newer base, which the cached status does not say yet.
  if (checkedAt < startedAt && inState('Behind').length > 0) await confirmSelected(usable, selected, ports, signal);
  const acting: Acting = {
    policy: usable,
    base: selected,
    behind: inState('Behind'),
    current: inState('Current'),
    versions: known,
    findWorkload: ports.cluster.findWorkload,
    selects: (workload) => selectsWorkload(asRead, workload, ports.cluster.namespaceMatches),
    permits: (workload) => mayHaveConsent(workload, policy, ports.cluster),
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
    return found && result.states.get(found);
  };
  const request = policy.actions?.requestedAt;
  const found: Findings = { base: selected, images, acted: result.status, stateOf, checkedAt, request, ...(waiting && { waiting }) };
  const hasFault = images.some(({ error }) => error !== undefined);
  const times = [result.until?.getTime(), waiting?.until && Date.parse(waiting.until), hasFault && acting.now + retryMs];
  const next = times.filter((time) => typeof time === 'number');
  return {
    kind: kindOf(result),
    basis,
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
      ...(waiting && { waiting }),
    }),
    next: waiting?.until,
  };
}

/** What only waits for its wave or a window is not updated. */
function kindOf({ status: { waves, requests = [] } }: Acted): PolicyResult['kind'] {
  if (requests.length > 0 || (waves?.progressing ?? 0) > 0) return 'updated';
  return waves !== undefined && waves.stopped === undefined && waves.pending > 0 ? 'waiting' : 'unchanged';
}

/** A new selection is written before anything is done for it: a repeated rebase goes by its time, and so has the same result. */
async function recordSelection(
  policy: UsableBasePolicy,
  { tag, digest }: SelectedBase,
  { basePolicies, cluster }: BasePorts,
  signal: AbortSignal,
): Promise<UsableBasePolicy> {
  if (policy.status.latest?.digest === digest) return policy;
  const latest = { tag, digest, selectedAt: toSeconds(new Date(cluster.now())) };
  const written = await basePolicies.writeStatus(policy, (status) => ({ ...status, latest }), { signal, isExclusive: true });
  return { ...written, spec: policy.spec };
}

/** Unknown workloads must not be taken for missing ones. */
function awaitKinds({ namespace, spec }: UsableBasePolicy, { cluster }: BasePorts): void {
  for (const kind of new Set(spec.workloads.flatMap(({ kinds }) => kinds))) {
    const state = cluster.targetState({ kind, namespace, name: '' }, { namespace });
    if (state === 'starting') throw new Error(`the workloads of kind ${kind} have not been listed yet`);
    if ('problem' in state) throw new PermanentError(state.problem.reason, state.problem.message);
  }
}

/** A base whose tag has moved on is still the base of what was built on it. */
function withFormer(versions: readonly BaseVersion[], { history = [] }: BaseStatus): BaseVersion[] {
  const former = history.filter(({ digest }) => !versions.some((version) => version.digest === digest));
  return [...versions.slice(0, 1), ...former, ...versions.slice(1)];
}

/** Whose digests are outdated: a user asks for all of them, and a push is about one repository. */
function freshOf({ source, pushed }: BaseJob): Examination['isFresh'] {
  return (repository) => source === 'Request' || (pushed !== undefined && sameRepository(repository, pushed));
}

interface Examined extends BaseVersions {
  readonly selected: SelectedBase;
  readonly isFresh: Examination['isFresh'];
}

async function examine(
  policy: UsableBasePolicy,
  { source, versions, selected, isFresh }: Examined,
  ports: BasePorts,
  signal: AbortSignal,
): Promise<ExaminedImage[]> {
  const listed = listImages(policy, ports.cluster);
  const digestOf = new Map(policy.status.dependents?.map(({ image, digest }) => [image, digest]));
  const shown = (image: string) => digestOf.get(image);
  return examineImages(listed, { base: source, selected, versions, access: source.access, isFresh, shown, signal }, ports);
}

function toImage({
  image: { tag, digest: named, workloads },
  source,
  digest,
  recognition,
  builtFrom,
}: ExaminedImage): ImageBehind | undefined {
  if (digest === undefined || recognition.kind !== 'recognized') return undefined;
  return {
    source,
    tag,
    digest,
    isPinned: named !== undefined,
    base: recognition.base.digest,
    ...(recognition.base.tag !== undefined && { baseTag: recognition.base.tag }),
    workloads,
    ...(builtFrom !== undefined && { builtFrom }),
  };
}
