/**
 * The status in both versions. The v1 status travels in the v1alpha1 status, in one preserved field, and never in metadata: the API server keeps the old status on
 * every write that is not to /status, so only those who may write imagepolicies/status can change it.
 */
import { defined, isNestedWithin, isObject, textOf, wholeNumberOf, withField, type JsonObject } from './read-json.ts';

const conditionFields = ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration'];
const maxDepth = 64;
/** The service writes at most a fifth of it; without a bound, an object of twice the size might not fit into etcd. */
const maxCarriedBytes = 512 * 1024;

/** The v1alpha1 status of a v1 status, with the complete v1 status in its field `v1`. */
export function writeOldStatus(status: JsonObject): JsonObject {
  return defined({ ...projectStatus(status), v1: isCarried(status) ? status : undefined });
}

/** The v1 status of a v1alpha1 status: what it carries, but for the leaves that were written since. */
export function readOldStatus(raw: JsonObject): JsonObject {
  const carried = raw['v1'];
  const base = isObject(carried) && isNestedWithin(carried, maxDepth) ? carried : {};
  return mergeStatus(base, projectStatus(base), raw);
}

function isCarried(status: JsonObject): boolean {
  return isNestedWithin(status, maxDepth) && Buffer.byteLength(JSON.stringify(status)) <= maxCarriedBytes;
}

/** What v1alpha1 shows of a v1 status. */
function projectStatus(status: JsonObject): JsonObject {
  return defined({
    observedGeneration: wholeNumberOf(status['observedGeneration']),
    lastCheckedTime: textOf(status['lastCheckTime']),
    lastAppliedTag: textOf(status['lastAppliedTag']) ?? lastTagOf(status['history']),
    conditions: readConditions(status['conditions']),
  });
}

/** The v1 status after its v1alpha1 view was written: only what the changed leaves stand for is another. */
function mergeStatus(base: JsonObject, shown: JsonObject, raw: JsonObject): JsonObject {
  const written = readLeaves(raw);
  let status = base;
  for (const [old, name] of leaves) {
    if (written[old] !== shown[old]) status = withField(status, name, written[old]);
  }
  if (areSame(written['conditions'], shown['conditions'])) return status;
  return withField(status, 'conditions', mergeConditions(base['conditions'], written['conditions']));
}

const leaves = [
  ['observedGeneration', 'observedGeneration'],
  ['lastCheckedTime', 'lastCheckTime'],
  ['lastAppliedTag', 'lastAppliedTag'],
] as const;

function readLeaves(raw: JsonObject): JsonObject {
  return {
    observedGeneration: wholeNumberOf(raw['observedGeneration']),
    lastCheckedTime: textOf(raw['lastCheckedTime']),
    lastAppliedTag: textOf(raw['lastAppliedTag']),
    conditions: readConditions(raw['conditions']),
  };
}

function lastTagOf(history: unknown): string | undefined {
  const last: unknown = Array.isArray(history) ? history[0] : undefined;
  return isObject(last) ? textOf(last['tag']) : undefined;
}

/** The fields that both versions know: what the API server would prune from the view must not look like an edit. */
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

/** The conditions as written, with what a later version knows about those that were there. */
function mergeConditions(base: unknown, written: unknown): readonly JsonObject[] | undefined {
  const conditions = readConditions(written);
  const known = new Map((Array.isArray(base) ? base.filter(isObject) : []).map((condition) => [condition['type'], condition]));
  return conditions?.map((condition) => {
    const unknown = Object.entries(known.get(condition['type']) ?? {}).filter(([key]) => !conditionFields.includes(key));
    return { ...Object.fromEntries(unknown), ...condition };
  });
}
