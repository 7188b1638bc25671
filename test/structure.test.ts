/** What the layout promises (conventions of src/README.md): who imports what, and that nothing is forgotten in a list. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { evidence } from '../src/bases/evidence/index.ts';
import { checks } from '../src/doctor/checks/index.ts';
import { guardTexts } from '../docs/explanations/guards.ts';
import { guards } from '../src/plan/guards/index.ts';
import { strategies } from '../src/select/strategies/index.ts';
import { targets } from '../src/kube/targets.ts';
import { targets as notificationTargets } from '../src/notify/targets/index.ts';
import { providers } from '../src/receive/providers/index.ts';
import { credentialSources } from '../src/registry/credentials/index.ts';
import { rebaseRules } from '../src/model/rebase-rules.ts';
import { rules } from '../src/rebase/rules/index.ts';
import { readSamples } from './receive/providers/read-samples.ts';

const root = join(import.meta.dirname, '..');

interface Import {
  readonly file: string;
  readonly from: string;
  readonly isType: boolean;
}

const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = read(file);
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gm);
  const others = text.matchAll(/\bimport\(?\s*'([^']+)'/g);
  return [
    ...[...statements].map(([, type, from = '']) => ({ file, from, isType: type !== undefined })),
    ...[...others].map(([, from = '']) => ({ file, from, isType: false })),
  ];
}

/** `src/model/errors.ts` for a relative import, the package's name for another. */
function resolve({ file, from }: Import): string {
  if (from.startsWith('.')) return normalize(join(dirname(file), from)).replaceAll('\\', '/');
  const [scope = '', name] = from.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}

const isIn = (path: string, folders: readonly string[]) => folders.some((folder) => path.startsWith(`src/${folder}/`));
const describeImport = (one: Import) => `${one.file} imports ${one.from}`;

test('the import parser finds all imports', () => {
  assert.ok(files.length > 80 && imports.length > 200);
  assert.ok(imports.some(({ file, from }) => file === 'src/select/strategies/semver.ts' && from === 'semver'));
});

/** Which rooms a room may import, types included. compose, cli and the files above them put everything together. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  model: [],
  async: ['model'],
  select: ['model', 'async'],
  plan: ['model', 'select'],
  rollout: ['model', 'plan'],
  status: ['model', 'select', 'plan', 'rollout'],
  doctor: ['model', 'async'],
  telemetry: ['model', 'async'],
  certificates: ['model', 'async'],
  config: ['model', 'receive', 'api-versions'],
  'api-versions': ['model', 'async', 'select', 'telemetry'],
  receive: ['model', 'async', 'telemetry'],
  proxy: ['model'],
  registry: ['model', 'select', 'async', 'proxy'],
  verify: ['model', 'async'],
  bases: ['model', 'select', 'async', 'registry'],
  rebase: ['model', 'select', 'async', 'registry', 'verify'],
  kube: ['model', 'plan', 'rollout', 'async'],
  cluster: ['model', 'plan', 'async', 'kube', 'telemetry', 'api-versions'],
  queue: ['model', 'plan', 'async', 'registry'],
  explain: ['model', 'plan', 'reconcile'],
  api: ['model', 'async', 'queue', 'telemetry', 'doctor', 'explain', 'reconcile'],
  operations: ['async', 'telemetry', 'api'],
  dashboard: ['model', 'telemetry', 'api'],
  reconcile: ['model', 'select', 'plan', 'rollout', 'status', 'async', 'queue', 'telemetry'],
  'base-policies': ['model', 'plan', 'rollout', 'async', 'api-versions', 'bases', 'queue', 'telemetry', 'reconcile', 'triggers'],
  triggers: ['model', 'async', 'queue', 'telemetry'],
  notify: ['model', 'async', 'queue', 'telemetry'],
  poll: ['model', 'select', 'plan', 'rollout', 'status', 'async', 'queue', 'telemetry', 'reconcile'],
};
/** What is decided there hangs on the arguments alone. */
const pureRooms = ['model', 'select', 'plan', 'rollout', 'status', 'doctor'];

test('every room is in the table of arrows', () => {
  const rooms = new Set(files.map((file) => file.split('/')).flatMap(([, room = '', ...rest]) => (rest.length > 0 ? [room] : [])));
  assert.deepEqual([...rooms].sort(), [...Object.keys(arrows), 'cli', 'compose'].sort());
});

