/**
 * Which fields of a v1 spec this version does not act on. A pure judgement; every field of the schema is in the table, and a test holds them
 * together, so that a new field cannot be forgotten. A field that is not in the table is one of a newer version.
 */

/** What the fields of a spec mean for this version: `refused` ones forbid to act at all, `idle` ones only say more than is done. */
export interface NotYetActing {
  readonly refused: readonly string[];
  readonly idle: readonly string[];
}

/**
 * acts: it is done · within: its own fields tell · adds: left undone, nothing is changed that should not be ·
 * restricts: left undone, something would be changed that should not be, or not in that way.
 */
type Effect = 'acts' | 'within' | 'adds' | 'restricts';
type Judge = (value: unknown) => Effect;

/** Every field below `spec`; `[]` stands for the entries of a list. What is below a field that is decided as a whole is not listed. */
export const fieldEffects: Readonly<Record<string, Effect | Judge>> = {
  image: 'acts',
  select: 'within',
  'select.semver': 'within',
  'select.semver.range': 'acts',
  'select.semver.prereleases': 'acts',
  'select.digest': 'within',
  'select.digest.tag': 'acts',
  'select.newest': 'acts',
  'select.alphabetical': 'within',
  'select.alphabetical.order': 'acts',
  'select.numerical': 'within',
  'select.numerical.order': 'acts',
  tags: 'within',
  'tags.allow': 'acts',
  'tags.extract': 'acts',
  'tags.ignore': 'acts',
  platforms: 'acts',
  minAge: 'acts',
  pullSecrets: 'acts',
  targets: 'within',
  'targets[]': 'within',
  'targets[].apiVersion': 'acts',
  'targets[].kind': 'acts',
  'targets[].name': 'acts',
  'targets[].selector': 'acts',
  'targets[].namespace': 'acts',
  'targets[].containers': 'acts',
  'targets[].initContainers': 'acts',
  'targets[].fields': 'acts',
  update: 'within',
  'update.mode': 'acts',
  'update.pin': 'acts',
  'update.allowDowngrade': 'acts',
  'update.windows': 'acts',
  rollout: 'within',
  'rollout.watch': 'acts',
  'rollout.timeout': 'acts',
  'rollout.onFailure': 'acts',
  'rollout.maxParallel': 'acts',
  verify: 'within',
  'verify.cosign': 'within',
  'verify.cosign.keys': 'acts',
  'verify.cosign.keyless': 'acts',
  poll: 'within',
  'poll.interval': 'acts',
  suspend: 'acts',
};

/** Judges a spec as it was written (before a schema drops what it does not know); of any shape, never throws. */
export function notYetActing(spec: unknown): NotYetActing {
  const judged = [...judgeParts(spec, { field: '', path: 'spec' })];
  const having = (wanted: Effect) => judged.flatMap(({ effect, what }) => (effect === wanted ? [what] : []));
  return { refused: having('restricts'), idle: having('adds') };
}

interface Place {
  /** As in the table. */
  readonly field: string;
  /** As a user reads it. */
  readonly path: string;
}

function* judgeParts(value: unknown, place: Place): Generator<{ effect: Effect; what: string }> {
  for (const [inner, at] of partsOf(value, place)) {
    if (isNothing(inner)) continue;
    const entry = Object.hasOwn(fieldEffects, at.field) ? fieldEffects[at.field] : undefined;
    const effect = (typeof entry === 'function' ? entry(inner) : entry) ?? 'restricts';
    if (effect === 'within') yield* judgeParts(inner, at);
    else yield { effect, what: typeof inner === 'string' ? `${at.path} "${inner.slice(0, 64)}"` : at.path };
  }
}

function partsOf(value: unknown, { field, path }: Place): [inner: unknown, at: Place][] {
  if (Array.isArray(value)) return value.map((inner: unknown, index) => [inner, { field: `${field}[]`, path: `${path}[${index}]` }]);
  if (typeof value !== 'object' || value === null) return [];
  const prefix = field === '' ? '' : `${field}.`;
  return Object.entries(value).map(([key, inner]) => [inner, { field: prefix + key, path: `${path}.${key}` }]);
}

/** An empty list or text says nothing. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
