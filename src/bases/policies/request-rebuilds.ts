/** The action `trigger`: requests a rebuild from the CI system, once for each base and source, and reports when the rebuilt image does not come. */
import { type TriggerAction } from '../../core/model/base-policy.ts';
import { maxRequests } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import { cut, formatDuration } from '../../core/model/text.ts';
import { findContainer } from '../../core/model/workload.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { findProject, pipelineOf } from '../triggers/find-project.ts';
import type { RebuildState, RebuildTarget } from '../triggers/order.ts';
import type { Acted, Acting, Chosen, ImageBehind, ImageState, UsableBasePolicy } from './act.ts';
import { rejectionOf, withRejection } from '../../core/plan/rejected-base.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import { judge } from '../recognize/recognize-base.ts';
import { recognizeImages, requireRead } from '../recognize/recognize-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import { type AwaitedCanaries, awaitsCanaries, planRebuilds, type Rebuild } from './rebuild-waves.ts';

/** A rebuild of one source for one base. */
export interface RebuildOrder extends RebuildTarget {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  /** One of the images that are built from the source: `harbor.example.com/shop/web:1.2.3`. */
  readonly image: string;
  /** The time of the earlier request that this one repeats. */
  readonly after?: string;
}

export interface RebuildPorts {
  readonly facts: FactsReader;
  readonly rebuilds: {
    /** Requests rebuilds durably. Rebuilds that were requested already are not requested again. */
    readonly request: (orders: readonly RebuildOrder[]) => Promise<void>;
    readonly read: (policy: UsableBasePolicy, base: SelectedBase, rebuilds: readonly RebuildTarget[]) => Promise<readonly RebuildState[]>;
  };
}

/** The maximum length of a message in the status, which lists up to twenty. */
const maxMessage = 300;
/** The order of requests in the status: first the states that need attention. */
const order: readonly RebuildState['state'][] = ['Failed', 'Pending', 'Requested'];
/** The maximum number of sources of a policy. The owners of workloads decide how many there are. */
const maxSources = 1_000;

export interface Others {
  /** The canaries of other actions that have not rolled out. */
  readonly awaited?: AwaitedCanaries | undefined;
  /** Whether other actions wait for canaries that are rebuilt, so that those are judged also when all of them were rebuilt. */
  readonly areWaiting?: boolean;
}

/** Requests rebuilds of the sources that have no request yet, in waves. `chosen`: the images that are behind, and those that were rebuilt already. */
export async function requestRebuilds(
  acting: Acting,
  chosen: readonly Chosen<TriggerAction>[],
  ports: RebuildPorts,
  { awaited, areWaiting = false }: Others = {},
): Promise<Acted> {
  const { policy, base, behind, now } = acting;
  const isBehind = new Set(behind);
  const own = chosen.filter(({ image }) => isBehind.has(image));
  if (own.length === 0 && !areWaiting) return { states: new Map(), status: {} };
  const rejected = rejectionOf(policy, base, now);
  if (rejected !== undefined) return { states: new Map(own.map(({ image }) => [image, whileRejected(rejected.message)])), status: {} };
  const found = chosen.map((one) => ({ ...one, pipeline: pipelineOf(one.action.ci), source: sourceOf(one) }));
  const states = new Map<ImageBehind, ImageState>();
  for (const { image, source } of found)
    if (typeof source !== 'string' && isBehind.has(image)) states.set(image, withoutSource(source.problem));
  const known = found.flatMap(({ source, ...one }) => (typeof source === 'string' ? [{ ...one, source }] : []));
  const wanted = [...Map.groupBy(known, keyOf).values()].slice(0, maxSources);
  const targets = wanted.flatMap(([first]) => first ?? []);
  const recorded = new Map((await ports.rebuilds.read(policy, base, targets)).map((state) => [keyOf(state), state]));
  const sources = wanted.flatMap((images) => {
    const [first] = images;
    if (first === undefined) return [];
    const record = recorded.get(keyOf(first));
    const isForgotten = record !== undefined && isRepeated(record, first.action, acting);
    const all = images.map(({ image }) => image);
    const request = isForgotten ? undefined : record;
    const overdueAt = request && Date.parse(request.at) + first.action.rebuildWithinMs;
    const rebuild: Rebuild = {
      key: keyOf(first),
      behind: all.filter((image) => isBehind.has(image)),
      current: all.filter((image) => !isBehind.has(image)),
      request,
      isOverdue: overdueAt !== undefined && overdueAt <= now,
    };
    return [{ ...first, ...rebuild, overdueAt, after: isForgotten ? record.at : record?.after }];
  });
  const step = planRebuilds(sources, { failed: await findFailed(sources, acting, ports), awaited }, acting);
  const requests: RebuildState[] = [];
  const orders: RebuildOrder[] = [];
  const times = [step.until?.getTime()];
  for (const { key, action, pipeline, source, behind: images, request, overdueAt, after } of sources) {
    const [image] = images;
    if (image === undefined) continue;
    const isStarted = step.rejection === undefined && step.start.has(key);
    const state: RebuildState | undefined =
      request ?? (isStarted ? { pipeline, source, state: 'Pending', at: new Date(now).toISOString() } : undefined);
    if (state === undefined) {
      for (const one of images) states.set(one, { state: 'Behind', action: 'trigger', ...step.waiting });
      continue;
    }
    requests.push(state);
    // A pending rebuild may have lost its job. It is requested again, which has no effect if the job exists.
    if (state.state === 'Pending') orders.push({ policy, base, pipeline, source, image: nameOf(image), ...defined({ after }) });
    const dueAt = overdueAt ?? now + action.rebuildWithinMs;
    for (const one of images) states.set(one, stateOf(state, dueAt <= now, action));
    if (state.state !== 'Failed' && dueAt > now) times.push(dueAt);
  }
  if (orders.length > 0) await acting.confirm();
  await ports.rebuilds.request(orders);
  const until = Math.min(...times.filter((time) => time !== undefined));
  return { states, status: statusOf(requests, step.rejection, acting), ...(Number.isFinite(until) && { until: new Date(until) }) };
}

