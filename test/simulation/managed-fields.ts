/** Who owns which field of an object, as the API server keeps it: the last manager that changed a value, with the whole second of its last change. */
import { isObject, type JsonObject } from '../../src/core/model/untyped.ts';

/** A field, as the steps that lead to it, in JSON. */
type Field = string;

interface Owned {
  readonly time: string;
  readonly fields: ReadonlySet<Field>;
}

export type Managers = ReadonlyMap<string, Owned>;

/** The managers after a change of an object by one of them. */
export function nextManagers(managers: Managers, before: JsonObject, after: JsonObject, manager: string, time: string): Managers {
  const [old, now] = [fieldsIn(before), fieldsIn(after)];
  const changed = new Set([...now].filter(([field, value]) => old.get(field) !== value).map(([field]) => field));
  if (changed.size === 0 && old.size === now.size) return managers;
  const next = new Map<string, Owned>();
  for (const [name, { time: since, fields }] of managers) {
    const kept = new Set([...fields].filter((field) => now.has(field) && (name === manager || !changed.has(field))));
    if (kept.size > 0) next.set(name, { time: since, fields: kept });
  }
  if (changed.size > 0) next.set(manager, { time, fields: new Set([...(next.get(manager)?.fields ?? []), ...changed]) });
  return next;
}

/** As metadata.managedFields. `statusAt`: when a controller last changed the status, if one has. */
export function toManagedFields(managers: Managers, apiVersion: string, statusAt?: string): JsonObject[] {
  const common = { operation: 'Update', apiVersion, fieldsType: 'FieldsV1' };
  const main = [...managers].map(([manager, { time, fields }]) => ({ ...common, manager, time, fieldsV1: toTree(fields) }));
  const status = { ...common, manager: 'kube-controller-manager', subresource: 'status', fieldsV1: { 'f:status': {} } };
  return statusAt === undefined ? main : [...main, { ...status, time: statusAt }];
}

function toTree(fields: ReadonlySet<Field>): JsonObject {
  const root: Record<string, unknown> = {};
  for (const field of fields) {
    let at = root;
    for (const step of field.split('\n')) {
      const known = at[step];
      const next: Record<string, unknown> = isObject(known) ? known : {};
      at[step] = next;
      at = next;
    }
  }
  return root;
}

/** The values that managers own: labels, annotations and the spec. Containers are told by their names. */
function fieldsIn({ metadata, spec }: JsonObject): Map<Field, string> {
  const found = new Map<Field, string>();
  const { labels, annotations } = isObject(metadata) ? metadata : {};
  collect(found, ['f:metadata', 'f:labels'], labels);
  collect(found, ['f:metadata', 'f:annotations'], annotations);
  collect(found, ['f:spec'], spec);
  return found;
}

function collect(found: Map<Field, string>, steps: readonly string[], value: unknown): void {
  if (value === undefined) return;
  if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) collect(found, [...steps, `f:${key}`], member);
  } else if (Array.isArray(value) && value.every((item) => isObject(item) && typeof item['name'] === 'string')) {
    for (const item of value) collect(found, [...steps, `k:${JSON.stringify({ name: item.name })}`], item);
  } else found.set(steps.join('\n'), JSON.stringify(value));
}
