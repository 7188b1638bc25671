import { type Finding, fieldOf, type CheckContext, has } from '../rules.ts';
import { fieldPathPattern } from '../../model/field-path.ts';
import { checkFields } from '../../model/field-rules.ts';
import type { TargetFields } from '../../model/image-policy.ts';
import { tryParseImageReference } from '../../model/image-reference.ts';
import { isCustomVersion } from '../../model/workload.ts';

const notOurs = ['apiVersion', 'kind', 'metadata', 'status'];

/** A field path that may be written: not what names the object, nor its status. */
export function checkFieldPath(value: unknown): Finding[] {
  const [first = ''] = String(value).split(/[.[]/);
  return notOurs.includes(first)
    ? [{ message: `fields of ${first} are not written: name the field of the spec that holds the image` }]
    : [];
}

/** Only fields that hold images are written: those that are built in, and what the operator allows. What is malformed or no custom resource is told elsewhere. */
export function checkAllowedFields(spec: unknown, { customTargets = [], aliases = new Map() }: CheckContext): Finding[] {
  const targets = fieldOf(spec, 'targets');
  const repository = tryParseImageReference(String(fieldOf(spec, 'image')), aliases)?.repository;
  return (Array.isArray(targets) ? targets : []).flatMap((target: unknown, index): Finding[] => {
    const [apiVersion, kind, fields] = ['apiVersion', 'kind', 'fields'].map((key) => fieldOf(target, key));
    const written = readPaths(fields);
    if (typeof apiVersion !== 'string' || !isCustomVersion(apiVersion) || typeof kind !== 'string' || written === undefined) return [];
    const result = checkFields({ apiVersion, kind }, written, repository, { customTargets, aliases });
    if ('fields' in result) return [];
    const { part, message } = result;
    return [{ keys: ['targets', index, 'fields', ...(part === undefined ? [] : [part])], message, reason: 'FieldNotAllowed' }];
  });
}

/** The paths as they are written; undefined where one of them is none, or where they contradict each other. */
function readPaths(fields: unknown): TargetFields | undefined {
  const paths: { -readonly [part in keyof TargetFields]: string } = {};
  for (const part of ['image', 'repository', 'tag', 'digest'] as const) {
    const path = fieldOf(fields, part);
    if (path === undefined) continue;
    if (typeof path !== 'string' || path.length > 512 || !fieldPathPattern.test(path) || checkFieldPath(path).length > 0) return undefined;
    paths[part] = path;
  }
  const hasTag = paths.tag !== undefined || paths.digest !== undefined;
  const isConsistent = paths.image === undefined ? hasTag : !hasTag && paths.repository === undefined;
  return isConsistent ? paths : undefined;
}

/** With the digest in a field of its own: only what pins digests writes it, so a stale one would go on deciding what runs, and it has no order. */
export function checkPinnedFields(spec: unknown): Finding[] {
  const written = fieldOf(fieldOf(spec, 'update'), 'pin');
  const pin = written ?? (has(fieldOf(spec, 'select'), 'digest') || has(spec, 'verify') ? 'Digest' : 'Tag');
  const targets = fieldOf(spec, 'targets');
  if (!Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown, index): Finding[] => {
    const fields = fieldOf(target, 'fields');
    if (!has(fields, 'digest')) return [];
    const keys = ['targets', index, 'fields', 'digest'];
    if (pin === 'Tag') return [{ keys, message: 'only update.pin: Digest writes a digest: write it, or remove this field' }];
    // Of two digests, nobody knows which one is newer.
    const isComparable = has(fields, 'tag') || has(fieldOf(spec, 'select'), 'digest');
    return isComparable
      ? []
      : [
          {
            keys,
            message: 'a digest alone does not tell what is newer: name the field of the tag as well, or follow a tag with select.digest',
          },
        ];
  });
}
