/** The action `trigger`: requests a rebuild from the CI system, once for each base and source, and reports when the rebuilt image does not come. */
import { maxRequests, type TriggerAction } from '../../core/model/base-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { maxLengths } from '../../core/model/policy-status.ts';
import { cut, formatDuration } from '../../core/model/text.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { findProject, pipelineOf } from '../triggers/find-project.ts';
import type { RebuildState, RebuildTarget } from '../triggers/order.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import { rejectionOf, type SelectedBase } from './plan-roll-out.ts';

/** A rebuild of one source for one base. */
export interface RebuildOrder extends RebuildTarget {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  /** One of the images that are built from it: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
  /** The time of an earlier request that this one repeats. */
  readonly after?: string;
}

export interface RebuildPorts {
  readonly rebuilds: {
    /** Requests rebuilds, durably; does nothing for those that are requested already. */
    readonly request: (orders: readonly RebuildOrder[]) => Promise<void>;
    readonly read: (policy: UsableBasePolicy, base: SelectedBase, rebuilds: readonly RebuildTarget[]) => Promise<readonly RebuildState[]>;
  };
}

/** In the status, which lists up to twenty. */
const maxMessage = 300;
/** Those that need somebody first. */
const order: readonly RebuildState['state'][] = ['Failed', 'Pending', 'Requested'];
/** Whoever deploys workloads decides how many sources there are. */
const maxSources = 1_000;

/** Requests the rebuild of each source that is not requested yet. */
export async function requestRebuilds(acting: Acting, chosen: readonly Chosen<TriggerAction>[], ports: RebuildPorts): Promise<Acted> {
  if (chosen.length === 0) return { states: new Map(), status: {} };
  const { policy, base, now } = acting;
  const rejected = rejectionOf(policy, base, now);
  if (rejected !== undefined) return { states: new Map(chosen.map(({ image }) => [image, whileRejected(rejected.message)])), status: {} };
  const found = chosen.map((one) => ({ ...one, pipeline: pipelineOf(one.action.ci), source: sourceOf(one) }));
  const states = new Map<ImageBehind, ImageState>();
  for (const { image, source } of found) if (typeof source !== 'string') states.set(image, withoutSource(source.problem));
  const known = found.flatMap(({ source, ...one }) => (typeof source === 'string' ? [{ ...one, source }] : []));
  const rebuilds = [...Map.groupBy(known, keyOf).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, images: [first, ...others].map(({ image }) => image) }],
  );
  const wanted = rebuilds.slice(0, maxSources);
  const recorded = new Map((await ports.rebuilds.read(policy, base, wanted)).map((state) => [keyOf(state), state]));
  const requests = new Map<string, RebuildState>();
  const orders: RebuildOrder[] = [];
  let until: number | undefined;
  for (const rebuild of wanted) {
    const { action, pipeline, source, image, images } = rebuild;
    const record = recorded.get(keyOf(rebuild));
    const isForgotten = record !== undefined && isRepeated(record, action, acting);
    const state: RebuildState =
      record === undefined || isForgotten ? { pipeline, source, state: 'Pending', at: new Date(now).toISOString() } : record;
    requests.set(keyOf(rebuild), state);
    const after = isForgotten ? record.at : record?.after;
    // One that is pending may have lost its job: it is requested again, which does nothing if it has not.
    if (state.state === 'Pending')
      orders.push({ policy, base, pipeline, source, image: nameOf(image), ...(after !== undefined && { after }) });
    const overdueAt = Date.parse(state.at) + action.rebuildWithinMs;
    for (const one of images) states.set(one, stateOf(state, overdueAt <= now, action));
    if (state.state !== 'Failed' && overdueAt > now) until = Math.min(until ?? overdueAt, overdueAt);
  }
  if (orders.length > 0) await acting.confirm();
  await ports.rebuilds.request(orders);
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

/**
 * Whether it is requested anew: what has failed, after a release; and what was requested for the same base when it was selected before, and is not under way any more.
 */
function isRepeated({ state, at }: RebuildState, { rebuildWithinMs }: TriggerAction, { policy, now }: Acting): boolean {
  if (state === 'Failed') return isReleased(new Date(at), policy.actions, new Date(now));
  const selectedAt = Date.parse(policy.status.latest?.selectedAt ?? '');
  return state === 'Requested' && Date.parse(at) < selectedAt && Date.parse(at) + rebuildWithinMs <= now;
}

function keyOf({ pipeline, source }: RebuildTarget): string {
  return `${pipeline} ${source}`;
}

function whileRejected(message: string): ImageState {
  return {
    state: 'Behind',
    action: 'trigger',
    reason: 'BaseRejected',
    message: cut(`the base failed and is not used again: ${message}`, maxLengths.message),
  };
}

function withoutSource(message: string): ImageState {
  return { state: 'Behind', action: 'trigger', reason: 'SourceUnknown', message };
}

/** The repository of the CI system, or else the source that the image names, or its own repository. */
function sourceOf({ image, action }: Chosen<TriggerAction>): string | { readonly problem: string } {
  const found = findProject(action, image.builtFrom);
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
