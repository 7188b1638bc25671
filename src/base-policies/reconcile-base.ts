/**
 * The reconcile of a BaseImagePolicy: select the base → list and examine the images that run → act on those that are behind → report. It reads all state itself and
 * takes a job only as a hint, so that lost and repeated jobs do no harm.
 */
import { isUsableBase, type BaseImagePolicy, type BaseStatus } from '../model/base-policy.ts';
import { describeError, PermanentError, WaitError } from '../model/errors.ts';
import { policyKey } from '../model/image-policy.ts';
import { toSeconds } from '../model/text.ts';
import type { BaseJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { act, type ImageBehind, type UsableBasePolicy } from './act.ts';
import { examineImages, type ExaminedImage } from './examine-images.ts';
import { listImages } from './list-images.ts';
import { nextBaseStatus, whileSuspended, withProblem } from './next-base-status.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePorts } from './ports.ts';
import { type BaseChoice, selectBase } from './select-base.ts';

/** What caused a reconcile that asks the registry for the base again. */
const asksRegistry: ReadonlySet<BaseJob['source']> = new Set(['Webhook', 'Poll', 'PolicyChange', 'SecretChange', 'Request']);
/** A failure may be over at the next try, so it is written to the status only when it lasts, or when the status says nothing yet. */
const failuresBeforeStatus = 2;
/** Images that could not be read are read again after this time. */
const retryMs = 300_000;

/** The processor of the queue `base`. Throws to be retried. */
export async function processBaseJob(job: BaseJob, context: JobContext, ports: BasePorts): Promise<void> {
  const { namespace, name, uid } = job.policy;
  await ports.basePolicies.mutex.run(`base ${policyKey(job.policy)}`, async () => {
    const policy = await findNewest(job, ports, context.signal);
    if (policy?.uid !== uid) return ports.logger.debug({ policy: policyKey({ namespace, name }) }, 'base policy is gone');
    try {
      await reconcileBase(policy, job, ports, context.signal);
    } catch (error) {
      await reportFault(policy, error, context, ports);
    }
  });
}

/** Another replica may have made the job, and know a newer state. */
async function findNewest(
  { policy: { namespace, name, uid }, source }: BaseJob,
  { basePolicies }: BasePorts,
  signal: AbortSignal,
): Promise<BaseImagePolicy | undefined> {
  const cached = basePolicies.find(namespace, name);
  return cached?.uid === uid && source !== 'PolicyChange' ? cached : basePolicies.read(namespace, name, signal);
}

async function reconcileBase(policy: BaseImagePolicy, job: BaseJob, ports: BasePorts, signal: AbortSignal): Promise<void> {
  const { spec } = policy;
  const now = () => new Date(ports.cluster.now());
  const write = (update: Parameters<BasePorts['basePolicies']['writeStatus']>[1]) => ports.basePolicies.writeStatus(policy, update, signal);
  if ('problem' in spec) {
    if (spec.suspended === true) return write((status) => whileSuspended({ ...policy, status }, now()));
    throw new PermanentError(spec.problem.reason, spec.problem.message);
  }
  if (spec.base.suspended) return write((status) => whileSuspended({ ...policy, status }, now()));
  const asRead: UsableBasePolicy = { ...policy, spec };
  awaitKinds(asRead, ports);
  const choice = await selectBase(asRead, { isFresh: asksRegistry.has(job.source), signal }, ports);
  const { selected, waiting } = choice;
  if (selected === undefined) {
    const message = `${waiting?.tag} waits until ${waiting?.until}, when it has had its minimum age; no older base was selected before`;
    await write((status) => ({
      ...withProblem({ ...policy, status }, { reason: 'MinAge', message, isRetried: true }, now()),
      ...(waiting && { waiting }),
    }));
    return enqueueAt(waiting?.until, policy, ports);
  }
  const usable = await recordSelection(asRead, selected, write, now());
  const images = await examine(usable, { ...choice, selected }, ports, signal);
  const behind = new Map(images.filter(({ state }) => state === 'Behind').map((image) => [image, toBehind(image)]));
  const acted = await act(
    {
      policy: usable,
      base: selected,
      behind: [...behind.values()].filter((image) => image !== undefined),
      findWorkload: ports.cluster.findWorkload,
      now: ports.cluster.now(),
      signal,
    },
    ports,
  );
  const stateOf = (image: ExaminedImage) => {
    const found = behind.get(image);
    return found && acted.states.get(found);
  };
  const { checkedAt } = choice;
  const request = policy.actions?.requestedAt;
  const found = { base: selected, images, acted: acted.status, stateOf, checkedAt, request, ...(waiting && { waiting }) };
  await write((status) => nextBaseStatus({ ...policy, status }, found, now()));
  report(policy, job, images, ports);
  const hasFault = images.some(({ error }) => error !== undefined);
  const times = [acted.until?.getTime(), waiting?.until && Date.parse(waiting.until), hasFault && ports.cluster.now() + retryMs];
  const next = times.filter((time) => typeof time === 'number');
  if (next.length > 0) await enqueueAt(new Date(Math.min(...next)).toISOString(), policy, ports);
}

/** A new selection is written before anything is done for it: a repeated rebase goes by its time, and so has the same result. */
async function recordSelection(
  policy: UsableBasePolicy,
  { tag, digest }: SelectedBase,
  write: (update: (status: BaseStatus) => BaseStatus) => Promise<void>,
  now: Date,
): Promise<UsableBasePolicy> {
  if (policy.status.latest?.digest === digest) return policy;
  const latest = { tag, digest, selectedAt: toSeconds(now) };
  await write((status) => ({ ...status, latest }));
  return { ...policy, status: { ...policy.status, latest } };
}

/** Unknown workloads must not be taken for missing ones. */
function awaitKinds({ namespace, spec }: UsableBasePolicy, { cluster }: BasePorts): void {
  for (const kind of new Set(spec.workloads.flatMap(({ kinds }) => kinds))) {
    const state = cluster.targetState({ kind, namespace, name: '' }, { namespace });
    if (state === 'starting') throw new Error(`the workloads of kind ${kind} have not been listed yet`);
    if ('problem' in state) throw new PermanentError(state.problem.reason, state.problem.message);
  }
}

async function examine(
  policy: UsableBasePolicy,
  { source, versions, selected }: BaseChoice & { readonly selected: NonNullable<BaseChoice['selected']> },
  ports: BasePorts,
  signal: AbortSignal,
): Promise<ExaminedImage[]> {
  const listed = listImages(policy, ports.cluster);
  return examineImages(listed, { base: source, selected, versions, access: source.access, signal }, ports);
}

function toBehind({
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
    workloads,
    ...(builtFrom !== undefined && { builtFrom }),
  };
}

async function enqueueAt(at: string | undefined, { namespace, name, uid }: BaseImagePolicy, { queues, cluster }: BasePorts): Promise<void> {
  if (at === undefined) return;
  const receivedAt = new Date(cluster.now()).toISOString();
  await queues.addBaseJobs([
    { schema: 1, policy: { namespace, name, uid }, source: 'WaitOver', cause: `wait:${at}`, receivedAt, notBefore: at },
  ]);
}

function report(policy: BaseImagePolicy, { source, eventId }: BaseJob, images: readonly ExaminedImage[], { logger }: BasePorts): void {
  const count = (state: ExaminedImage['state']) => images.filter((image) => image.state === state).length;
  const counts = { images: images.length, current: count('Current'), behind: count('Behind'), unknown: count('Unknown') };
  logger.debug({ policy: policyKey(policy), source, event: eventId, ...counts }, 'base policy reconciled');
}

/** Writes why a reconcile failed. Rethrows what is to be retried. */
async function reportFault(policy: BaseImagePolicy, error: unknown, { failures, signal }: JobContext, ports: BasePorts): Promise<void> {
  const isPermanent = error instanceof PermanentError;
  const reason = isPermanent || error instanceof WaitError ? error.reason : 'Retrying';
  const message = describeError(error);
  ports.logger.warn({ policy: policyKey(policy), reason, why: message, failures }, 'reconcile of a base policy failed');
  const isNew = policy.status.conditions === undefined;
  if (isPermanent || failures >= failuresBeforeStatus || isNew) {
    const at = new Date(ports.cluster.now());
    await ports.basePolicies.writeStatus(
      policy,
      (status) => withProblem({ ...policy, status }, { reason, message, isRetried: !isPermanent }, at),
      signal,
    );
  }
  if (!isPermanent) throw error;
}

/** Whether the spec can be used and the policy is not suspended. */
export function isActive({ spec }: BaseImagePolicy): boolean {
  return isUsableBase(spec) && !spec.base.suspended;
}
