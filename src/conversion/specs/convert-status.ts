/**
 * Converts the status. The v1alpha1 status contains the v1 status in one preserved field. It is never in the metadata: the API server keeps the old status on
 * every write that is not to /status, so only those who may write imagepolicies/status can change it.
 */
import type { z } from 'zod';
import { conditionSchema, type PolicyStatus } from '../../core/model/policy-status.ts';
import type { statusSchema as v1alpha1Status } from '../v1alpha1.ts';
import { defined, isNestedWithin, textOf, wholeNumberOf, withField } from './read-json.ts';
import { isObject, type JsonObject } from '../../core/model/untyped.ts';

const maxDepth = 64;
/** The maximum size of the contained v1 status. The service writes at most a fifth of it. A status that is shown in both shapes must still fit into etcd. */
const maxCarriedBytes = 512 * 1024;

/** A field that the status of both versions has: its name in each, and its reader, which returns undefined for a value of another type. */
interface SharedField {
  readonly old: keyof z.output<typeof v1alpha1Status>;
  readonly name: keyof PolicyStatus;
  readonly read: (value: unknown) => unknown;
}

const sharedFields: readonly SharedField[] = [
  { old: 'observedGeneration', name: 'observedGeneration', read: wholeNumberOf },
  { old: 'lastCheckedTime', name: 'lastCheckTime', read: textOf },
  { old: 'lastAppliedTag', name: 'lastAppliedTag', read: textOf },
  { old: 'conditions', name: 'conditions', read: readConditions },
];

/** The v1alpha1 status of a v1 status, with the complete v1 status in its field `v1`. */
export function writeOldStatus(status: JsonObject): JsonObject {
  return defined({ ...projectStatus(status), v1: isCarried(status) ? status : undefined });
}

/** The v1 status of a v1alpha1 status: the v1 status that it contains, with the fields that were edited since. */
export function readOldStatus(raw: JsonObject): JsonObject {
  const carried = raw['v1'];
  const base = isObject(carried) && isNestedWithin(carried, maxDepth) ? carried : {};
  const shown = projectStatus(base);
  let status = base;
  for (const { old, name, read } of sharedFields) {
    const written = read(raw[old]);
    if (areSame(written, shown[old])) continue;
    status = withField(status, name, name === 'conditions' ? mergeConditions(base['conditions'], written) : written);
  }
  return status;
}

function isCarried(status: JsonObject): boolean {
  return isNestedWithin(status, maxDepth) && Buffer.byteLength(JSON.stringify(status)) <= maxCarriedBytes;
}

/** The fields of v1alpha1 that show a v1 status. */
function projectStatus(status: JsonObject): JsonObject {
  const shown = Object.fromEntries(sharedFields.map(({ old, name, read }) => [old, read(status[name])]));
  return { ...shown, lastAppliedTag: shown['lastAppliedTag'] ?? lastTagOf(status['history']) };
}

function lastTagOf(history: unknown): string | undefined {
  const last: unknown = Array.isArray(history) ? history[0] : undefined;
  return isObject(last) ? textOf(last['tag']) : undefined;
}

const conditionFields = Object.keys(conditionSchema.shape);

/** The conditions, reduced to the fields that both versions have. What the API server prunes from the view must not count as an edit. */
function readConditions(raw: unknown): readonly JsonObject[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return raw.filter(isObject).map((condition) => {
    const fields = conditionFields.map((field) => [field, condition[field]] as const);
    return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string' || typeof value === 'number'));
  });
}

function areSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** The conditions as written, with fields that only a later version knows taken from the former conditions. */
function mergeConditions(base: unknown, written: unknown): readonly JsonObject[] | undefined {
  const known = new Map((Array.isArray(base) ? base.filter(isObject) : []).map((condition) => [condition['type'], condition]));
  return readConditions(written)?.map((condition) => {
    const unknown = Object.entries(known.get(condition['type']) ?? {}).filter(([key]) => !conditionFields.includes(key));
    return { ...Object.fromEntries(unknown), ...condition };
  });
}