for (const [room, below] of Object.entries(arrows)) {
  test(`${room} imports ${below.length === 0 ? 'no other room' : below.join(', ')} only`, () => {
    const own = imports.filter((one) => isIn(one.file, [room]) && one.from.startsWith('.'));
    assert.ok(own.length > 0);
    assert.deepEqual(own.filter((one) => !isIn(resolve(one), [room, ...below])).map(describeImport), []);
  });
}

test('async imports only the errors of the model, and pure rooms import only pure packages', () => {
  const ofAsync = imports.filter((one) => isIn(one.file, ['async']) && isIn(resolve(one), ['model']));
  assert.deepEqual([...new Set(ofAsync.map(resolve))], ['src/model/errors.ts']);
  const packages = imports.filter((one) => isIn(one.file, pureRooms) && !one.from.startsWith('.'));
  assert.deepEqual([...new Set(packages.map(resolve))].sort(), ['node:crypto', 'node:util', 're2js', 'semver', 'zod']);
});

test('pure rooms have no clock, no randomness, no environment, no console and no timers', () => {
  for (const file of files.filter((file) => isIn(file, pureRooms) || file === 'src/async/bounded-map.ts')) {
    assert.doesNotMatch(
      read(file),
      /Date\.now\(|new Date\(\)|Math\.random|performance\.|process\.|console\.|setTimeout|setInterval|fetch\(/,
      file,
    );
  }
});

test('no file is longer than 300 lines', () => {
  assert.deepEqual(
    files.filter((file) => read(file).split('\n').length > 301),
    [],
  );
});

const importers: Record<string, { folders: string[]; types?: string[] }> = {
  fastify: { folders: ['receive', 'operations', 'api', 'api-versions'], types: ['compose', 'dashboard'] },
  bullmq: { folders: ['queue'], types: ['compose'] },
  ioredis: { folders: ['queue'], types: ['compose'] },
  '@kubernetes/client-node': { folders: ['kube'] },
  // receive: keys and certificates of senders, in one file.
  undici: { folders: ['proxy', 'registry', 'kube', 'receive'] },
  '@aws-sdk/client-ecr': { folders: ['registry'] },
  jose: { folders: ['receive', 'dashboard'] },
  'openid-client': { folders: ['dashboard'] },
  '@peculiar/x509': { folders: ['certificates'] },
  pino: { folders: ['telemetry'] },
  liquidjs: { folders: ['notify'] },
  '@opentelemetry/api': { folders: ['telemetry'] },
  '@opentelemetry/core': { folders: ['telemetry'] },
  '@opentelemetry/exporter-trace-otlp-proto': { folders: ['telemetry'] },
  '@opentelemetry/resources': { folders: ['telemetry'] },
  '@opentelemetry/sdk-trace': { folders: ['telemetry'] },
  ...Object.fromEntries(['bundle', 'protobuf-specs', 'verify'].map((name) => [`@sigstore/${name}`, { folders: ['verify'] }])),
  '@prometheus-io/client': { folders: ['telemetry'], types: ['operations'] },
  commander: { folders: ['cli'] },
  semver: { folders: ['select', 'plan'] },
  re2js: { folders: ['model'] },
};

for (const [name, { folders, types = [] }] of Object.entries(importers)) {
  test(`${name} is imported by ${folders.join(', ')} only`, () => {
    const all = imports.filter((one) => resolve(one) === name);
    assert.ok(all.length > 0, 'nobody imports it');
    const wrong = all.filter(({ file, isType }) => !isIn(file, folders) && !(isType && isIn(file, types)));
    assert.deepEqual(wrong.map(describeImport), []);
  });
}

test('traces are loaded only where they are on', () => {
  const loads = imports.filter((one) => !one.isType && resolve(one) === 'src/telemetry/open-tracing.ts');
  assert.deepEqual(loads.map(describeImport), ['src/telemetry/open-telemetry.ts imports ./open-tracing.ts']);
  assert.match(read('src/telemetry/open-telemetry.ts'), /await import\('\.\/open-tracing\.ts'\)/);
  const others = imports.filter((one) => !one.isType && resolve(one).startsWith('@opentelemetry/'));
  assert.deepEqual([...new Set(others.map(({ file }) => file))], ['src/telemetry/open-tracing.ts']);
});

test('only compose and the commands import every room', () => {
  const rooms = ['receive', 'reconcile', 'registry', 'kube', 'poll', 'verify'];
  const wrong = imports
    .filter((one) => !one.isType && isIn(one.file, ['receive', 'registry', 'kube', 'verify']) && isIn(resolve(one), rooms))
    .filter((one) => {
      const [, room = ''] = one.file.split('/');
      return !isIn(resolve(one), [room]);
    });
  assert.deepEqual(wrong.map(describeImport), []);
});

test('only the configuration reads the environment', () => {
  assert.deepEqual(
    files.filter((file) => /process\s*\.\s*env|\benv\b.*from 'node:process'/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''))),
    ['src/config/environment.ts'],
  );
});

