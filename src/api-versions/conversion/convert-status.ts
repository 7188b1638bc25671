import { defined, isObject, textOf, wholeNumberOf, withField, type JsonObject } from './read-json.ts';

const conditionFields = ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration'];

/** The older shape of a v1 status. */
export function projectStatus(status: JsonObject): JsonObject {
  return defined({
    observedGeneration: wholeNumberOf(status['observedGeneration']),
    lastCheckedTime: textOf(status['lastCheckTime']),
    lastAppliedTag: textOf(status['lastAppliedTag']) ?? lastTagOf(status['history']),
    conditions: readConditions(status['conditions']),
  });
}

/** The v1 status after its v1alpha1 view was written: only what the changed leaves stand for is another. */
export function mergeStatus(base: JsonObject, shown: JsonObject, raw: JsonObject): JsonObject {
  const written = readOldStatus(raw);
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

function readOldStatus(raw: JsonObject): JsonObject {
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
