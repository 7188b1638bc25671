/** Checks the fields of custom resources that a policy writes. */
import { artifacts, type Artifact } from '../../../core/model/artifact.ts';
import { isConfigMap } from '../../../core/model/config-map-target.ts';
import { defined } from '../../../core/model/defined.ts';
import { fieldPathPattern } from '../../../core/model/field-path.ts';
import { checkFields, versionFieldsOf } from '../../../core/model/field-rules.ts';
import type { TargetFields } from '../../../core/model/image-policy.ts';
import { tryParseImageReference } from '../../../core/model/image-reference.ts';
import { isObject } from '../../../core/model/untyped.ts';
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
export function checkAllowedFields(spec: unknown, { customTargets = [], aliases = new Map(), namespace: own }: CheckContext): Finding[] {
  const targets = fieldOf(spec, 'targets');
  const repository = tryParseImageReference(String(fieldOf(spec, 'image')), aliases)?.repository;
  return (Array.isArray(targets) ? targets : []).flatMap((target: unknown, index): Finding[] => {
    const [apiVersion, kind, fields] = ['apiVersion', 'kind', 'fields'].map((key) => fieldOf(target, key));
    const written = readPaths(fields);
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || written === undefined) return [];
    if (!isCustomVersion(apiVersion) && !isConfigMap({ apiVersion, kind })) return [];
    const [name, namespace = own] = ['name', 'namespace'].map((key) => textOf(fieldOf(target, key)));
    const object = { apiVersion, kind, ...defined({ name, namespace }) };
    const allowed = checkFields(object, written, { repository, artifact: writtenArtifact(spec) }, { customTargets, aliases });
    if ('fields' in allowed) return digestProblem(spec, allowed.fields).map((one) => ({ ...one, keys: ['targets', index, 'fields'] }));
    const { part, message } = allowed;
    return [{ keys: ['targets', index, 'fields', ...(part === undefined ? [] : [part])], message, reason: 'FieldNotAllowed' }];
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The paths of the fields; undefined if one is malformed, or if they contradict each other. */
function readPaths(fields: unknown): TargetFields | undefined {
  const paths: { -readonly [part in 'image' | 'repository' | 'tag' | 'digest']?: string } = {};
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

/** The form in which a policy writes what it selects. Most fields of charts hold a version alone, so signatures do not ask for digests there. */
export function pinOf(spec: unknown): 'Tag' | 'Digest' {
  const written = fieldOf(fieldOf(spec, 'update'), 'pin');
  if (written === 'Tag' || written === 'Digest') return written;
  const isVerified = has(spec, 'verify') && writtenArtifact(spec) !== 'Chart';
  const select = fieldOf(spec, 'select');
  const isProven = has(select, 'proven') || has(fieldOf(spec, 'update'), 'after');
  return has(select, 'digest') || isProven || isVerified ? 'Digest' : 'Tag';
}

/** What a spec selects; images unless it says otherwise. */
function writtenArtifact(spec: unknown): Artifact {
  const written = fieldOf(spec, 'artifact');
  return artifacts.find((artifact) => artifact === written) ?? 'Image';
}

/** The problem of a policy that writes digests into fields of a chart of which none holds a digest. */
function digestProblem(spec: unknown, { chart, digest }: TargetFields): Finding[] {
  if (chart === undefined || digest !== undefined || pinOf(spec) === 'Tag') return [];
  return [
    {
      message: 'these fields hold no digest: write update.pin: Tag with select.semver, or name a field for the digest',
      reason: 'InvalidPolicy',
    },
  ];
}

/** Checks that a policy for charts or any artifacts writes fields, because containers run images. A chart has no platforms, and only a chart has a provenance. */
export function checkArtifact(spec: unknown): Finding[] {
  const artifact = writtenArtifact(spec);
  const isProven = has(fieldOf(spec, 'verify'), 'provenance');
  const message = 'only Helm charts have a provenance: write artifact: Chart, or remove provenance';
  const unprovable = artifact !== 'Chart' && isProven ? [{ keys: ['verify', 'provenance'], message }] : [];
  return [...unprovable, ...(artifact === 'Image' ? [] : checkOtherThanImage(spec, artifact))];
}

function checkOtherThanImage(spec: unknown, artifact: Artifact): Finding[] {
  const targets = fieldOf(spec, 'targets');
  const without = (Array.isArray(targets) ? targets : []).flatMap((target: unknown, index): Finding[] => {
    const [apiVersion, kind] = ['apiVersion', 'kind'].map((key) => String(fieldOf(target, key)));
    const [path] = versionFieldsOf({ apiVersion: apiVersion ?? '', kind: kind ?? '' });
    const such = path === undefined ? '' : `, such as fields: {tag: ${path.replaceAll('[*]', '[0]')}}`;
    const message = `containers run images: name the fields that hold the version${such}, or remove spec.artifact: ${artifact}`;
    return isObject(target) && !has(target, 'fields') ? [{ keys: ['targets', index], message }] : [];
  });
  if (artifact !== 'Chart' || !has(spec, 'platforms')) return without;
  return [...without, { keys: ['platforms'], message: 'a chart has no platforms: remove platforms' }];
}

/** Checks fields that hold a digest. Only `update.pin: Digest` writes them; otherwise a stale digest would still decide what runs. A digest has no order. */
export function checkPinnedFields(spec: unknown): Finding[] {
  const pin = pinOf(spec);
  const targets = fieldOf(spec, 'targets');
  if (!Array.isArray(targets)) return [];
  return targets.flatMap((target: unknown, index): Finding[] => {
    const fields = fieldOf(target, 'fields');
    if (!has(fields, 'digest')) return [];
    const keys = ['targets', index, 'fields', 'digest'];
    if (pin === 'Tag') return [{ keys, message: 'a digest is written only with update.pin: Digest: write that, or remove this field' }];
    // A target with only a digest is not comparable, because two digests have no order.
    const isComparable = has(fields, 'tag') || has(fieldOf(spec, 'select'), 'digest') || has(fieldOf(spec, 'select'), 'proven');
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
