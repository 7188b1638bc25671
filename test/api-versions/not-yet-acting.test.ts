/** Every field of the spec's schema is decided: the walk fails for a new one, in the schema as in the table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldEffects, notYetActing } from '../../src/api-versions/not-yet-acting.ts';
import { toStructuralSchema } from '../../src/api-versions/structural-schema.ts';
import { specSchema, type Spec } from '../../src/api-versions/v1-spec.ts';

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
}

const judge = (spec: object) => notYetActing(spec);
const schema = JSON.parse(JSON.stringify(toStructuralSchema(specSchema))) as Schema;

/** The fields of the schema, down to those that the table decides as a whole. */
function* decidedFields(node: Schema, path = ''): Generator<string> {
  for (const [name, inner] of Object.entries(node.properties ?? {})) yield* visit(inner, path === '' ? name : `${path}.${name}`);
  if (node.items !== undefined) yield* visit(node.items, `${path}[]`);
}

function* visit(node: Schema, path: string): Generator<string> {
  yield path;
  if (fieldEffects[path] === 'within') yield* decidedFields(node, path);
}

test('every field of the schema is in the table, and no other', () => {
  const fields = [...decidedFields(schema)];
  assert.ok(fields.length > 30);
  assert.deepEqual(
    fields.filter((field) => !Object.hasOwn(fieldEffects, field)),
    [],
    'decide what these mean: acts, adds or restricts',
  );
  assert.deepEqual(
    Object.keys(fieldEffects).filter((field) => !fields.includes(field)),
    [],
    'these are not in the schema',
  );
});

const acting: Spec = {
  image: 'shop/web',
  select: { semver: { range: '1.x', prereleases: true } },
  tags: { allow: 'v(.*)', extract: '$1', ignore: ['debug'] },
  targets: [{ kind: 'Deployment', name: 'web', namespace: 'shop', containers: ['web'], initContainers: false, apiVersion: 'apps/v1' }],
  platforms: ['linux/amd64', 'linux/arm64'],
  minAge: '30m',
  update: { mode: 'Automatic', pin: 'Tag', allowDowngrade: true },
  rollout: { watch: true, timeout: '5m', onFailure: 'Hold' },
  poll: { interval: '1h' },
  pullSecrets: [{ name: 'harbor' }],
  suspend: false,
};
const target = { kind: 'Deployment', name: 'web' };

const rows: [field: string, spec: Partial<Spec>, refused: string[], idle?: string[]][] = [
  ['everything that acts', {}, []],
  ['select.digest', { select: { digest: { tag: 'latest' } } }, []],
  ['select.alphabetical', { select: { alphabetical: { order: 'Descending' } } }, []],
  ['select.numerical', { select: { numerical: { order: 'Ascending' } } }, []],
  ['select.newest', { select: { newest: {} } }, []],
  ['targets[].apiVersion', { targets: [{ ...target, apiVersion: 'a.b/v1' }] }, []],
  ['targets[].kind', { targets: [target, { ...target, kind: 'CronJob' }] }, []],
  ['targets[].selector', { targets: [{ kind: 'Deployment', selector: { matchLabels: { a: 'b' } } }] }, []],
  ['targets[].initContainers', { targets: [{ ...target, initContainers: true }] }, []],
  ['targets[].fields', { targets: [{ ...target, fields: { tag: 'spec.tag' } }] }, []],
  ['update.mode: Approval', { update: { mode: 'Approval' } }, []],
  ['update.mode: DryRun', { update: { mode: 'DryRun' } }, []],
  ['update.windows', { update: { windows: [{ from: '09:00', to: '17:00' }] } }, []],
  [
    'verify',
    { verify: { cosign: { keys: [{ secretRef: { name: 'a', key: 'b' } }], keyless: [{ issuer: 'https://a', identity: 'b' }] } } },
    [],
  ],
  ['suspend', { suspend: true }, []],
  ['empty lists', { pullSecrets: [], update: { windows: [] } }, []],
];

for (const [field, spec, refused, idle = []] of rows) {
  test(`${field}: ${refused.length > 0 ? 'refused' : idle.length > 0 ? 'idle' : 'acts'}`, () => {
    const written = judge({ ...acting, ...spec });
    assert.deepEqual([new Set(written.refused), new Set(written.idle)], [new Set(refused), new Set(idle)]);
  });
}

test('what the API server fills in restricts nothing', () => {
  const withDefaults = specSchema.parse({ image: 'shop/web', select: { semver: {} }, targets: [target], update: {}, poll: {} });
  assert.deepEqual(judge(withDefaults), { refused: [], idle: [] });
});

test('every field that does not act has a row', () => {
  const decided = Object.entries(fieldEffects).filter(([, effect]) => effect !== 'acts' && effect !== 'within');
  for (const [field] of decided)
    assert.ok(
      rows.some(([name]) => name.startsWith(field)),
      field,
    );
});

test('a field of a later version is refused, not overlooked', () => {
  const later = { ...acting, canary: { steps: 3 }, update: { ...acting.update, batch: 1 }, verify: { notation: { store: 'a' } } };
  assert.deepEqual(new Set(judge(later).refused), new Set(['spec.canary', 'spec.update.batch', 'spec.verify.notation']));
  assert.deepEqual(judge({ toString: 'x', constructor: {} }).refused, ['spec.toString "x"', 'spec.constructor']);
});
