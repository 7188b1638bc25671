/** The action `rebase`: rebases images in their registries, and rolls the results out in waves through children of the policy. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import type { RebaseAction } from '../../core/model/base-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { cut } from '../../core/model/text.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import { childManifest, childName, type Child, type ChildManifest, type Replacement } from './child-policies.ts';
import { rejectionOf, withRejection } from '../../core/plan/rejected-base.ts';
import { discardRejected } from './discard-rejected.ts';
import { type Elsewhere, isOver, noneElsewhere, planRollOut, type ReplacementState, type RollOutPlan } from './plan-roll-out.ts';
import { rebaseAhead, rebaseDue, refused, type RebasePort, type RebaseResult, type Result, type Results } from './rebase-images.ts';

export interface RebasePorts extends RebasePort {
  /** Reads a workload from the API server. */
  readonly readWorkload: (workload: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  readonly children: {
    readonly list: (policy: UsableBasePolicy, signal: AbortSignal) => Promise<readonly Child[]>;
    readonly create: (manifest: ChildManifest, signal: AbortSignal) => Promise<void>;
    readonly remove: (child: Child, signal: AbortSignal) => Promise<void>;
    /** Rolls the workload of a child back to the image that it ran before. */
    readonly rollBack: (child: Child, signal: AbortSignal) => Promise<void>;
  };
}

const parallelWrites = 8;
/** A rebase is tried again after this time if its registry fails. */
const retryMs = 60_000;
/** The images that are left are planned after this time. */
const nextMs = 1_000;

/** What was done, and whether a canary is left to roll out. */
export type RolledOut = Acted & Partial<Pick<RollOutPlan, 'awaitsCanaries'>>;

/**
 * Rolls out rebased images. An image is rebased when the wave of one of its workloads begins, or the wave before that one: so the first workload is changed soon,
 * and a bad base leaves few images behind. Children are not listed for a policy that never had an action that creates them.
 */
export async function rollOutRebased(
  acting: Acting,
  chosen: readonly Chosen<RebaseAction>[],
  ports: RebasePorts,
  elsewhere: Elsewhere = noneElsewhere,
): Promise<RolledOut> {
  const { policy, base, signal, now } = acting;
  if (!policy.spec.onNewBase.some(({ kind }) => kind === 'rebase') && policy.status.waves === undefined)
    return { states: new Map(), status: {} };
  const children = await ports.children.list(policy, signal);
  const findWorkload = await readReplaced(children, acting, ports);
  const planWith = (results: Results) => planFor(acting, { chosen, results, children, elsewhere, findWorkload });
  const { plan, results } = await rebaseDue(acting, chosen, planWith, ports);
  if (plan.begin.length > 0) await acting.beginWave(plan.begin);
  else if (plan.create.length + plan.remove.length + plan.rollBack.length > 0) await acting.confirmUnchanged();
  // Removals come first, because a new child may have the name of a removed one.
  await writeAll(acting, plan.remove, (child) => ports.children.remove(child, signal));
  await Promise.all([
    writeAll(acting, plan.create, (replacement) => ports.children.create(childManifest(policy, base, replacement), signal)),
    writeAll(acting, plan.rollBack, (child) => ports.children.rollBack(child, signal)),
  ]);
  const ahead = await rebaseAhead(acting, chosen, { results, plan }, ports);
  // What was refused meanwhile has no wave any more.
  const { waves, states: progress } = planWith(ahead.results);
  const taken = await discardRejected(acting, chosen, ports);
  const why = (image: ImageBehind) => whyStopped(waves, taken.notes.get(image));
  const states = new Map(
    chosen.map(({ image }): [ImageBehind, ImageState] => {
      const result = ahead.results.get(image) ?? why(image) ?? { isPlanned: true };
      const replacements = 'tag' in result ? replacementsOf(image, result.tag, acting.findWorkload) : [];
      return [image, { action: 'rebase', ...stateOf(result, { image, replacements, policy, states: progress }) }];
    }),
  );
  const hasFault = [...states.values()].some(({ reason }) => reason === 'Retrying');
  const untils = [plan.until?.getTime(), hasFault || taken.isLeft ? now + retryMs : undefined, ahead.isLeft ? now + nextMs : undefined];
  const times = untils.filter((time) => time !== undefined);
  return {
    states,
    awaitsCanaries: plan.awaitsCanaries,
    replacements: plan.replacements,
    status: {
      waves,
      ...(plan.rejection !== undefined && { rejected: withRejection(policy, base, plan.rejection, now) }),
    },
    ...(times.length > 0 && { until: new Date(Math.min(...times)) }),
  };
}

