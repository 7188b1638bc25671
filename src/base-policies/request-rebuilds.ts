/** The action `trigger`: requests a rebuild from the CI system, once for each base and source, and reports when the rebuilt image does not come. */
import { maxRequests, type TriggerAction } from '../model/base-policy.ts';
import { formatRepository } from '../model/image-reference.ts';
import { cut, formatDuration } from '../model/text.ts';
import { isReleased } from '../plan/guards/released.ts';
import { findProject } from '../triggers/find-project.ts';
import type { RebuildState } from '../triggers/order.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** A rebuild of one source for one base. */
export interface RebuildOrder {
  readonly policy: UsableBasePolicy;
  readonly action: TriggerAction;
  readonly base: SelectedBase;
  /** The repository of the CI system, or the source that the image names. */
  readonly source: string;
  /** One of the images that are built from it: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
}

export interface RebuildPorts {
  readonly rebuilds: {
    /** Requests rebuilds, durably; does nothing for those that are requested already. */
    readonly request: (orders: readonly RebuildOrder[]) => Promise<void>;
    readonly read: (policy: UsableBasePolicy, base: SelectedBase, sources: readonly string[]) => Promise<readonly RebuildState[]>;
  };
}

/** In the status, which lists up to twenty. */
const maxMessage = 300;
/** Those that need somebody first. */
const order: readonly RebuildState['state'][] = ['Failed', 'Pending', 'Requested'];
/** Whoever deploys workloads decides how many sources there are. */
const maxSources = 1_000;

/** Requests the rebuild of each source that is not requested yet. */
export async function requestRebuilds(
  acting: Acting,
  chosen: readonly Chosen<TriggerAction>[],
  { rebuilds }: RebuildPorts,
): Promise<Acted> {
  if (chosen.length === 0) return { states: new Map(), status: {} };
  const { policy, base, now } = acting;
  const found = chosen.map((one) => ({ ...one, source: sourceOf(one) }));
  const states = new Map<ImageBehind, ImageState>();
  for (const { image, source } of found) if (typeof source !== 'string') states.set(image, withoutSource(source.problem));
  const known = found.flatMap(({ source, ...one }) => (typeof source === 'string' ? [{ ...one, source }] : []));
  const bySource = new Map([...Map.groupBy(known, ({ source }) => source)].slice(0, maxSources));
  const recorded = await rebuilds.read(policy, base, [...bySource.keys()]);
  const requests = new Map(recorded.filter((state) => !isForgotten(state, acting)).map((state) => [state.source, state]));
  const orders: RebuildOrder[] = [];
  for (const [source, [first]] of bySource) {
    if (first === undefined) continue;
    const state = requests.get(source);
    // One that is pending may have lost its job: it is requested again, which does nothing if it has not.
    if (state === undefined || state.state === 'Pending')
      orders.push({ policy, action: first.action, base, source, image: nameOf(first.image) });
    if (state === undefined) requests.set(source, { source, state: 'Pending', at: new Date(now).toISOString() });
  }
  await rebuilds.request(orders);
  let until: number | undefined;
  for (const [source, images] of bySource) {
    const rebuild = requests.get(source);
    for (const { image, action } of images) {
      if (rebuild === undefined) continue;
      const overdueAt = Date.parse(rebuild.at) + action.rebuildWithinMs;
      states.set(image, stateOf(rebuild, overdueAt <= now, action));
      if (rebuild.state !== 'Failed' && overdueAt > now) until = Math.min(until ?? overdueAt, overdueAt);
    }
  }
  const listed = [...requests.values()]
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    .slice(0, maxRequests)
    .map(({ source, state, at, message }) => ({
      base: base.digest,
      source,
      at,
      state,
      ...(message !== undefined && { message: cut(message, maxMessage) }),
    }));
  const status = { requests: listed, requested: requests.size };
  return { states, status, ...(until !== undefined && { until: new Date(until) }) };
}

/** A release lets what has failed begin again. */
function isForgotten({ state, at }: RebuildState, { policy, now }: Acting): boolean {
  return state === 'Failed' && isReleased(new Date(at), policy.actions, new Date(now));
}

function withoutSource(message: string): ImageState {
  return { state: 'Behind', action: 'trigger', reason: 'SourceUnknown', message };
}

/** The repository of the CI system, or else the source that the image names, or its own repository. */
function sourceOf({ image, action: { ci } }: Chosen<TriggerAction>): string | { readonly problem: string } {
  const found = findProject(ci, image.builtFrom);
  if ('problem' in found) return found;
  return cut(found.project ?? image.builtFrom ?? formatRepository(image.source), maxSource);
}

const maxSource = 512;

function stateOf({ state, at, message }: RebuildState, isOverdue: boolean, { rebuildWithinMs }: TriggerAction): ImageState {
  const action = 'trigger' as const;
  if (state === 'Failed')
    return { state: 'Failed', action, at, reason: 'RebuildRefused', message: message ?? 'the CI system refused the request' };
  if (state === 'Pending') return { state: 'Requested', action, at, reason: 'RebuildPending', ...(message !== undefined && { message }) };
  if (!isOverdue) return { state: 'Requested', action, at };
  const late = `the rebuild was requested at ${at}, and no image on the new base runs after ${formatDuration(rebuildWithinMs)}: look at the pipeline`;
  return { state: 'RebuildOverdue', action, at, reason: 'RebuildOverdue', message: late };
}

function nameOf({ source, tag, digest }: ImageBehind): string {
  return `${formatRepository(source)}${tag === undefined ? `@${digest}` : `:${tag}`}`;
}
