import type { Finding } from '../rules.ts';

const notOurs = ['apiVersion', 'kind', 'metadata', 'status'];

/** A field path that may be written: not what names the object, nor its status. */
export function checkFieldPath(value: unknown): Finding[] {
  const [first = ''] = String(value).split(/[.[]/);
  return notOurs.includes(first)
    ? [{ message: `fields of ${first} are not written: name the field of the spec that holds the image` }]
    : [];
}
