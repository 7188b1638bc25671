/** The annotation in which a workload records our last change to a container (`last-update.ts`): its name, and its value as a text. */
import { defined } from './defined.ts';
import { parseJson } from './untyped.ts';
import { limits, type LastUpdate, type PastChange, type PastCompanion, type RecentChange, type Retry } from './last-update.ts';
import { isTriggerSource } from './policy-status.ts';
import { maxLengths } from './status-fields.ts';
import { readVolumeName } from './workload.ts';

/** The maximum length of the annotation; we never write more. The API server stores 256 KiB, which take too long to parse if they are nested deeply. */
const maxAnnotation = 32_768;

/** The annotation for a container, an image volume, or a group of fields; undefined if the API server would reject its name. */
export function updateAnnotation(container: string): string | undefined {
  const volume = readVolumeName(container);
  const name = (volume ?? container).replaceAll(/[^A-Za-z0-9_.-]/g, '.').replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  // The name of an annotation has no second slash, and no room for more than the name of a volume.
  return name === '' ? undefined : `${volume === undefined ? '' : 'volumes.'}last-update.operator.technomad.dev/${name}`;
}

/** Formats the value of the annotation. */
export function formatLastUpdate({
  policy,
  at,
  trigger,
  from,
  to,
  tag,
  digest,
  setDigest,
  alongside,
  failed,
  left,
  retry,
  earlier,
  event,
  before,
}: LastUpdate): string {
  // Undefined fields are omitted by JSON.stringify.
  return JSON.stringify({ policy, at, trigger, from, to, tag, digest, setDigest, alongside, failed, left, retry, earlier, event, before });
}

/** Parses the value of the annotation; undefined if it is not one of ours. Anybody may write the annotation. */
export function parseLastUpdate(value: unknown): LastUpdate | undefined {
  const fields = parseObject(value);
  const [change] = readPastChange(fields);
  if (change === undefined) return undefined;
  const { failed, left, retry: tried, earlier, before } = fields;
  const changes = Array.isArray(earlier) ? earlier.slice(0, limits.maxImages).flatMap(readChange) : [];
  const retry = readRetry(tried);
  const others = Array.isArray(before) ? before.slice(0, limits.maxBefore).flatMap(readPastChange) : [];
  return {
    ...change,
    ...(isShort(failed, maxLengths.digest) && { failed }),
    ...(isShort(left, maxLengths.digest) && { left }),
    ...defined({ retry }),
    ...(changes.length > 0 && { earlier: changes }),
    ...(others.length > 0 && { before: others }),
  };
}

function readPastChange(value: unknown): PastChange[] {
  const { policy, at, trigger, from, to, tag, digest, setDigest, alongside, event } = toObject(value);
  if (!isShort(policy, 64) || !isShort(at, 32) || !isTime(at) || !isTriggerSource(trigger)) return [];
  if (!isShort(from, limits.maxImageLength) || !isShort(to, limits.maxImageLength)) return [];
  const companions = Array.isArray(alongside) ? alongside.slice(0, limits.maxAlongside).flatMap(readCompanion) : [];
  return [
    {
      policy,
      at,
      trigger,
      from,
      to,
      ...(isShort(tag, maxLengths.tag) && { tag }),
      ...(isShort(digest, maxLengths.digest) && { digest }),
      ...(isShort(setDigest, maxLengths.digest) && { setDigest }),
      ...(companions.length > 0 && { alongside: companions }),
      ...(isEvent(event) && { event }),
    },
  ];
}

function readCompanion(value: unknown): PastCompanion[] {
  const { container, from, to } = toObject(value);
  const isRead = isShort(container, 71) && isShort(from, limits.maxImageLength) && isShort(to, limits.maxImageLength);
  return isRead ? [{ container, from, to }] : [];
}

/** Whether a value has the form of a push id. */
function isEvent(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,128}$/.test(value);
}

function readRetry(value: unknown): Retry | undefined {
  const { failures, generation, why } = toObject(value);
  if (!isCount(failures) || !isCount(generation) || !isShort(why, limits.maxWhyLength)) return undefined;
  return { failures, generation, why };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function readChange(value: unknown): RecentChange[] {
  const { tag, digest, at } = toObject(value);
  if (!isShort(tag, maxLengths.tag) || !Array.isArray(at)) return [];
  const times = at.slice(0, limits.maxTimes).filter((time: unknown) => isShort(time, 32) && isTime(time));
  return times.length === 0 ? [] : [{ tag, ...(isShort(digest, maxLengths.digest) && { digest }), at: times }];
}

function parseObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'string' && value.length <= maxAnnotation ? toObject(parseJson(value)) : {};
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}

/** Whether a text is a time as we write it. The year has four digits, because adding to the latest possible Date gives an invalid one. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(text) && !Number.isNaN(Date.parse(text));
}
