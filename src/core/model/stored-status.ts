/** The stored form of the status of an ImagePolicy, and its reader. */
import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { changeSchema, maxListed, statusSchema, type PolicyStatus } from './policy-status.ts';
import { isObject, parseJson } from './untyped.ts';

/** The number of changes that are stored with a field for each value. Older changes are texts, which cost the API server a fraction. */
const maxDetailed = 3;
/** The maximum length of a change as JSON, in which a character may take six. */
const maxChangeLength = 32_768;
/** The description of the list and of its entries, because kubectl explains both. */
const earlier = `The changes before those of the history, the latest first, up to ${maxListed} in all: jq '.status.earlierChanges[] | fromjson'.`;

/** Makes the map one value for field management. Only this service writes it, and owners of single fields would cost the API server a tenth of each write. */
const atomic = { 'x-kubernetes-map-type': 'atomic' };

/** The schema of `status` as it is stored. The cost of a write for the API server grows with the number of fields, so older changes are texts. */
export const storedStatusSchema = statusSchema
  .extend({
    history: z
      .array(changeSchema)
      .max(maxListed)
      .exactOptional()
      .describe(`The last ${maxDetailed} changes, the latest first; those before them are in earlierChanges.`),
    earlierChanges: z.array(z.string().max(maxChangeLength).describe(earlier)).max(maxListed).exactOptional().describe(earlier),
  })
  .describe('What the service found and did.')
  .meta(atomic);
/** A status in the form in which the API server stores it. */
export type StoredStatus = Immutable<z.input<typeof storedStatusSchema>>;

const looseStatus = statusSchema.loose();

/**
 * Reads `status`. A field that does not fit the schema is dropped. A field that this version does not know is kept, because the status is written back. An
 * `observedGeneration` that the object has not reached is from before the object was restored from a backup, and is dropped as well, with the image that was healthy then.
 */
export function readStatus(raw: unknown, generation = Number.POSITIVE_INFINITY): PolicyStatus {
  const whole = withWholeHistory(withoutLongLists(raw));
  const read = looseStatus.safeParse(whole);
  const status = read.success ? read.data : looseStatus.parse(withoutOddFields(whole, read.error));
  const { observedGeneration = 0, healthy: _, ...rest } = status;
  return observedGeneration > generation ? rest : status;
}

/** The two fields that contain the history. A status of an earlier version has all of it in the first one. */
export const historyFields = ['history', 'earlierChanges'] as const;

/** Converts a status to its stored form; `readStatus` converts it back. */
export function toStored({ history, ...status }: PolicyStatus): StoredStatus {
  if (history === undefined) return status;
  const earlier = history.slice(maxDetailed).map((entry) => JSON.stringify(entry));
  return { ...status, history: history.slice(0, maxDetailed), ...(earlier.length > 0 && { earlierChanges: earlier }) };
}

/** The length of the longest list that is read. No list of a status of any kind is as long. */
const maxRead = 256;

/**
 * The status without fields that are, or directly contain, longer lists. The API server refuses them; but each entry of a list that does not fit would be
 * examined and reported, which takes seconds for a megabyte of them.
 */
export function withoutLongLists(raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const fields = Object.entries(raw);
  const kept = fields.filter(([, value]) => !isLong(value) && !(isObject(value) && Object.values(value).some(isLong)));
  return kept.length === fields.length ? raw : Object.fromEntries(kept);
}

function isLong(value: unknown): boolean {
  return Array.isArray(value) && value.length > maxRead;
}

/** The status with all readable changes in the history. */
function withWholeHistory(raw: unknown): unknown {
  if (!isObject(raw) || raw['earlierChanges'] === undefined) return raw;
  const { earlierChanges, ...status } = raw;
  const { history = [] } = status;
  if (!Array.isArray(earlierChanges) || !Array.isArray(history)) return status;
  const earlier = earlierChanges.slice(0, maxListed).flatMap((text) => changeSchema.safeParse(readJson(text)).data ?? []);
  return { ...status, history: [...history, ...earlier].slice(0, maxListed) };
}

/** Parses JSON; undefined for any other value, and for a text that is longer than a change. */
function readJson(text: unknown): unknown {
  return typeof text === 'string' && text.length <= maxChangeLength ? parseJson(text) : undefined;
}

/** A raw status without the fields that do not fit the schema of statuses. */
export function withoutOddFields(raw: unknown, { issues }: z.ZodError): Readonly<Record<string, unknown>> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {};
  const odd = new Set(issues.map(({ path: [field] }) => field));
  return Object.fromEntries(Object.entries(raw).filter(([field]) => !odd.has(field)));
}
