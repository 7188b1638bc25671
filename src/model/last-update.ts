/**
 * Our last change to a container, as its workload records it: one annotation for each container, written by the same request as the image. So which image
 * we applied, when, and what ran before are known for any number of workloads, and after a crash. There is one annotation for each container, because two policies
 * may change two containers of a workload at the same moment; each policy that writes it keeps the changes of the others within the hour, so that changes that
 * undo each other are counted where they happen.
 */
import { tryParseImageReference } from './image-reference.ts';
import { type TriggerSource, isTriggerSource, maxLengths } from './policy-status.ts';
import { toSeconds } from './text.ts';
import { type ContainerChange, findContainer, readVolumeName, type Workload, type WorkloadContainer } from './workload.ts';

export interface LastUpdate {
  /** The uid of the policy. */
  readonly policy: string;
  readonly at: string;
  readonly trigger: TriggerSource;
  readonly from: string;
  /** The image that was written; admission may have rewritten it. */
  readonly to: string;
  /** The selected tag, if the image does not show it: for fields that hold a digest alone. */
  readonly tag?: string;
  /** The digest that the tag pointed to. */
  readonly digest?: string;
  /** Of a rollback: the digest whose rollout failed. */
  readonly failed?: string;
  /** The images that any policy changed the container to within the preceding hour. */
  readonly earlier?: readonly RecentChange[];
}

/** An image that a container was changed to, and the times of the changes: the latest first. */
export interface RecentChange {
  readonly tag: string;
  readonly digest?: string;
  readonly at: readonly string[];
}

/** How long a change counts towards a loop. */
export const recentMs = 3_600_000;

/** The clocks of replicas differ by less; a time further in the future was not written by us. */
const maxSkewMs = 300_000;
/** Limits the size of the annotation, independent of the number of policies, and of other writers of the workload. */
const maxImages = 8;
const maxTimes = 10;
const maxImageLength = 512;

/** The annotation for a container, an image volume, or a group of fields; undefined if the API server would reject its name. */
export function updateAnnotation(container: string): string | undefined {
  const volume = readVolumeName(container);
  const name = (volume ?? container).replaceAll(/[^A-Za-z0-9_.-]/g, '.').replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  // An annotation's name has no second slash, and no room for more than the name of a volume.
  return name === '' ? undefined : `${volume === undefined ? '' : 'volumes.'}last-update.operator.technomad.dev/${name}`;
}

/** The record of our last change to a container, or to fields that are shown as one, from the workload's annotation. */
export function lastUpdateOf(workload: Workload, container: string): LastUpdate | undefined {
  return findContainer(workload, container)?.lastUpdate ?? workload.fieldUpdates?.get(container);
}

/** Who changes containers, when and why. */
interface UpdateCause extends Pick<LastUpdate, 'policy' | 'trigger' | 'tag'> {
  readonly at: Date;
  readonly digest?: string | undefined;
  readonly failed?: string | undefined;
}

/** Adds to each change the record to write to the annotation; none if an image is too long. */
export function withUpdates(
  workload: Workload,
  changes: readonly ContainerChange[],
  { policy, trigger, at, tag, digest, failed }: UpdateCause,
): ContainerChange[] {
  return changes.map((change) => {
    const { container, from, to } = change;
    if (Math.max(from.length, to.length) > maxImageLength) return change;
    const earlier = recentChanges(lastUpdateOf(workload, container), at);
    const isHidden = tag !== undefined && tryParseImageReference(to)?.tag === undefined;
    const image = { from, to, ...(isHidden && { tag }), ...(digest !== undefined && { digest }), ...(failed !== undefined && { failed }) };
    return { ...change, update: { policy, at: toSeconds(at), trigger, ...image, ...(earlier.length > 0 && { earlier }) } };
  });
}

/** The tag that a container was changed to; empty if there was none. */
export function updatedTag({ to, tag }: LastUpdate): string {
  return tryParseImageReference(to)?.tag ?? tag ?? '';
}

/** The images that a container was changed to, the last one first, as its record has them. */
export function changesOf(last: LastUpdate | undefined): readonly RecentChange[] {
  if (last === undefined) return [];
  const { digest, at, earlier = [] } = last;
  const tag = updatedTag(last);
  const before = earlier.find((one) => one.tag === tag && one.digest === digest);
  const latest = { tag, ...(digest !== undefined && { digest }), at: [at, ...(before?.at ?? [])] };
  return [latest, ...earlier.filter((one) => one !== before)];
}

