/** Checks the fields of custom resources that a policy writes. */
import { fieldPathPattern } from '../../../core/model/field-path.ts';
import { checkFields } from '../../../core/model/field-rules.ts';
import type { TargetFields } from '../../../core/model/image-policy.ts';
import { tryParseImageReference } from '../../../core/model/image-reference.ts';
import { isCustomVersion } from '../../../core/model/workload.ts';
import { fieldOf, has, type Finding, type CheckContext } from '../rules.ts';

const neverWritten = ['apiVersion', 'kind', 'metadata', 'status'];

/** Checks that a field path may be written, which means that it is not in the type, the metadata or the status of the object. */
export function checkFieldPath(value: unknown): Finding[] {
  const [first = ''] = String(value).split(/[.[]/);
  return neverWritten.includes(first)
    ? [{ message: `fields of ${first} may not be written: name the field of the spec that holds the image` }]
    : [];
}

/** Checks that fields are built-in image fields or allowed by the operator. Other checks report malformed paths, and kinds that are not custom resources. */
export function checkAllowedFields(spec: unknown, { customTargets = [], aliases = new Map() }: CheckContext): Finding[] {
  const targets = fieldOf(spec, 'targets');
  const repository = tryParseImageReference(String(fieldOf(spec, 'image')), aliases)?.repository;
  return (Array.isArray(targets) ? targets : []).flatMap((target: unknown, index): Finding[] => {
    const [apiVersion, kind, fields] = ['apiVersion', 'kind', 'fields'].map((key) => fieldOf(target, key));
    const written = readPaths(fields);
    if (typeof apiVersion !== 'string' || !isCustomVersion(apiVersion) || typeof kind !== 'string' || written === undefined) return [];
    const allowed = checkFields({ apiVersion, kind }, written, repository, { customTargets, aliases });
    if ('fields' in allowed) return [];
    const { part, message } = allowed;
    return [{ keys: ['targets', index, 'fields', ...(part === undefined ? [] : [part])], message, reason: 'FieldNotAllowed' }];
  });
}

/** The paths of the fields; undefined if one is malformed, or if they contradict each other. */
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

/** Checks fields that hold a digest. Only `update.pin: Digest` writes them; otherwise a stale digest would still decide what runs. A digest has no order. */
export function checkPinnedFields(spec: unknown): Finding[] {
  const written = fieldOf(fieldOf(spec, 'update'), 'pin');
  const pin = written ?? (has(fieldOf(spec, 'select'), 'digest') || has(spec, 'verify') ? 'Digest' : 'Tag');
  const targets = fieldOf(spec, 'targets');
  if (!Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown, index): Finding[] => {
    const fields = fieldOf(target, 'fields');
    if (!has(fields, 'digest')) return [];
    const keys = ['targets', index, 'fields', 'digest'];
    if (pin === 'Tag') return [{ keys, message: 'a digest is written only with update.pin: Digest: write that, or remove this field' }];
    // A target with only a digest is not comparable, because two digests have no order.
    const isComparable = has(fields, 'tag') || has(fieldOf(spec, 'select'), 'digest');
    return isComparable
      ? []
      : [
          {
            keys,
            message:
              'a digest alone does not show which image is newer: name the field of the tag as well, or follow a tag with select.digest',
          },
        ];
  });
}