test('only main ends the process', () => {
  assert.deepEqual(
    files.filter((file) => /process\.exit\(|process\.exitCode/.test(read(file))),
    ['src/main.ts'],
  );
});

test('index.ts is only a list, and no file is a collection of leftovers', () => {
  const drawers = files.filter((file) => /^(?:utils?|helpers?|common|types|misc|shared)\.ts$/.test(basename(file)));
  assert.deepEqual(drawers, []);
  for (const file of files.filter((file) => basename(file) === 'index.ts'))
    assert.doesNotMatch(read(file), /^export (?:async )?function|^export \*/m, file);
});

/** The files of a folder whose exports are the members of a list; the others there only serve them. */
function membersIn(folder: string, marker: RegExp): string[] {
  return globSync(`src/${folder}/*.ts`, { cwd: root })
    .filter((file) => basename(file) !== 'index.ts' && marker.test(read(file)))
    .map((file) => basename(file, '.ts'))
    .sort();
}

test('every provider is in the list, under its own id, with samples, a test and the page of its sender', () => {
  assert.deepEqual(providers.map(({ id }) => id).sort(), membersIn('receive/providers', /^export const \w+: Provider = /m));
  assert.deepEqual([...new Set(readSamples().map(({ provider }) => provider))].sort(), providers.map(({ id }) => id).sort());
  for (const { id, documentation } of providers) {
    assert.match(readFileSync(join(root, `test/receive/providers/${id}.test.ts`), 'utf8'), /testProvider\(/);
    assert.ok(URL.canParse(documentation), id);
    const page = readFileSync(join(root, `docs/receivers/${id}.md`), 'utf8');
    assert.match(page, new RegExp(`^# .*\\(\`${id}\`\\)\n`), id);
    assert.ok(page.includes(documentation), `docs/receivers/${id}.md does not have the link to its sender's documentation`);
    assert.ok(readFileSync(join(root, 'docs/receivers.md'), 'utf8').includes(`(receivers/${id}.md) | \`${id}\` |`), id);
  }
});

test('every strategy is in the list, under its own id, with a test', () => {
  assert.deepEqual(Object.keys(strategies).sort(), membersIn('select/strategies', /^export function \w+\(.*\): TagStrategy/m));
  const built = [
    strategies.semver({}),
    strategies.digest({ tag: 'latest' }),
    strategies.newest(),
    strategies.alphabetical(),
    strategies.numerical(),
    strategies.replace({ from: '1.2.3', to: '1.2.3-base.20261123' }),
  ];
  assert.deepEqual(built.map(({ id }) => id).sort(), Object.keys(strategies).sort());
  for (const id of Object.keys(strategies)) assert.ok(existsSync(join(root, `test/select/strategies/${id}.test.ts`)), id);
});

test('every guard is in the list, under its own id, with rows in the table of its test', () => {
  assert.deepEqual(guards.map(({ id }) => id).sort(), membersIn('plan/guards', /^export const \w+: Guard = /m));
  const tests = ['guard-plan.test.ts', ...globSync('guards/*.test.ts', { cwd: join(root, 'test/plan') })]
    .map((file) => readFileSync(join(root, 'test/plan', file), 'utf8'))
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

test('every kind of evidence of a base is in the list, under its own id, with rows in the tables of its tests', () => {
  const names = evidence.map(({ id }) => id.toLowerCase());
  assert.deepEqual(names.toSorted(), membersIn('bases/evidence', /^export const \w+: Evidence = /m));
  const tests = readFileSync(join(root, 'test/bases/evidence.test.ts'), 'utf8');
  for (const { id } of evidence) assert.ok(tests.includes(`by: '${id}'`), id);
});

test('the base of an image is recognized without any input or output', () => {
  const pure = imports.filter(({ file }) => /^src\/bases\/(?:evidence\/|facts\.ts|layers\.ts|recognize-base\.ts)/.test(file)).map(resolve);
  assert.deepEqual(
    [...new Set(pure)].filter((one) => !isIn(one, [...pureRooms, 'bases']) && one !== 'zod'),
    [],
  );
  assert.ok(!pure.some((one) => /^src\/bases\/(?:read-|facts-reader)/.test(one)));
});

test('every rule for rebasing is in the list, under a name of its own, with rows in the table of its test and in the documentation', () => {
  assert.equal(rules.length, membersIn('rebase/rules', /^export const \w+: Rule = /m).length);
  assert.deepEqual(
    rules.map(({ id }) => id),
    rebaseRules,
  );
  const tests = readFileSync(join(root, 'test/rebase/rules.test.ts'), 'utf8');
  const docs = readFileSync(join(root, 'docs/rebase.md'), 'utf8');
  for (const { id, about } of rules) {
    assert.ok(tests.includes(`\n  ${id}: [`), id);
    assert.ok(docs.includes(`| \`${id}\` | ${about} |`), id);
  }
});

test('a rebase is planned without any input or output', () => {
  const io = /^src\/rebase\/(?:rebase-(?:image|for-policy)|read-content)\.ts$/;
  const pure = imports.filter(({ file, isType }) => isIn(file, ['rebase']) && !io.test(file) && !isType).map(resolve);
  const isAllowed = (one: string) =>
    isIn(one, [...pureRooms, 'rebase']) || ['zod', 'node:crypto', 'src/verify/public-keys.ts'].includes(one);
  assert.deepEqual(
    [...new Set(pure)].filter((one) => !isAllowed(one)),
    [],
  );
  assert.ok(!pure.some((one) => io.test(one)));
});

test('every check of the doctor is in the list, under its own id', () => {
  assert.deepEqual(Object.keys(checks).sort(), membersIn('doctor/checks', /^export const \w+: Check</m));
  for (const [name, { id }] of Object.entries(checks)) assert.equal(id, name);
});

test('every target kind is in the list, with a test', () => {
  const declared = [...read('src/kube/targets.ts').matchAll(/^export const (\w+): TargetKind = /gm)].map(([, name]) => name);
  const names = targets.map(({ kind }) => kind.charAt(0).toLowerCase() + kind.slice(1));
  assert.deepEqual(new Set(names), new Set(declared));
  const tests = readFileSync(join(root, 'test/kube/targets/built-in-kinds.test.ts'), 'utf8');
  for (const name of names) assert.ok(tests.includes(`testTarget(${name},`), name);
});

test('every kind of target of notifications is in the list, under its own id, with a row in the documentation', () => {
  const files = membersIn('notify/targets', /^export const \w+: NotificationTarget = /m).map((file) => file.replaceAll('-', ''));
  assert.deepEqual(
    Object.keys(notificationTargets)
      .map((id) => id.toLowerCase())
      .sort(),
    files,
  );
  const docs = readFileSync(join(root, 'docs/notifications.md'), 'utf8');
  for (const [name, { id }] of Object.entries(notificationTargets)) {
    assert.equal(id, name);
    assert.ok(docs.includes(`| \`${id}\` |`), id);
  }
});

test('every source of credentials is in the list, under the name of its file, with a test of its conformance', () => {
  assert.deepEqual(
    Object.keys(credentialSources).sort(),
    membersIn('registry/credentials', /^export function \w+Credentials\([^]*?\): CredentialSource \{$/m),
  );
  for (const id of Object.keys(credentialSources)) {
    assert.match(readFileSync(join(root, `test/registry/credentials/${id}.test.ts`), 'utf8'), /testSource\(/);
  }
});

test('every payload is listed with the samples beside it', () => {
  const folder = join(root, 'test/fixtures/payloads');
  for (const file of globSync('*/*.json', { cwd: folder })) {
    const text = readFileSync(join(folder, dirname(file), 'samples.json'), 'utf8');
    assert.ok(basename(file) === 'samples.json' || text.includes(`"${basename(file)}"`), file);
  }
});
