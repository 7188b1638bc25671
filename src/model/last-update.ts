/**
 * What we did to a container last, as its workload carries it: an annotation for each container, written by the same request as the image. So what runs
 * by our hand, since when, and what ran before is known of any number of workloads, and after a crash. One for each, because two policies may
 * change two containers of a workload at the same moment; and whichever policy writes it keeps what the others did within the hour, so that changes that
 * undo each other are counted where they happen.
 */
import { tryParseImageReference } from './image-reference.ts';
import type { TriggerSource } from './policy-status.ts';
import { fieldManager } from './field-manager.ts';
import { toSeconds } from './status-text.ts';
import { findContainer, readVolumeName, type Workload, type WorkloadContainer, type ContainerChange } from './workload.ts';

export interface LastUpdate {
  /** The uid of the policy. */
  readonly policy: string;
  readonly at: string;
  readonly trigger: TriggerSource;
  readonly from: string;
  /** What was asked for; admission may have made another image of it. */
  readonly to: string;
  /** What was selected, where the image does not show it: of fields that hold a digest alone. */
  readonly tag?: string;
  /** What the tag pointed to. */
  readonly digest?: string;
  /** What the container was changed to within the hour before, by any policy. */
  readonly earlier?: readonly RecentChange[];
}

/** An image that a container was changed to, and when: the latest first. */
export interface RecentChange {
  readonly tag: string;
  readonly digest?: string;
  readonly at: readonly string[];
}

/** For how long a change counts as one of a loop. */
export const recentMs = 3_600_000;

/** Clocks of replicas differ by less; what is further ahead was written by somebody else. */
const maxSkewMs = 300_000;
/** Whoever may write the workload, and how many policies there may be, must not decide how long the annotation is. */
const maxImages = 8;
const maxTimes = 10;
const maxImageLength = 512;
const triggers: Readonly<Record<TriggerSource, true>> = {
  Webhook: true,
  Poll: true,
  PolicyChange: true,
  TargetChange: true,
  SecretChange: true,
  WaitOver: true,
  Approval: true,
  Rollback: true,
  Request: true,
};

/** The annotation of a container, an image volume, or the fields that are shown as one; undefined where the API server would not take its name. */
export function updateAnnotation(container: string): string | undefined {
  const volume = readVolumeName(container);
  const name = (volume ?? container).replaceAll(/[^A-Za-z0-9_.-]/g, '.').replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  // It has no second slash, and no room for more than the name of a volume.
  return name === '' ? undefined : `${volume === undefined ? '' : 'volumes.'}last-update.operator.technomad.dev/${name}`;
}

/** What a workload remembers of our last change to a container, or to the fields that are shown as one. */
export function lastUpdateOf(workload: Workload, container: string): LastUpdate | undefined {
  return findContainer(workload, container)?.lastUpdate ?? workload.fieldUpdates?.get(container);
}

/** The changes with what their workload is to remember of them; nothing where an image is of absurd length. */
export function withUpdates(
  workload: Workload,
  changes: readonly ContainerChange[],
  { policy, trigger, at, tag, digest }: { policy: string; trigger: TriggerSource; at: Date; tag?: string; digest?: string | undefined },
): ContainerChange[] {
  return changes.map((change) => {
    const { container, from, to } = change;
    if (Math.max(from.length, to.length) > maxImageLength) return change;
    const earlier = recentChanges(lastUpdateOf(workload, container), at);
    const isHidden = tag !== undefined && tryParseImageReference(to)?.tag === undefined;
    const image = { from, to, ...(isHidden && { tag }), ...(digest !== undefined && { digest }) };
    return { ...change, update: { policy, at: toSeconds(at), trigger, ...image, ...(earlier.length > 0 && { earlier }) } };
  });
}

/** The tag that a container was changed to; empty where that was none. */
export function updatedTag({ to, tag }: LastUpdate): string {
  return tryParseImageReference(to)?.tag ?? tag ?? '';
}

/** What a container was changed to within the hour before `now`, the last change included; what came most often first, because that is what a loop is made of. */
export function recentChanges(last: LastUpdate | undefined, now: Date): RecentChange[] {
  if (last === undefined) return [];
  const { digest, at, earlier = [] } = last;
  const tag = updatedTag(last);
  const before = earlier.find((one) => one.tag === tag && one.digest === digest);
  const latest = { tag, ...(digest !== undefined && { digest }), at: [at, ...(before?.at ?? [])] };
  const isRecent = (time: string) => {
    const age = now.getTime() - Date.parse(time);
    return age < recentMs && age >= -maxSkewMs;
  };
  return [latest, ...earlier.filter((one) => one !== before)]
    .map((one) => ({ ...one, at: one.at.filter(isRecent).slice(0, maxTimes) }))
    .filter((one) => one.tag !== '' && one.at.length > 0)
    .toSorted((a, b) => b.at.length - a.at.length)
    .slice(0, maxImages);
}

/** The annotation's value. */
export function formatLastUpdate({ policy, at, trigger, from, to, tag, digest, earlier }: LastUpdate): string {
  // What is undefined is left out.
  return JSON.stringify({ policy, at, trigger, from, to, tag, digest, earlier });
}

/** Reads the annotation's value; undefined for what we would not have written: anybody may write there. */
export function parseLastUpdate(value: unknown): LastUpdate | undefined {
  const { policy, at, trigger, from, to, tag, digest, earlier } = parseObject(value);
  if (!isShort(policy, 64) || !isShort(at, 32) || !isTime(at) || !isTrigger(trigger)) return undefined;
  if (!isShort(from, maxImageLength) || !isShort(to, maxImageLength)) return undefined;
  const changes = Array.isArray(earlier) ? earlier.slice(0, maxImages).flatMap(readChange) : [];
  const image = { from, to, ...(isShort(tag, 128) && { tag }), ...(isShort(digest, 160) && { digest }) };
  return { policy, at, trigger, ...image, ...(changes.length > 0 && { earlier: changes }) };
}

function readChange(value: unknown): RecentChange[] {
  const { tag, digest, at } = toObject(value);
  if (!isShort(tag, 128) || !Array.isArray(at)) return [];
  const times = at.slice(0, maxTimes).filter((time: unknown) => isShort(time, 32) && isTime(time));
  return times.length === 0 ? [] : [{ tag, ...(isShort(digest, 160) && { digest }), at: times }];
}

/** What a policy did to a container last, while that still holds. */
export function ownUpdate(container: WorkloadContainer, policy: string): LastUpdate | undefined {
  return container.lastUpdate?.policy === policy ? heldUpdate(container) : undefined;
}

/**
 * What was done to a container last, while it runs by our hand what was made of it; undefined where it does not, or where what ran before was of
 * another name: the annotation is no way to have us run something else.
 */
export function heldUpdate(container: WorkloadContainer): LastUpdate | undefined {
  if (container.lastUpdate === undefined) return undefined;
  const known = judged.get(container);
  if (known !== undefined) return known.held;
  const held = judge(container);
  judged.set(container, { held });
  return held;
}

/** Hundreds of workloads are asked at each change of one of them. */
const judged = new WeakMap<WorkloadContainer, { readonly held: LastUpdate | undefined }>();

function judge({ image, imageOwner, lastUpdate }: WorkloadContainer): LastUpdate | undefined {
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
    // Somebody else's text.
    return {};
  }
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}

/** Whole seconds of a year with four digits: what is added to the last moment that there is makes no time any more. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text));
}

function isTrigger(value: unknown): value is TriggerSource {
  return typeof value === 'string' && Object.hasOwn(triggers, value);
}
