/** The action `rebase`: rebases images in their registries, and rolls the results out in waves through children of the policy. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import type { RebaseAction } from '../../core/model/base-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { cut } from '../../core/model/text.ts';
import { maxLengths } from '../../core/model/policy-status.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import { childManifest, childName, type Child, type ChildManifest, type Replacement } from './child-policies.ts';
import { planRollOut, rejectionOf, type ReplacementState, type SelectedBase } from './plan-roll-out.ts';

/** One rebase. */
export interface RebaseOrder {
  readonly policy: UsableBasePolicy;
  readonly action: RebaseAction;
  readonly image: ImageBehind & { readonly tag: string };
  readonly base: SelectedBase;
  /** For `$date`: when the base was selected, so that a repeated rebase has the same result. */
  readonly date: Date;
}

/** Until when a rebase goes on. `confirm` is called before each request that writes to the registry, and rejects when nothing may be written any more. */
export interface RebasePermit {
  readonly signal: AbortSignal;
  readonly confirm: () => Promise<void>;
}

/** The rebased image, or why it is refused. */
export type RebaseResult =
  | { readonly tag: string; readonly digest: string }
  | { readonly refused: { readonly reason: string; readonly message: string } };

export interface RebasePorts {
  /** Reads a workload from the API server. */
  readonly readWorkload: (workload: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  /** Rebases an image in its registry; idempotent. Throws for faults that may pass. */
  readonly rebase: (order: RebaseOrder, permit: RebasePermit) => Promise<RebaseResult>;
  readonly children: {
    readonly list: (policy: UsableBasePolicy, signal: AbortSignal) => Promise<readonly Child[]>;
    readonly create: (manifest: ChildManifest, signal: AbortSignal) => Promise<void>;
    readonly remove: (child: Child, signal: AbortSignal) => Promise<void>;
    /** Rolls the workload of a child back to the image that it ran before. */
    readonly rollBack: (child: Child, signal: AbortSignal) => Promise<void>;
  };
}

/** Rebases in registries that run at the same time. */
const parallelRebases = 4;
const parallelWrites = 8;
/** A registry that fails is asked again after this time. */
const retryMs = 60_000;

/** The children need no look where there never was an action that creates them. */
export async function rollOutRebased(acting: Acting, chosen: readonly Chosen<RebaseAction>[], ports: RebasePorts): Promise<Acted> {
  const { policy, base, signal, now } = acting;
  if (!policy.spec.onNewBase.some(({ kind }) => kind === 'rebase') && policy.status.waves === undefined)
    return { states: new Map(), status: {} };
  const children = await ports.children.list(policy, signal);
  const isRejected = rejectionOf(policy, base, now) !== undefined;
  const rebased = isRejected ? [] : await rebaseAll(acting, chosen, ports);
  const replacements = new Map(
    rebased.flatMap(({ image, result }) =>
      'tag' in result ? [[image, replacementsOf(image, result.tag, acting.findWorkload)] as const] : [],
    ),
  );
  const wanted = [...replacements.values()].flat();
  const selects = (workload: Workload) => acting.selects(workload) && acting.permits(workload);
  const faulty = rebased.flatMap(({ image, result }) => ('fault' in result ? image.workloads : []));
  const unknown = new Set(faulty.map(({ workload }) => workloadKey(workload)));
  const findWorkload = await readReplaced(children, acting, ports);
  const plan = planRollOut({ policy, base, wanted, unknown, children, findWorkload, selects, now });
  if (plan.begin.length > 0) await acting.beginWave(plan.begin);
  else if (plan.create.length + plan.remove.length + plan.rollBack.length > 0) await acting.confirmUnchanged();
  // One that is created may have the name of one that is removed.
  await writeAll(acting, plan.remove, (child) => ports.children.remove(child, signal));
  await Promise.all([
    writeAll(acting, plan.create, (replacement) =>
      ports.children.create(childManifest(policy, base, replacement, policy.spec.base.windows), signal),
    ),
    writeAll(acting, plan.rollBack, (child) => ports.children.rollBack(child, signal)),
  ]);
  const states = new Map(
    chosen.map(({ image }) => {
      const found = rebased.find((one) => one.image === image)?.result ?? whyRejected(policy, base, now);
      return [
        image,
        { action: 'rebase' as const, ...stateOf(found, replacements.get(image) ?? [], { policy, states: plan.states }) },
      ] as const;
    }),
  );
  const hasFault = [...states.values()].some(({ reason }) => reason === 'Retrying');
  const untils = [plan.until?.getTime(), hasFault ? now + retryMs : undefined].filter((time) => time !== undefined);
  const { rejected = [] } = policy.status;
  return {
    states,
    status: {
      waves: plan.waves,
      ...(plan.rejection !== undefined && {
        rejected: [{ ...base, at: new Date(now).toISOString(), message: cut(plan.rejection, maxLengths.message) }, ...rejected].slice(
          0,
          maxRejected,
        ),
      }),
    },
    ...(untils.length > 0 && { until: new Date(Math.min(...untils)) }),
  };
}

const maxRejected = 10;

/** The cache, except for workloads of which it does not show the one that a child is for: it may be older than the child, or know that this one is gone. */
async function readReplaced(
  children: readonly Child[],
  { findWorkload, signal }: Acting,
  { readWorkload }: RebasePorts,
): Promise<Acting['findWorkload']> {
  const others = children
    .map(({ replacement }) => replacement)
    .filter(({ workload, uid }) => uid !== undefined && findWorkload(workload)?.uid !== uid);
  const read = new Map<string, Workload | undefined>();
  const results = await inParallel(others, parallelWrites, async ({ workload }) => {
    read.set(workloadKey(workload), await readWorkload(workload, signal));
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return (ref) => (read.has(workloadKey(ref)) ? read.get(workloadKey(ref)) : findWorkload(ref));
}

interface Rebased {
  readonly image: ImageBehind;
  readonly result: RebaseResult | { readonly fault: string };
}

async function rebaseAll(
  { policy, base, signal, confirm, now }: Acting,
  chosen: readonly Chosen<RebaseAction>[],
  ports: RebasePorts,
): Promise<Rebased[]> {
  const date = new Date(policy.status.latest?.selectedAt ?? now);
  const results = await inParallel(chosen, parallelRebases, async ({ image, action }): Promise<Rebased['result']> => {
    const { tag } = image;
    if (tag === undefined)
      return refused('ImageHasNoTag', 'the workloads name the image by its digest alone: a rebased image needs a tag to be called after');
    // What the tag points to later would never run.
    if (!/[0-9]/.test(tag))
      return refused('RebaseRefused', `"${tag}" names other images over time: use the actions trigger or restart, or deploy versions`);
    return ports.rebase({ policy, action, image: { ...image, tag }, base, date }, { signal, confirm });
  });
  signal.throwIfAborted();
  return chosen.map(({ image }, index) => {
    const result = results[index];
    if (result?.status === 'fulfilled') return { image, result: result.value };
    const error: unknown = result?.reason;
    return { image, result: error instanceof PermanentError ? refused(error.reason, error.message) : { fault: describeError(error) } };
  });
}

function refused(reason: string, message: string): RebaseResult {
  return { refused: { reason, message } };
}

function whyRejected(policy: UsableBasePolicy, base: SelectedBase, now: number): RebaseResult {
  const message = rejectionOf(policy, base, now)?.message ?? '';
  return refused('BaseRejected', `the base failed and is not used again: ${message}`);
}

function replacementsOf(
  { source, tag = '', isPinned, workloads }: ImageBehind,
  to: string,
  findWorkload: Acting['findWorkload'],
): Replacement[] {
  return workloads.map((images): Replacement => {
    const uid = findWorkload(images.workload)?.uid;
    return { ...images, ...(uid !== undefined && { uid }), repository: formatRepository(source), from: tag, to, isPinned };
  });
}

/** The order in which states count for an image that several workloads run. */
const order = ['Failed', 'Blocked', 'Progressing', 'Pending', 'Done'] as const;

function stateOf(
  result: Rebased['result'],
  replacements: readonly Replacement[],
  { policy, states }: { readonly policy: UsableBasePolicy; readonly states: ReadonlyMap<string, ReplacementState> },
): ImageState {
  if ('fault' in result) return { state: 'Behind', reason: 'Retrying', message: cut(result.fault, maxLengths.message) };
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

/** Rejects with the first error, after all were tried. */
async function writeAll<T>({ confirm }: Acting, items: readonly T[], write: (item: T) => Promise<void>): Promise<void> {
  const results = await inParallel(items, parallelWrites, async (item) => {
    await confirm();
    await write(item);
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
