/** What `lint` says of policies that follow others, from the text of all files. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { runCommand } from './run-command.ts';

const policy = (name: string, spec: object, { namespace = 'shop', ...metadata }: { namespace?: string; annotations?: object } = {}) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name, namespace, ...metadata },
  spec: { image: `harbor.example.com/${name}/web`, select: { semver: { range: '1.x' } }, targets: [{ kind: 'Deployment', name }], ...spec },
});
const follows = (...names: string[]) => ({ select: { proven: { policies: names.map((name) => ({ name })) } }, rollout: {} });
const followable = { update: { pin: 'Digest' }, rollout: {} };

interface Linted {
  readonly problems: readonly { policy: string; field: string; message: string; reason: string }[];
  readonly warnings?: Linted['problems'];
}

async function lint(...policies: object[]) {
  const folder = tempFolder('lint');
  for (const [index, one] of policies.entries()) writeFileSync(join(folder, `${index}.yaml`), JSON.stringify(one));
  const { code, out } = await runCommand('lint', [folder, '-o', 'json']);
  const { problems, warnings = [] } = JSON.parse(out) as Linted;
  const short = (found: Linted['problems']) => found.map(({ policy: of, field, message }) => `${of} ${field}: ${message}`);
  return { code, problems: short(problems), warnings: short(warnings) };
}

test('lint accepts a policy and its follower as the documentation shows them', async () => {
  const found = await lint(policy('staging', followable), policy('production', follows('staging')));
  assert.deepEqual(found, { code: 0, problems: [], warnings: [] });
});

const field = 'shop/production spec.select.proven.policies';
const rows: readonly (readonly [name: string, policies: readonly object[], problem: RegExp | undefined, warning: RegExp | undefined])[] = [
  [
    'pins tags',
    [policy('staging', { rollout: {} })],
    /policies\[0\]: shop\/staging never shows what it runs: it pins tags.*write update\.pin: Digest in it$/,
    undefined,
  ],
  [
    'does not watch its rollouts',
    [policy('staging', { ...followable, rollout: { watch: false } })],
    /staging never shows what it runs: its rollouts are not watched: write rollout\.watch: true in it$/,
    undefined,
  ],
  ['has no rollout, which is watched by default', [policy('staging', { update: { pin: 'Digest' } })], undefined, undefined],
  [
    'writes fields',
    [
      policy('staging', {
        ...followable,
        targets: [
          { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease', name: 'staging', fields: { tag: 'spec.values.image.tag' } },
        ],
      }),
    ],
    /never shows .* whose pods are not known: follow a policy that changes workloads$/,
    undefined,
  ],
  [
    'follows the follower',
    [policy('staging', { ...followable, update: { pin: 'Digest', after: { policies: [{ name: 'production' }] } } })],
    /in a circle: remove one of them/,
    undefined,
  ],
  ['is in no file', [], undefined, /policies\[0\]: shop\/staging is not in these files: nothing is proven until it exists$/],
];
for (const [name, policies, problem, warning] of rows)
  test(`lint ${problem ? 'refuses' : warning ? 'warns of' : 'accepts'} a followed policy that ${name}`, async () => {
    const found = await lint(...policies, policy('production', { ...follows('staging'), update: { pin: 'Digest' } }));
    const own = (all: readonly string[]) => all.filter((one) => one.startsWith(field));
    assert.equal(found.code, problem === undefined ? 0 : 1);
    assert.match(own(found.problems).join('\n'), problem ?? /^$/);
    assert.match(own(found.warnings).join('\n'), warning ?? /^$/);
  });

test('lint warns of a followed policy of another namespace without consent, which its Namespace may give', async () => {
  const production = policy('production', { ...follows(), select: { proven: { policies: [{ namespace: 'staging', name: 'web' }] } } });
  const of = (annotations?: object) => policy('web', followable, { namespace: 'staging', ...(annotations && { annotations }) });
  const { code, warnings } = await lint(of(), production);
  assert.equal(code, 0);
  assert.match(
    warnings.join(),
    /staging\/web is of another namespace, and does not consent itself: annotate it, or its Namespace, with operator\S+: "shop"$/,
  );
  assert.deepEqual((await lint(of({ 'operator.technomad.dev/allow-policies-from': 'shop' }), production)).warnings, []);
});

test('lint refuses fields that a follower cannot have, as the API server does', async () => {
  const staging = policy('staging', followable);
  const pinned = await lint(staging, policy('production', { ...follows('staging'), update: { pin: 'Tag' } }));
  assert.match(pinned.problems.join(), /remove pin, or write Digest/);
  const images = { alongside: { images: [{ image: 'harbor.example.com/shop/sidecar', containers: ['sidecar'] }], match: 'SameTag' } };
  assert.match((await lint(staging, policy('production', { ...follows('staging'), ...images }))).problems.join(), /alongside/);
});