interface Known {
  readonly chosen: readonly Chosen<RebaseAction>[];
  readonly results: Results;
  readonly children: readonly Child[];
  readonly elsewhere: Elsewhere;
  readonly findWorkload: Acting['findWorkload'];
}

function planFor(acting: Acting, { chosen, results, children, elsewhere, findWorkload }: Known): RollOutPlan {
  const { policy, base, now } = acting;
  const wanted = [...results].flatMap(([image, result]) => ('tag' in result ? replacementsOf(image, result.tag, acting.findWorkload) : []));
  const workloadsOf = (isIncluded: (result: Result | undefined) => boolean) =>
    chosen.filter(({ image }) => isIncluded(results.get(image))).flatMap(({ image }) => image.workloads.map(({ workload }) => workload));
  const isRejected = rejectionOf(policy, base, now) !== undefined;
  return planRollOut({
    policy,
    base,
    wanted,
    unrebased: isRejected ? [] : workloadsOf((result) => result === undefined || 'isPlanned' in result),
    unknown: new Set(workloadsOf((result) => result !== undefined && 'fault' in result).map(workloadKey)),
    children,
    elsewhere,
    findWorkload,
    selects: (workload) => acting.selects(workload) && acting.permits(workload),
    now,
  });
}

/** Reads workloads from the cache. Where a child is over by that, the cache may be older than the child, and the API server decides. */
async function readReplaced(
  children: readonly Child[],
  { findWorkload, signal }: Acting,
  { readWorkload }: RebasePorts,
): Promise<Acting['findWorkload']> {
  const over = children.filter((child) => isOver(child, findWorkload));
  const read = new Map<string, Workload | undefined>();
  const results = await inParallel(over, parallelWrites, async ({ replacement: { workload } }) => {
    read.set(workloadKey(workload), await readWorkload(workload, signal));
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return (ref) => (read.has(workloadKey(ref)) ? read.get(workloadKey(ref)) : findWorkload(ref));
}

function whyStopped({ stopped }: RollOutPlan['waves'], note: string | undefined): RebaseResult | undefined {
  if (stopped === undefined) return undefined;
  return refused('BaseRejected', `the base failed and is not used again${note === undefined ? '' : ` (${note})`}: ${stopped}`);
}

function replacementsOf(
  { source, tag = '', isPinned, workloads }: ImageBehind,
  to: string,
  findWorkload: Acting['findWorkload'],
): Replacement[] {
  return workloads.map((images): Replacement => {
    const uid = findWorkload(images.workload)?.uid;
    return { ...images, ...defined({ uid }), repository: formatRepository(source), from: tag, to, isPinned };
  });
}

/** The order in which states take precedence for an image that several workloads run. */
const order = ['Failed', 'Blocked', 'Progressing', 'Pending', 'Done'] as const;

interface Progress {
  readonly image: ImageBehind;
  readonly replacements: readonly Replacement[];
  readonly policy: UsableBasePolicy;
  readonly states: ReadonlyMap<string, ReplacementState>;
}

function stateOf(result: Result, { image: { workloads }, replacements, policy, states }: Progress): ImageState {
  if ('fault' in result) return { state: 'Behind', reason: 'Retrying', message: cut(result.fault, maxLengths.message) };
  if ('isPlanned' in result) {
    const what = workloads.length === 0 ? 'the canaries have rolled out' : 'the wave of its workloads comes';
    return { state: 'Behind', reason: 'WavePending', message: `it is rebased when ${what}` };
  }
  if ('refused' in result)
    return { state: 'Refused', reason: result.refused.reason, message: cut(result.refused.message, maxLengths.message) };
  const found = replacements.map((replacement): ReplacementState => states.get(childName(policy, replacement)) ?? { state: 'Pending' });
  const worst = found.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0] ?? { state: 'Pending' };
  const why =
    worst.state === 'Pending'
      ? {}
      : { ...(worst.reason && { reason: worst.reason }), ...(worst.message && { message: cut(worst.message, maxLengths.message) }) };
  const rebased = result.tag;
  if (worst.state === 'Failed') return { state: 'Failed', rebased, ...why };
  if (worst.state === 'Pending') return { state: 'Rebased', rebased };
  return { state: worst.state === 'Done' ? 'Updated' : 'Updating', rebased, ...why };
}

/** Writes all items, and then rejects with the first error. */
async function writeAll<T>({ confirm }: Acting, items: readonly T[], write: (item: T) => Promise<void>): Promise<void> {
  const results = await inParallel(items, parallelWrites, async (item) => {
    await confirm();
    await write(item);
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
