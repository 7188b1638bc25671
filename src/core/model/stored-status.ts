/** The status of an ImagePolicy as it is stored, and how it is read. */
import { z } from 'zod';
import { changeSchema, maxListed, statusSchema, type Immutable, type PolicyStatus } from './policy-status.ts';
import { isObject } from './untyped.ts';

/** How many of the changes are stored with a field for each value; the older ones are texts, which cost the API server a fraction. */
export const maxDetailed = 3;
/** A change as JSON, in which a character may take six. */
const maxChangeLength = 32_768;
/** Of the list and of its entries: kubectl explains both. */
const earlier = `The changes before those of the history, the latest first, up to ${maxListed} in all: jq '.status.earlierChanges[] | fromjson'.`;

/** One value for field management, because only this service writes it: owners of single fields would cost the API server a tenth of each write. */
const atomic = { 'x-kubernetes-map-type': 'atomic' };

/** The schema of `status` as it is stored. A write of a status costs the API server about as much as it has fields: so older changes are texts. */
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
/** A status as it is stored. */
export type StoredStatus = Immutable<z.input<typeof storedStatusSchema>>;

const looseStatus = statusSchema.loose();

/**
 * Reads `status`. A field that does not fit the schema is dropped, and one that this version does not know is kept, because a status is written back.
 * An `observedGeneration` that the object has not reached was observed before the object was restored from a backup, and is dropped as well.
 */
export function readStatus(raw: unknown, generation = Number.POSITIVE_INFINITY): PolicyStatus {
  const whole = withWholeHistory(raw);
  const read = looseStatus.safeParse(whole);
  const status = read.success ? read.data : looseStatus.parse(withoutOddFields(whole, read.error));
  const { observedGeneration = 0, ...rest } = status;
  return observedGeneration > generation ? rest : status;
}

/** The fields that hold the history between them: a status of an earlier version has all of it in the first one. */
export const historyFields = ['history', 'earlierChanges'] as const;

/** The status as it is stored; `readStatus` is the reverse. */
export function toStored({ history, ...status }: PolicyStatus): StoredStatus {
  if (history === undefined) return status;
  const earlier = history.slice(maxDetailed).map((entry) => JSON.stringify(entry));
  return { ...status, history: history.slice(0, maxDetailed), ...(earlier.length > 0 && { earlierChanges: earlier }) };
}

/** With all changes in the history, as far as they can be read. */
function withWholeHistory(raw: unknown): unknown {
  if (!isObject(raw) || raw['earlierChanges'] === undefined) return raw;
  const { earlierChanges, ...status } = raw;
  const { history = [] } = status;
  if (!Array.isArray(earlierChanges) || !Array.isArray(history)) return status;
  const earlier = earlierChanges.flatMap((text) => changeSchema.safeParse(readJson(text)).data ?? []);
  return { ...status, history: [...history, ...earlier].slice(0, maxListed) };
}

/** undefined if it is not JSON. */
function readJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** The fields of a status that fit its schema. */
export function withoutOddFields(raw: unknown, { issues }: z.ZodError): Readonly<Record<string, unknown>> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {};
  const odd = new Set(issues.map(({ path: [field] }) => field));
  return Object.fromEntries(Object.entries(raw).filter(([field]) => !odd.has(field)));
}
