/** Finds who wrote a field, from metadata.managedFields. */
import { fieldsOf } from '../../core/model/untyped.ts';
interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

/** The limit for the entries that are searched for each image. Objects have some ten, and whoever may apply one may do so under thousands of names. */
const maxEntries = 100;

/** The latest entries for the object itself, oldest first. Entries of subresources (status, scale) own no image. */
export function mainEntries(managedFields: unknown): readonly ManagedFields[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .map((entry) => fieldsOf(entry) as ManagedFields)
    .filter((entry) => !entry.subresource)
    .toSorted((a, b) => timeOf(a) - timeOf(b))
    .slice(-maxEntries);
}

/**
 * The manager of a field and when it wrote last, by the field's steps as fieldsV1 writes them (`f:spec`, `k:{"name":"web"}`). Several managers own a field
 * together if each applied the same value; the last of them counts as its owner. Lists without keys are owned as a whole, with all their entries.
 */
export function findOwner(
  entries: readonly ManagedFields[],
  steps: readonly string[],
): Pick<ManagedFields, 'manager' | 'time'> | undefined {
  return entries.findLast(({ fieldsV1 }) => owns(fieldsV1, steps));
}

function owns(fields: unknown, steps: readonly string[]): boolean {
  let value = fields;
  for (const step of steps) {
    const next = fieldsOf(value)[step];
    if (next === undefined) return value !== fields && isLeaf(value);
    value = next;
  }
  return true;
}

function isLeaf(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function timeOf({ time }: ManagedFields): number {
  const parsed = Date.parse(time ?? '');
  return Number.isNaN(parsed) ? 0 : parsed;
}
