/** Nothing is forgotten in the lists of core and service: every member of a family is in its list, with a test and a page. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { checks } from '../../src/service/doctor/checks/index.ts';
import { guardTexts } from '../../docs/explanations/guards.ts';
import { guards } from '../../src/core/plan/guards/index.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { kinds } from '../../src/service/checks/ask-check.ts';
import { targets } from '../../src/service/kube/targets.ts';
import { readCheck } from '../../src/service/resources/read-check.ts';
import { checks as checkSchema } from '../../src/service/resources/v1-fields/checks.ts';
import { select } from '../../src/service/resources/v1-fields/select.ts';
import { providers } from '../../src/service/receive/providers/index.ts';
import { credentialSources } from '../../src/service/registry/credentials/index.ts';
import { readSamples } from '../service/receive/providers/read-samples.ts';
import { membersIn, read, root } from './sources.ts';

test('every provider is in the list, under its own id, with samples, a test and the page of its sender', () => {
  assert.deepEqual(providers.map(({ id }) => id).sort(), membersIn('service/receive/providers', /^export const \w+: Provider = /m));
  assert.deepEqual([...new Set(readSamples().map(({ provider }) => provider))].sort(), providers.map(({ id }) => id).sort());
  for (const { id, documentation } of providers) {
    assert.match(readFileSync(join(root, `test/service/receive/providers/${id}.test.ts`), 'utf8'), /testProvider\(/);
    assert.ok(URL.canParse(documentation), id);
    const page = readFileSync(join(root, `docs/receivers/${id}.md`), 'utf8');
    assert.match(page, new RegExp(`^# .*\\(\`${id}\`\\)\n`), id);
    assert.ok(page.includes(documentation), `docs/receivers/${id}.md does not have the link to its sender's documentation`);
    assert.ok(readFileSync(join(root, 'docs/receivers.md'), 'utf8').includes(`(receivers/${id}.md) | \`${id}\` |`), id);
  }
});

test('every strategy is in the list, under its own id, with a test, and a policy can choose it', () => {
  const names = Object.keys(strategies).sort();
  assert.deepEqual(names, membersIn('core/select/strategies', /^export function \w+\([^]*?\): TagStrategy \{$/m));
  assert.deepEqual(Object.keys(select.shape).sort(), names);
  const page = readFileSync(join(root, 'docs/policies/choose-a-tag.md'), 'utf8');
  for (const id of names) {
    assert.ok(read(`src/core/select/strategies/${id}.ts`).includes(`\n    id: '${id}',\n`), id);
    assert.ok(existsSync(join(root, `test/core/select/strategies/${id}.test.ts`)), id);
    assert.ok(page.includes(`\n| [\`${id}\`](#`), `docs/policies/choose-a-tag.md has no row for ${id}`);
  }
});

test('every guard is in the list, under its own id, with rows in the table of its test', () => {
  assert.deepEqual(guards.map(({ id }) => id).sort(), membersIn('core/plan/guards', /^export const \w+: Guard = /m));
  const tests = ['guard-plan.test.ts', ...globSync('guards/*.test.ts', { cwd: join(root, 'test/core/plan') })]
    .map((file) => readFileSync(join(root, 'test/core/plan', file), 'utf8'))
    .join('');
  assert.deepEqual(
    Object.keys(guardTexts),
    guards.map(({ id }) => id),
  );
  const rows = readFileSync(join(root, 'docs/guards.md'), 'utf8').matchAll(/^\| `([a-z-]+)` \| /gm);
  assert.deepEqual(
    Array.from(rows, ([, id]) => id),
    guards.map(({ id }) => id),
    'docs/guards.md has a row for each, in their order',
  );
  for (const { id } of guards) assert.ok(tests.includes(`/guards/${id}.ts'`) || ['cross-namespace', 'consent'].includes(id), id);
});

test('every check of the doctor is in the list under its own id, gets facts, and has all its lines in a test', () => {
  assert.deepEqual(Object.keys(checks).sort(), membersIn('service/doctor/checks', /^export const \w+: Check</m));
  const callers = ['src/service/doctor-facts/make-report.ts', 'src/cli/doctor.ts', 'src/cli/doctor/check-cluster.ts'].map(read).join('');
  const tests = globSync('test/service/doctor/*.test.ts', { cwd: root }).map(read).join('');
  const seen = [...tests.matchAll(/^testAllSeen\((.*)\);$/gm)].flatMap(([, names = '']) => names.split(', '));
  assert.deepEqual(seen.toSorted(), Object.keys(checks).sort());
  for (const [name, { id }] of Object.entries(checks)) {
    assert.equal(id, name);
    assert.match(callers, new RegExp(`\\bchecks\\.${name}\\b`), `nobody gathers the facts for ${name}`);
  }
});

test('every kind of check has a file of its own, a test, a line in the README of its room, a sample that is read, and its place on the page', () => {
  const names = Object.keys(kinds).sort();
  assert.deepEqual(
    names.map((name) => `${name}-check`),
    membersIn('service/checks', /^export (?:async )?function ask[A-Z]/m).filter((file) => file.endsWith('-check')),
  );
  const { spec } = parse(readFileSync(join(root, 'crd/samples/checks.yaml'), 'utf8')) as { spec: { rollout: { checks: unknown } } };
  const samples = checkSchema.parse(spec.rollout.checks).map((check) => readCheck(check).question.kind);
  assert.deepEqual(samples.toSorted(), names);
  const tests = globSync('test/service/checks/*.test.ts', { cwd: root }).map(read).join('');
  const page = readFileSync(join(root, 'docs/checks.md'), 'utf8');
  for (const name of names) {
    assert.ok(tests.includes(`kind: '${name}'`), `test/service/checks asks no ${name}`);
    assert.ok(read('src/service/checks/README.md').includes(`\n| \`${name}-check.ts\` | `), name);
    assert.ok(page.includes(`\n        ${name}:`), `docs/checks.md does not show ${name}`);
  }
});

test('every target kind is in the list, with a test', () => {
  const declared = [...read('src/service/kube/targets.ts').matchAll(/^export const (\w+): TargetKind = /gm)].map(([, name]) => name);
  const names = targets.map(({ kind }) => kind.charAt(0).toLowerCase() + kind.slice(1));
  assert.deepEqual(new Set(names), new Set(declared));
  const tests = readFileSync(join(root, 'test/service/kube/targets/built-in-kinds.test.ts'), 'utf8');
  for (const name of names) assert.ok(tests.includes(`testTarget(${name},`), name);
});

/** How docs/credentials.md names each source of credentials, in the order of its tables. */
const namedSources: Readonly<Record<keyof typeof credentialSources, string>> = {
  'pull-secrets': '| 1 | `spec.pullSecrets` of the policy |',
  'fallback-secret': '| 4 | the fallback Secret, `credentials.secret` |',
  'docker-config-file': '| 5 | a Docker config file, `credentials.dockerConfigFile` |',
  ecr: '| `ecr` |',
  google: '| `google` |',
  azure: '| `azure` |',
};

test('every source of credentials is in the list, under the name of its file, with a test of its conformance, and in the page in its place', () => {
  const page = readFileSync(join(root, 'docs/credentials.md'), 'utf8');
  const places = Object.keys(credentialSources).map((id) => page.indexOf(`\n${namedSources[id as keyof typeof credentialSources]} `));
  assert.ok(!places.includes(-1), String(places));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    Object.keys(credentialSources).sort(),
    membersIn('service/registry/credentials', /^export function \w+Credentials\([^]*?\): CredentialSource \{$/m),
  );
  for (const id of Object.keys(credentialSources)) {
    assert.match(readFileSync(join(root, `test/service/registry/credentials/${id}.test.ts`), 'utf8'), /testSource\(/);
  }
});

test('every payload is listed with the samples beside it', () => {
  const folder = join(root, 'test/fixtures/payloads');
  for (const file of globSync('*/*.json', { cwd: folder })) {
    const text = readFileSync(join(folder, dirname(file), 'samples.json'), 'utf8');
    assert.ok(basename(file) === 'samples.json' || text.includes(`"${basename(file)}"`), file);
  }
});
