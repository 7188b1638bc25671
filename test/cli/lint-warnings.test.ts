/** What is valid, and may mean something else than its author thinks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lint } from '../../src/cli/lint.ts';
import { policyText as policy } from './policy-text.ts';

/** Lints a text from the standard input. */
async function run(input: string, ...args: string[]) {
  let out = '';
  const readStandardInput = () => Promise.resolve(input);
  const code = await lint.run(['-', ...args], { out: (text) => void (out += text), err: () => undefined, readStandardInput });
  return { code, out };
}

const semver = (range: string, rest = '') => policy('web').replace('semver: {}', `semver: {range: "${range}"${rest}}`);

test('lint warns of fields that may mean something other than their author expects, with exit code 0', async () => {
  const { code, out } = await run(semver('>=1.0.0-0'));
  assert.equal(code, 0);
  assert.equal(
    out,
    `(standard input)
  (standard input):6:21 warning: shop/web spec.select.semver.range: of prereleases, ">=1.0.0-0" admits only those of 1.0.0: select.semver of v1 admits those of every version in it with prereleases: true

1 policy in 1 file: nothing is wrong, 1 warning
`,
  );
  const json = await run(semver('~1.2.x-0'), '-o', 'json');
  const { problems, warnings } = JSON.parse(json.out) as { problems: unknown[]; warnings: { field: string; message: string }[] };
  assert.deepEqual([problems, warnings.length, warnings[0]?.field], [[], 1, 'spec.select.semver.range']);
  assert.match(warnings[0]?.message ?? '', /^"~1\.2\.x-0" admits no prereleases, although it names one: .* prereleases: true$/);
});

test('lint warns of the same fields in policies of v1alpha1', async () => {
  const { out } = await run(`apiVersion: operator.technomad.dev/v1alpha1
kind: ImagePolicy
metadata: {name: old, namespace: shop}
spec:
  repository: nginx
  tagPolicy: {strategy: SemVer, pattern: ^1.2.0-alpha.0}
  updateTarget: {kind: Deployment, name: web, namespace: shop}
`);
  assert.match(
    out,
    /:6:33 warning: shop\/old spec\.tagPolicy\.pattern: of prereleases, .* only those of 1\.2\.0: .*\n\n.* nothing is wrong, 1 warning\n$/,
  );
});

test('lint does not warn of a range if prereleases are requested or none is named', async () => {
  for (const text of [semver('>=1.0.0-0', ', prereleases: true'), semver('>=1.0.0, <2.0.0')]) {
    const { code, out } = await run(text);
    assert.deepEqual([code, out], [0, '1 policy in 1 file: nothing is wrong\n']);
  }
});

test('lint says what to write instead of "!=" in a range', async () => {
  const { code, out } = await run(semver('>=1.0.0, !=1.2.3'));
  assert.equal(code, 1);
  assert.match(
    out,
    /:6:21 shop\/web spec\.select\.semver\.range: .* tags\.ignore, such as '\^v\?1\\\.2\\\.3\$'\n\n1 policy in 1 file: 1 problem\n$/,
  );
});

const choosing = (select: string, allow: string, more = '') =>
  policy('web', `  tags: {allow: '${allow}'${more}}\n`).replace('semver: {}', select);

for (const [allow, select, instead] of [
  ['prod', 'newest: {}', ['.*prod.*', '^prod$']],
  ['-prod$', 'alphabetical: {}', ['.*-prod$', '^-prod$']],
  ['-[0-9]+$', 'alphabetical: {}', ['.*-[0-9]+$', '^-[0-9]+$']],
  ['^v1\\.', 'alphabetical: {}', ['^v1\\..*', '^v1\\.$']],
  ['^main-', 'newest: {}', ['^main-.*', '^main-$']],
  ['alpine|slim', 'newest: {}', ['.*(?:alpine|slim).*', '^(?:alpine|slim)$']],
  ['rc[0-9]*', 'semver: {}', ['.*rc[0-9]*.*', '^rc[0-9]*$']],
  ['-rc\\.[0-9]+', 'semver: {prereleases: true}', ['.*-rc\\.[0-9]+.*', '^-rc\\.[0-9]+$']],
  ['^v1\\.[0-9]+', 'semver: {}', ['^v1\\.[0-9]+.*', '^v1\\.[0-9]+$']],
  ['^v?2\\.[0-9]', 'semver: {}', ['^v?2\\.[0-9].*', '^v?2\\.[0-9]$']],
  // What matches whole tags, with or without anchors.
  ['^prod$', 'newest: {}', undefined],
  ['main-[0-9a-f]+-[0-9]+', 'alphabetical: {}', undefined],
  ['^main-[a-f0-9]+-(?P<at>[0-9]+)', 'numerical: {}', undefined],
  ['v1\\.[0-9]+\\.[0-9]+', 'semver: {}', undefined],
  ['.*-prod', 'newest: {}', undefined],
  ['[0-9]+', 'numerical: {}', undefined],
  ['\\d\\d\\d\\d', 'numerical: {}', undefined],
  ['[a-z]+-prod$', 'newest: {}', undefined],
  ['latest', 'digest: {tag: latest}', undefined],
] as const) {
  test(`lint ${instead === undefined ? 'accepts' : 'warns that only a search would match'} tags.allow "${allow}" with "${select}"`, async () => {
    const { code, out } = await run(choosing(select, allow), '-o', 'json');
    const { warnings = [] } = JSON.parse(out) as { warnings?: { line: number; column: number; field: string; message: string }[] };
    const [found, whole] = instead ?? [];
    const message = `has to match the whole tag and is not searched for in it: write '${found}' to match longer tags as well, or '${whole}' to match this alone`;
    const ofAllow = warnings.filter(({ field }) => field === 'spec.tags.allow');
    const reportedWarnings = ofAllow.map((warning) => [warning.line, warning.column, warning.field, warning.message]);
    assert.deepEqual([code, reportedWarnings], [0, instead === undefined ? [] : [[9, 10, 'spec.tags.allow', message]]]);
  });
}

test('the pattern that lint suggests matches the tags that a search would match', async () => {
  const { out } = await run(choosing('newest: {}', '-prod$'), '-o', 'json');
  const suggested = /write '([^']+)'/.exec(out)?.[1] ?? '';
  assert.equal(suggested, '.*-prod$');
  assert.equal((await run(choosing('newest: {}', suggested))).out, '1 policy in 1 file: nothing is wrong\n');
});

test('lint checks extracted versions by the extracted part, and the pattern of v1alpha1 at its own field', async () => {
  const extracted = await run(choosing('semver: {}', '^web-(.*)', ', extract: $1'));
  assert.match(extracted.out, /nothing is wrong\n$/);
  const old = policy('old')
    .replace('/v1\n', '/v1alpha1\n')
    .replace(/ {2}image[^]*/, '');
  const spec = `  repository: nginx\n  tagPolicy: {strategy: Regex, pattern: -prod$}\n  updateTarget: {kind: Deployment, name: web, namespace: shop}\n`;
  const { out } = await run(old + spec);
  assert.match(out, /:6:32 warning: shop\/old spec\.tagPolicy\.pattern: has to match the whole tag/);
});