/** Whether a change at this time counts towards a loop. */
export function isRecent(time: string, now: Date): boolean {
  const age = now.getTime() - Date.parse(time);
  return age < recentMs && age >= -maxSkewMs;
}

/** Those of them within the hour before `now`; the most frequent first, because a loop repeats images. */
export function recentChanges(last: LastUpdate | undefined, now: Date): RecentChange[] {
  return changesOf(last)
    .map((one) => ({ ...one, at: one.at.filter((time) => isRecent(time, now)).slice(0, maxTimes) }))
    .filter((one) => one.tag !== '' && one.at.length > 0)
    .toSorted((a, b) => b.at.length - a.at.length)
    .slice(0, maxImages);
}

/** The value of the annotation. */
export function formatLastUpdate({ policy, at, trigger, from, to, tag, digest, failed, earlier }: LastUpdate): string {
  // JSON.stringify omits undefined fields.
  return JSON.stringify({ policy, at, trigger, from, to, tag, digest, failed, earlier });
}

/** Parses the value of the annotation; undefined if we would not have written it: anybody may write there. */
export function parseLastUpdate(value: unknown): LastUpdate | undefined {
  const { policy, at, trigger, from, to, tag, digest, failed, earlier } = parseObject(value);
  if (!isShort(policy, 64) || !isShort(at, 32) || !isTime(at) || !isTriggerSource(trigger)) return undefined;
  if (!isShort(from, maxImageLength) || !isShort(to, maxImageLength)) return undefined;
  const changes = Array.isArray(earlier) ? earlier.slice(0, maxImages).flatMap(readChange) : [];
  const image = {
    from,
    to,
    ...(isShort(tag, maxLengths.tag) && { tag }),
    ...(isShort(digest, maxLengths.digest) && { digest }),
    ...(isShort(failed, maxLengths.digest) && { failed }),
  };
  return { policy, at, trigger, ...image, ...(changes.length > 0 && { earlier: changes }) };
}

function readChange(value: unknown): RecentChange[] {
  const { tag, digest, at } = toObject(value);
  if (!isShort(tag, maxLengths.tag) || !Array.isArray(at)) return [];
  const times = at.slice(0, maxTimes).filter((time: unknown) => isShort(time, 32) && isTime(time));
  return times.length === 0 ? [] : [{ tag, ...(isShort(digest, maxLengths.digest) && { digest }), at: times }];
}

/** The policy's last change to a container, if it still holds. */
export function ownUpdate(container: WorkloadContainer, policy: string): LastUpdate | undefined {
  return container.lastUpdate?.policy === policy ? heldUpdate(container) : undefined;
}

/**
 * The last change to a container, while the image that we wrote still runs; undefined if it does not, or if the previous image has
 * another name: the annotation must not be a way to make us run something else.
 */
export function heldUpdate(container: WorkloadContainer): LastUpdate | undefined {
  if (container.lastUpdate === undefined) return undefined;
  const known = evaluated.get(container);
  if (known !== undefined) return known.held;
  const held = evaluate(container);
  evaluated.set(container, { held });
  return held;
}

/** Cached, because hundreds of workloads are evaluated whenever one of them changes. */
const evaluated = new WeakMap<WorkloadContainer, { readonly held: LastUpdate | undefined }>();

function evaluate({ image, imageOwner, lastUpdate }: WorkloadContainer): LastUpdate | undefined {
  if (lastUpdate === undefined || imageOwner !== fieldManager) return undefined;
  const [runs, to, from] = [image, lastUpdate.to, lastUpdate.from].map((text) => tryParseImageReference(text));
  if (runs === undefined || to === undefined || from?.name !== runs.name) return undefined;
  const isSame = runs.digest !== undefined && to.digest !== undefined ? runs.digest === to.digest : runs.tag === to.tag;
  return isSame ? lastUpdate : undefined;
}

function parseObject(value: unknown): Readonly<Record<string, unknown>> {
  try {
    return typeof value === 'string' ? toObject(JSON.parse(value)) : {};
  } catch {
    // Text that we did not write.
    return {};
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}

/** Whole seconds and a year with four digits: adding to the latest possible Date gives an invalid one. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** The name under which the API server records our changes; it distinguishes them from manual ones. */
export const fieldManager = 'image-watcher';
