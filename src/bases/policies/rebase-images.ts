/** Rebases the images of a roll-out, those of the next workloads first. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import type { RebaseAction } from '../../core/model/base-policy.ts';
import type { Discard, Discarded } from '../../core/model/discarded-image.ts';
import { workloadKey } from '../../core/model/workload.ts';
import type { Acting, Chosen, ImageBehind, UsableBasePolicy } from './act.ts';
import type { RollOutPlan, SelectedBase } from './plan-roll-out.ts';

/** What to rebase: an image, and its new base. */
export interface RebaseOrder {
  readonly policy: UsableBasePolicy;
  readonly action: RebaseAction;
  readonly image: ImageBehind & { readonly tag: string };
  /** The new base, with all tags that it is known to have. */
  readonly base: SelectedBase & { readonly tags?: readonly string[] };
  /** The time for `$date`: when the base was selected, so that a repeated rebase has the same result. */
  readonly date: Date;
  /** Whether nothing is written: the result is only whether the image can be rebased. */
  readonly isOnlyPlanned: boolean;
}

/** The permission to rebase. `confirm` is called before each request that writes to the registry, and rejects when nothing may be written any more. */
export interface RebasePermit {
  readonly signal: AbortSignal;
  readonly confirm: () => Promise<void>;
}

/** The rebased image, why the rebase is refused, or that the image could be rebased. */
export type RebaseResult =
  | { readonly tag: string; readonly digest: string }
  | { readonly refused: { readonly reason: string; readonly message: string } }
  | { readonly isPlanned: true };

/** A result, or an error that may pass. */
export type Result = RebaseResult | { readonly fault: string };
export type Results = ReadonlyMap<ImageBehind, Result>;

export interface RebasePort {
  /** Rebases an image in its registry; idempotent. Throws for temporary errors. */
  readonly rebase: (order: RebaseOrder, permit: RebasePermit) => Promise<RebaseResult>;
  /** Whether the result of a rebase is known, so that `rebase` makes no request. */
  readonly isRebaseKnown: (order: RebaseOrder) => boolean;
  /** Takes back what was rebased for the same order on a base that is rejected: marks it, and deletes its tag where the registry allows that. Undefined if nothing is there. */
  readonly discard: (order: RebaseOrder, discard: Discard, permit: RebasePermit) => Promise<Discarded | undefined>;
}

type Wanted = readonly Chosen<RebaseAction>[];

/** The number of rebases in registries at the same time. */
const parallelRebases = 4;
/** The number of images that one reconcile plans ahead. More of them would keep the policy from following its wave. */
const maxAhead = 16;

/**
 * Rebases what the next step of the roll-out needs. An image that is refused leaves its place in the wave to another one, so that the step is planned until nothing
 * is missing.
 */
export async function rebaseDue(
  acting: Acting,
  chosen: Wanted,
  planWith: (results: Results) => RollOutPlan,
  port: RebasePort,
): Promise<{ readonly plan: RollOutPlan; readonly results: Results }> {
  const results = new Map<ImageBehind, Result>();
  for (;;) {
    const plan = planWith(results);
    // The selected version of a base in between may have no workloads, and belongs to no wave.
    const isDue = ({ image: { workloads } }: Chosen) =>
      (workloads.length === 0 && plan.admitsBetween) || workloads.some(({ workload }) => plan.due.has(workloadKey(workload)));
    const due = chosen.filter((one) => !results.has(one.image) && isDue(one));
    if (due.length === 0) return { plan, results };
    for (const [image, result] of await rebaseAll(acting, due, port)) results.set(image, result);
  }
}

/** Whether the base is rejected, so that nothing is rebased on it. */
function isStopped({ waves: { stopped } }: RollOutPlan): boolean {
  return stopped !== undefined;
}

/** Rebases the images of the wave after this one, and finds out which of the others cannot be rebased. */
export async function rebaseAhead(
  acting: Acting,
  chosen: Wanted,
  { results, plan }: { readonly results: Results; readonly plan: RollOutPlan },
  port: RebasePort,
): Promise<{ readonly results: Results; readonly isLeft: boolean }> {
  const rest = isStopped(plan) ? [] : chosen.filter(({ image }) => !results.has(image));
  const isNext = ({ image }: Chosen) => image.workloads.some(({ workload }) => plan.following.has(workloadKey(workload)));
  const next = rest.filter(isNext);
  const others = rest.filter((one) => !isNext(one));
  const isKnown = (one: Chosen<RebaseAction>) => {
    const order = orderOf(acting, one, true);
    return 'refused' in order || port.isRebaseKnown(order);
  };
  const unknown = others.filter((one) => !isKnown(one));
  const planned = [...others.filter(isKnown), ...unknown.slice(0, maxAhead)];
  return {
    results: new Map([...results, ...(await rebaseAll(acting, next, port)), ...(await rebaseAll(acting, planned, port, true))]),
    isLeft: unknown.length > maxAhead,
  };
}

async function rebaseAll(acting: Acting, chosen: Wanted, { rebase }: RebasePort, isOnlyPlanned = false): Promise<[ImageBehind, Result][]> {
  const { signal, confirm } = acting;
  const results = await inParallel(chosen, parallelRebases, async (one): Promise<Result> => {
    const order = orderOf(acting, one, isOnlyPlanned);
    return 'refused' in order ? order : rebase(order, { signal, confirm });
  });
  signal.throwIfAborted();
  return chosen.map(({ image }, index) => {
    const result = results[index];
    if (result?.status === 'fulfilled') return [image, result.value];
    const error: unknown = result?.reason;
    return [image, error instanceof PermanentError ? refused(error.reason, error.message) : { fault: describeError(error) }];
  });
}

export type Refused = Extract<RebaseResult, { readonly refused: unknown }>;

/** The order for an image, or why it cannot be rebased. */
export function orderOf(
  { policy, base, versions, now }: Acting,
  { image, action }: Chosen<RebaseAction>,
  isOnlyPlanned: boolean,
): RebaseOrder | Refused {
  const { tag } = image;
  if (tag === undefined)
    return refused('ImageHasNoTag', 'the workloads name the image by its digest alone: a rebased image needs a tag to be called after');
  // A tag without a digit is a moving one. Images that it points to later would never run.
  if (!/[0-9]/.test(tag))
    return refused('RebaseRefused', `"${tag}" names other images over time: use the actions trigger or restart, or deploy versions`);
  const digest = image.origin ?? image.digest;
  const date = new Date(policy.status.latest?.selectedAt ?? now);
  const tags = versions.known.find((version) => version.digest === base.digest)?.tags;
  return { policy, action, image: { ...image, tag, digest }, base: { ...base, ...defined({ tags }) }, date, isOnlyPlanned };
}

/** The result that says why an image is not rebased. */
export function refused(reason: string, message: string): Refused {
  return { refused: { reason, message } };
}
