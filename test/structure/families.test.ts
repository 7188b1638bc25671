/** Nothing is forgotten in the lists of core and service: every member of a family is in its list, with a test and a page. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { checks } from '../../src/service/doctor/checks/index.ts';
import { guardTexts } from '../../docs/explanations/guards.ts';
import { guards } from '../../src/core/plan/guards/index.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { targets } from '../../src/service/kube/targets.ts';
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

test('every strategy is in the list, under its own id, with a test', () => {
  assert.deepEqual(Object.keys(strategies).sort(), membersIn('core/select/strategies', /^export function \w+\(.*\): TagStrategy/m));
  const built = [
    strategies.semver({}),
    strategies.digest({ tag: 'latest' }),
    strategies.newest(),
    strategies.alphabetical(),
    strategies.numerical(),
    strategies.replace({ from: '1.2.3', to: '1.2.3-base.20261123' }),
  ];
  assert.deepEqual(built.map(({ id }) => id).sort(), Object.keys(strategies).sort());
  for (const id of Object.keys(strategies)) assert.ok(existsSync(join(root, `test/core/select/strategies/${id}.test.ts`)), id);
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
  const docs = readFileSync(join(root, 'docs/guards.md'), 'utf8');
  for (const { id } of guards) {
    assert.ok(tests.includes(`/guards/${id}.ts'`) || ['cross-namespace', 'consent'].includes(id), id);
    assert.ok(docs.includes(`\`${id}\``), `docs/guards.md does not tell of ${id}`);
  }
});

test('every check of the doctor is in the list, under its own id', () => {
  assert.deepEqual(Object.keys(checks).sort(), membersIn('service/doctor/checks', /^export const \w+: Check</m));
  for (const [name, { id }] of Object.entries(checks)) assert.equal(id, name);
});

test('every target kind is in the list, with a test', () => {
  const declared = [...read('src/service/kube/targets.ts').matchAll(/^export const (\w+): TargetKind = /gm)].map(([, name]) => name);
  const names = targets.map(({ kind }) => kind.charAt(0).toLowerCase() + kind.slice(1));
  assert.deepEqual(new Set(names), new Set(declared));
  const tests = readFileSync(join(root, 'test/service/kube/targets/built-in-kinds.test.ts'), 'utf8');
  for (const name of names) assert.ok(tests.includes(`testTarget(${name},`), name);
});

test('every source of credentials is in the list, under the name of its file, with a test of its conformance', () => {
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