/** Whether all that are no canaries wait for one that is rebuilt. One whose source is not known is not waited for. */
export function awaitsRebuiltCanaries(acting: Acting, chosen: readonly Chosen<TriggerAction>[]): boolean {
  const isBehind = new Set(acting.behind);
  const known = chosen.flatMap((one) => (typeof sourceOf(one) === 'string' ? [one.image] : []));
  return awaitsCanaries(known, (image) => isBehind.has(image), acting);
}

/** The digests of images on the selected base from which workloads were rolled back. Their owners write what names them, so the images themselves are read. */
async function findFailed(rebuilds: readonly Rebuild[], acting: Acting, ports: RebuildPorts): Promise<ReadonlySet<string>> {
  const { findWorkload, versions, base, signal } = acting;
  const named = rebuilds
    .flatMap(({ behind, request }) => (request === undefined ? [] : behind))
    .flatMap(({ source, workloads }) =>
      workloads.flatMap(({ workload: ref, containers }) => {
        const workload = findWorkload(ref);
        return containers.flatMap((name) => {
          const digest = workload && findContainer(workload, name)?.lastUpdate?.failed;
          return digest === undefined ? [] : [{ source, digest }];
        });
      }),
    );
  if (named.length === 0) return new Set();
  const { images } = await recognizeImages(named, versions, { reader: ports.facts, signal });
  requireRead(images);
  const standard = { digest: base.digest, line: versions.line };
  return new Set(images.flatMap(({ image, recognition }) => (judge(recognition, standard).state === 'Current' ? [image.digest] : [])));
}

function statusOf(requests: readonly RebuildState[], rejection: string | undefined, { base, policy, now }: Acting): Acted['status'] {
  const listed = requests
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    .slice(0, maxRequests)
    .map(({ source, state, at, message }) => ({
      base: base.digest,
      source,
      at,
      state,
      ...(message !== undefined && { message: cut(message, maxMessage) }),
    }));
  const rejected = rejection === undefined ? undefined : withRejection(policy, base, rejection, now);
  return { requests: listed, requested: requests.length, ...defined({ rejected }) };
}

/** Whether a rebuild is requested again: a failed one after a release, or one for an earlier selection of the same base that is not in progress any more. */
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

/** The source to rebuild: the repository of the CI system, else the source that the image names, else the repository of the image. */
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
  if (state === 'Pending') return { state: 'Requested', action, at, reason: 'RebuildPending', ...defined({ message }) };
  if (!isOverdue) return { state: 'Requested', action, at };
  const late = `the rebuild was requested at ${at}, and no image on the new base runs after ${formatDuration(rebuildWithinMs)}: look at the pipeline`;
  return { state: 'RebuildOverdue', action, at, reason: 'RebuildOverdue', message: late };
}

function nameOf({ source, tag, digest }: ImageBehind): string {
  return `${formatRepository(source)}${tag === undefined ? `@${digest}` : `:${tag}`}`;
}
