import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { simulate } from '../../src/cli/simulate.ts';
import { isDigest } from '../../src/core/model/image-reference.ts';
import { providerIds } from '../../src/service/receive/providers/index.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { readSamples, sampleSecret, type Sample } from '../service/receive/providers/read-samples.ts';

const folder = tempFolder('simulate');

function writeFile(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const code = await simulate.run(args, { out: (text) => void (out += text), err: (text) => assert.fail(text) });
  return { code, out };
}

interface Output {
  readonly authenticated: string;
  readonly decision: string;
  readonly malformed?: string;
  readonly refused?: string;
  readonly pushes: readonly Record<string, string>[];
  readonly ignored: readonly { reason: string }[];
}

async function runJson(...args: string[]): Promise<Output & { code: number }> {
  const { code, out } = await run(...args, '--output', 'json');
  return { code, ...(JSON.parse(out) as Output) };
}

const headersOf = ({ headers }: Pick<Sample, 'headers'>) =>
  Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);

describe('simulate', () => {
  for (const sample of readSamples().filter(({ method }) => method === 'POST')) {
    test(`gives the known result for the sample ${sample.name}`, async () => {
      const file = writeFile(`${sample.name}.json`, sample.body);
      const registry = sample.expected?.registry ?? 'registry.example.com';
      const override = sample.decision === 'push' && sample.expected?.registry === null ? ['--registry', registry] : [];
      const { code, decision, pushes, ignored } = await runJson(
        '--provider',
        sample.provider,
        '--file',
        file,
        ...headersOf(sample),
        ...override,
      );
      const { repository = '', tags = [], digest = null } = sample.decision === 'push' ? (sample.expected ?? {}) : {};
      assert.deepEqual(
        pushes.map(({ registry, repository, tag, digest }) => ({ registry, repository, tag, digest })),
        tags.map((tag) => ({ registry, repository, tag, digest: digest !== null && isDigest(digest) ? digest : undefined })),
      );
      assert.equal(code, pushes.length > 0 ? 0 : 1);
      assert.equal(decision === 'accept', pushes.length > 0);
      assert.ok(pushes.length > 0 || decision !== 'ignore' || ignored.length > 0);
    });
  }
});

const body = JSON.stringify({ image: 'Registry.Internal:5000/Team/Api:v1', id: 'build-1' });
const generic = ['--provider', 'generic', '--file', writeFile('generic.json', body)];

test('simulate prints text for people', async () => {
  const { code, out } = await run(...generic);
  assert.equal(code, 0);
  assert.equal(
    out,
    `provider        generic
authenticated   not tried: name a secret with --secret-env
decision        accept: stored, and answered 202

push            registry.internal:5000/team/api:v1
  registry      registry.internal:5000
  repository    team/api
  tag           v1
  digest        not announced: the registry is asked
  idempotency   key build-1
`,
  );
});

