/** The columns of ImagePolicy, from which both the definition (`kubectl get`) and `image-watcher get` are made. Pure, and without schemas, so that commands start fast. */
import type { Column } from './kinds.ts';

/** The JSON path of the condition Ready, and the columns that every kind with conditions has. */
const ready = '.status.conditions[?(@.type=="Ready")]';
export const readyColumns: readonly Column[] = [
  { name: 'Ready', type: 'string', jsonPath: `${ready}.status` },
  { name: 'Reason', type: 'string', jsonPath: `${ready}.reason` },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Message', type: 'string', jsonPath: `${ready}.message`, priority: 1 },
];

/** The columns of one version of ImagePolicy. `image` and `status` are JSON paths: of the image, and of what has the fields of the v1 status. */
export function policyColumns({ image, status }: { readonly image: string; readonly status: string }): readonly Column[] {
  // The names of columns are one word each, because kubectl cuts no column.
  return [
    { name: 'Image', type: 'string', jsonPath: image },
    { name: 'Running', type: 'string', jsonPath: `${status}.running` },
    { name: 'Latest', type: 'string', jsonPath: `${status}.latest.tag` },
    ...readyColumns,
  ];
}

/** The columns of v1. */
export const v1Columns = policyColumns({ image: '.spec.image', status: '.status' });

/** A step of a JSON path as the columns use them: a field, or the entry of a list that has this type. */
const step = /\.(\w+)|\[\?\(@\.type=="(\w+)"\)\]/g;

/** The value of a column, as the API server reads it from an object; undefined if the object has none. */
export function valueOf(object: unknown, { jsonPath }: Column): unknown {
  return jsonPath.matchAll(step).reduce<unknown>((value, [, field, type]) => {
    if (field === undefined) return Array.isArray(value) ? value.find((entry) => fieldOf(entry, 'type') === type) : undefined;
    return fieldOf(value, field);
  }, object);
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined;
}
