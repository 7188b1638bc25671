/** The action `trigger`: requests a rebuild from the CI system, once for each base and source, and reports when the rebuilt image does not come. */
import type { TriggerAction } from '../model/base-policy.ts';
import { formatRepository } from '../model/image-reference.ts';
import { formatDuration } from '../model/text.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** A rebuild of one source for one base. */
export interface RebuildOrder {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  /** The source, or the project that the policy names. */
  readonly source: string;
  /** One of the images that are built from it: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
}

/** How far a requested rebuild has come. */
export interface RebuildState {
  readonly source: string;
  readonly state: 'Pending' | 'Requested' | 'Failed';
  readonly at: string;
  readonly message?: string | undefined;
}

export interface RebuildPorts {
  readonly rebuilds: {
    /** Requests a rebuild, durably; does nothing if it was requested before. */
    readonly request: (order: RebuildOrder, signal: AbortSignal) => Promise<void>;
    readonly read: (policy: UsableBasePolicy, base: SelectedBase, sources: readonly string[]) => Promise<readonly RebuildState[]>;
  };
}

const maxListed = 100;
const namesSource = '$source';

/** Requests the rebuild of each source that is not requested yet. */
export async function requestRebuilds(
  acting: Acting,
  chosen: readonly Chosen<TriggerAction>[],
  { rebuilds }: RebuildPorts,
): Promise<Acted> {
  if (chosen.length === 0) return { states: new Map(), status: {} };
  const { policy, base, signal, now } = acting;
  const bySource = Map.groupBy(
    chosen.flatMap((one) => ({ ...one, source: sourceOf(one) ?? '' })),
    ({ source }) => source,
  );
  const unknown = bySource.get('') ?? [];
  bySource.delete('');
  const sources = [...bySource.keys()];
  const known = new Map((await rebuilds.read(policy, base, sources)).map((state) => [state.source, state]));
  for (const [source, images] of bySource) {
    const [first] = images;
    if (first === undefined || known.has(source)) continue;
    await rebuilds.request({ policy, base, source, image: nameOf(first.image) }, signal);
    known.set(source, { source, state: 'Pending', at: new Date(now).toISOString() });
  }
  const states = new Map<ImageBehind, ImageState>(unknown.map(({ image }) => [image, withoutSource]));
  let until: number | undefined;
  for (const [source, images] of bySource) {
    const rebuild = known.get(source);
    for (const { image, action } of images) {
      if (rebuild === undefined) continue;
      const overdueAt = Date.parse(rebuild.at) + action.rebuildWithinMs;
      states.set(image, stateOf(rebuild, overdueAt <= now, action));
      if (rebuild.state !== 'Failed' && overdueAt > now) until = Math.min(until ?? overdueAt, overdueAt);
    }
  }
  const requests = [...known.values()].map(({ source, state, at, message }) => ({
    base: base.digest,
    source,
    at,
    state,
    ...(message !== undefined && { message }),
  }));
  return { states, status: { requests: requests.slice(0, maxListed) }, ...(until !== undefined && { until: new Date(until) }) };
}

const withoutSource: ImageState = {
  state: 'Behind',
  action: 'trigger',
  reason: 'SourceUnknown',
  message:
    'the image does not say which source it is built from: let the build write the annotation org.opencontainers.image.source, or name the repository in the policy',
};

/** The project that the policy names, or the source that the image names. */
function sourceOf({ image, action: { ci } }: Chosen<TriggerAction>): string | undefined {
  return ci.project === namesSource ? image.builtFrom : (ci.project ?? image.builtFrom ?? formatRepository(image.source));
}

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