test('simulate escapes control characters of a payload', async () => {
  const escape = '\u001b[2J\u009b1m\u202e\n';
  const file = writeFile(
    'escape.json',
    JSON.stringify({ images: [{ image: 'a.example.com/b', tag: `v1${escape}` }, `a.example.com/b:1`], id: escape }),
  );
  const { out } = await run('--provider', 'generic', '--file', file);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.match(out, /key \\u\{1b\}\[2J\\u\{9b\}1m\\u\{202e\}\\u\{a\}\n/);
});

test('simulate reports a body that cannot be parsed', async () => {
  const file = writeFile('malformed.json', '{"image":');
  const { code, decision, malformed } = await runJson('--provider', 'generic', '--file', file);
  assert.deepEqual([code, decision, malformed], [1, 'malformed', 'the body is not JSON']);
  const { out } = await run('--provider', 'generic', '--file', file);
  assert.match(out, /^because +the body is not JSON$/m);
});

test('simulate refuses more pushes than one delivery may contain', async () => {
  const tags = Array.from({ length: 1_001 }, (_, index) => `v${index}`);
  const file = writeFile('many.json', JSON.stringify({ image: 'r.example.com/team/api', tags }));
  const { code, decision, refused, pushes } = await runJson('--provider', 'generic', '--file', file);
  const why = '1001 entries in one delivery; the limit is 1000';
  assert.deepEqual([code, decision, refused, pushes], [1, 'refuse', why, []]);
  const { out } = await run('--provider', 'generic', '--file', file);
  assert.match(out, /^because +1001 entries in one delivery/m);
});

test('simulate answers a handshake', async () => {
  const handshake = readSamples('acr').find(({ name }) => name === 'acr-eventgrid-validation');
  assert.ok(handshake);
  const file = writeFile('handshake.json', handshake.body);
  assert.deepEqual((await runJson('--provider', 'acr', '--file', file, ...headersOf(handshake))).decision, 'handshake');
});

describe('simulate, with a secret', () => {
  const bearer = ['--header', `Authorization: Bearer ${sampleSecret}`];
  for (const [name, value, args, authenticated, code] of [
    ['that is sent', sampleSecret, bearer, 'yes', 0],
    ['that differs from the sent one', 'another', bearer, 'no', 1],
    ['that is not sent', sampleSecret, [], 'no', 1],
  ] as const) {
    test(`${name}, prints authenticated: ${authenticated}`, async (t) => {
      process.env['IMAGE_WATCHER_TEST_SECRET'] = value;
      t.after(() => delete process.env['IMAGE_WATCHER_TEST_SECRET']);
      const answer = await runJson(...generic, ...args, '--secret-env', 'IMAGE_WATCHER_TEST_SECRET');
      assert.deepEqual([answer.authenticated, answer.decision, answer.code], [authenticated, 'accept', code]);
    });
  }
  test('that a sender cannot send, prints authenticated: by URL only', async (t) => {
    process.env['IMAGE_WATCHER_TEST_SECRET'] = sampleSecret;
    t.after(() => delete process.env['IMAGE_WATCHER_TEST_SECRET']);
    const [sample] = readSamples('aliyun').filter(({ decision }) => decision === 'push');
    assert.ok(sample);
    const file = writeFile('aliyun.json', sample.body);
    const { authenticated, code } = await runJson('--provider', 'aliyun', '--file', file, '--secret-env', 'IMAGE_WATCHER_TEST_SECRET');
    assert.deepEqual([authenticated, code], ['by URL only', 0]);
  });
});

describe('simulate with --config', () => {
  const config = writeFile(
    'config.yaml',
    `receivers:
  - {name: ci, provider: generic, secrets: [{env: NOT_SET_ANYWHERE}], registry: mirror.example.com}
  - {name: any, provider: generic, unauthenticated: true}
  - {name: jfrog, provider: artifactory, unauthenticated: true, repositories: {docker-local: [acme.jfrog.io/docker, docker.example.com]}}
registries:
  - {host: registry.example.com, aliases: ["registry.internal:5000"]}
`,
  );
  const file = ['--file', join(folder, 'generic.json'), '--config', config];
  const registryOf = async (...args: string[]) => (await runJson(...file, ...args)).pushes[0]?.['registry'];

  test('takes the registry from the receiver', async () => assert.equal(await registryOf('--receiver', 'ci'), 'mirror.example.com'));
  test('resolves aliases of registries', async () => assert.equal(await registryOf('--receiver', 'any'), 'registry.example.com'));
  test('prefers --registry to the receiver', async () =>
    assert.equal(await registryOf('--receiver', 'ci', '--registry', 'x.example.com'), 'x.example.com'));
  test('accepts a --provider that is that of the receiver', async () =>
    assert.equal(await registryOf('--receiver', 'ci', '--provider', 'generic'), 'mirror.example.com'));

  test('names the repositories of Artifactory as they are pulled, unless --registry is given', async () => {
    const sample = readSamples('artifactory').find(({ name }) => name === 'artifactory-docker-pushed-manifest');
    const jfrog = ['--config', config, '--receiver', 'jfrog', '--file', writeFile('jfrog.json', sample?.body ?? assert.fail())];
    const namesOf = ({ pushes }: Output) => pushes.map(({ registry, repository }) => `${registry}/${repository}`);
    assert.deepEqual(namesOf(await runJson(...jfrog)), ['acme.jfrog.io/docker/team/api', 'docker.example.com/team/api']);
    assert.deepEqual(namesOf(await runJson(...jfrog, '--registry', 'x.example.com')), ['x.example.com/docker-local/team/api']);
  });

  for (const [args, message] of [
    [['--receiver', 'nobody'], /has no receiver "nobody"/],
    [['--receiver', 'ci', '--provider', 'harbor'], /is of the provider generic, not harbor/],
    [['--provider', 'generic'], /belong together/],
  ] as const) {
    test(`reports ${args.join(' ')} as wrong usage`, () => assert.rejects(run(...file, ...args), { name: 'UsageError', message }));
  }
});

for (const [args, message] of [
  [[], /--file/],
  [['--file', 'x'], /--provider/],
  [['--provider', 'nobody', '--file', 'x'], new RegExp(`there is no provider "nobody"; there are ${providerIds[0]}`)],
  [['--provider', 'harbor', '--file', '/does/not/exist'], /^\/does\/not\/exist does not exist: create it, or name another one$/],
  [['--provider', 'harbor', '--receiver', 'x', '--file', 'x'], /belong together/],
  [[...generic, '--header', 'no colon'], /--header is "Name: value"/],
  [[...generic, '--header', 'A: 1', '--header', 'a: 2'], /given twice/],
  [[...generic, '--secret-env', 'NOT_SET_ANYWHERE'], /NOT_SET_ANYWHERE is not set/],
  [[...generic, 'more'], /takes no arguments: more/],
  [[...generic, '--output', 'xml'], /text, json or yaml/],
] as const) {
  test(`the command "simulate ${args.slice(-4).join(' ')}" is reported as wrong usage`, () =>
    assert.rejects(run(...args), (error) => error instanceof UsageError && message.test(error.message)));
}

test('simulate reads standard input when run as a program', async () => {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const child = spawn(process.execPath, [main, 'simulate', '--provider', 'generic', '--file', '-', '-o', 'json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(body);
  const exit = new Promise((resolve) => child.on('exit', resolve));
  const { pushes } = JSON.parse(await text(child.stdout)) as Output;
  assert.deepEqual([pushes.length, await exit], [1, 0]);
});
