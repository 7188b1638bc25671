import type { Origin } from './old-spec.ts';
import { isObject, type JsonObject } from '../../core/model/untyped.ts';

type Check = (value: unknown) => boolean;
type Fields = ReadonlyMap<string, Check>;

const anything: Check = () => true;
const never: Check = () => false;
const isText: Check = (value) => typeof value === 'string';
const isNonEmpty: Check = (value) => typeof value === 'string' && value !== '';
const isOff: Check = (value) => value === false;
const isEmptyList: Check = (value) => Array.isArray(value) && value.length === 0;
const is =
  (wanted: string): Check =>
  (value) =>
    value === wanted;

/**
 * Whether v1alpha1 can express which image is applied to which workload and when. Otherwise its view has a pattern that matches nothing, because an older
 * service must not act on what it cannot see. A spec with any field that is not in this table is hidden. That includes fields of later versions:
 *
 * | field of spec | expressible if |
 * | --- | --- |
 * | select | semver without prereleases, digest of "latest", alphabetical; {} when v1alpha1 said Regex without a pattern |
 * | tags | allow with alphabetical only; no extract, nothing to ignore |
 * | targets | exactly one, a Deployment (or the kind written as v1alpha1) by name, all containers, no init containers or volumes |
 * | update | Automatic, pin as is the default, no downgrades, no windows and no exceptions from them |
 * | platforms, minAge, minAgeUnless, verify, suspend | not set: each blocks images that v1alpha1 would apply |
 * | rollout | anything: it applies after a change, and an older service never watched rollouts |
 * | poll | anything: it does not affect what is selected |
 * | pullSecrets | anything: without them, an older service reads the same repository or nothing |
 */
export function isExpressible(spec: JsonObject, origin: Origin): boolean {
  const select = isObject(spec['select']) ? spec['select'] : undefined;
  if (select === undefined || !hasOnly(select, selectFields)) return false;
  const strategies = Object.keys(select);
  if (strategies.length > 1 || (strategies.length === 0 && origin.pattern !== null && origin.pattern !== '')) return false;
  const isDigest = strategies[0] === 'digest';
  const fields: Fields = new Map([
    ['image', isText],
    ['select', anything],
    ['tags', fieldsAre(strategies[0] === 'alphabetical' ? allowFields : tagsFields)],
    ['platforms', isEmptyList],
    ['minAge', never],
    ['pullSecrets', anything],
    ['targets', (targets) => Array.isArray(targets) && targets.length === 1 && hasOnly(targets[0], targetFields(origin))],
    ['update', fieldsAre(isDigest ? digestUpdateFields : updateFields)],
    ['rollout', anything],
    ['verify', never],
    ['poll', anything],
    ['suspend', isOff],
  ]);
  return isText(spec['image']) && Array.isArray(spec['targets']) && hasOnly(spec, fields);
}

/**
 * Whether a v1 spec could have been written as v1alpha1, regardless of the version in which it was written. Stricter than `isExpressible`: the spec has no
 * field that v1alpha1 lacks.
 */
export function isOfV1alpha1(spec: unknown): boolean {
  return isObject(spec) && isExpressible(spec, {}) && ['pullSecrets', 'rollout'].every((field) => spec[field] === undefined);
}

const selectFields: Fields = new Map([
  [
    'semver',
    fieldsAre(
      new Map([
        ['range', isText],
        ['prereleases', isOff],
      ]),
    ),
  ],
  ['digest', (digest) => isObject(digest) && digest['tag'] === 'latest' && Object.keys(digest).length === 1],
  ['alphabetical', fieldsAre(new Map())],
]);
const tagsFields: Fields = new Map([['ignore', isEmptyList]]);
const allowFields: Fields = new Map([...tagsFields, ['allow', isNonEmpty]]);
const updateFields: Fields = new Map([
  ['mode', is('Automatic')],
  ['pin', is('Tag')],
  ['allowDowngrade', isOff],
  ['windows', isEmptyList],
]);
const digestUpdateFields: Fields = new Map([...updateFields, ['pin', is('Digest')]]);

function targetFields({ kind }: Origin): Fields {
  return new Map([
    ['kind', (value) => value === 'Deployment' || (kind !== undefined && value === kind)],
    ['name', isText],
    ['namespace', isText],
    ['initContainers', isOff],
    ['volumes', isOff],
    ['takeOver', isOff],
  ]);
}

function fieldsAre(fields: Fields): Check {
  return (value) => hasOnly(value, fields);
}

/** Whether every field is known and passes its check. The checks are in a Map, because an object would also have "constructor" and the like. */
function hasOnly(value: unknown, fields: Fields): boolean {
  return isObject(value) && Object.entries(value).every(([key, inner]) => inner === undefined || fields.get(key)?.(inner) === true);
}
