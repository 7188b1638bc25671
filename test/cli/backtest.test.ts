/** `image-watcher backtest`: what a policy would have done with the images of the past. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { backtest } from '../../src/cli/backtest.ts';
import { withRecorded } from '../../src/cli/backtest/read-past.ts';
import type { EventView } from '../../src/service/api/event-view.ts';
import { UsageError } from '../../src/service/command-line/command.ts';
import { pushImage } from '../harness/push-image.ts';
import { type Registry, startRegistry } from '../harness/registry.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const folder = tempFolder('backtest');
const image = 'harbor.example.com/shop/web';
let count = 0;

function write(name: string, value: object): string {
  const file = join(folder, `${++count}-${name}`);
  writeFileSync(file, stringify(value));
  return file;
}

function policyFile(spec: object = {}): string {
  return write('policy.yaml', {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { image, select: { semver: { range: '>=1.0' } }, targets: [{ kind: 'Deployment', name: 'web' }], ...spec },
  });
}

async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const code = await backtest.run(args, { out: (text) => void (out += text), err: (text) => void (err += text) });
  return { code, out, err };
}

const past = [
  { tag: '1.4.1', at: '2026-01-01T10:00:00Z' },
  { tag: '1.4.2', at: '2026-02-02T10:00:00Z' },
  { tag: 'feature-x', at: '2026-02-02T11:00:00Z' },
  { tag: '1.4.0', at: '2026-02-03T11:00:00Z' },
  { tag: '1.5.0', at: '2026-02-07T12:00:00Z' },
];
const windows = { windows: [{ days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'], from: '09:00', to: '17:00' }] };

describe('backtest with --history, offline,', () => {
  it('shows each day with the image that ran and the image that was held', async () => {
    const history = write('past.yaml', { images: past });
    const args = ['-f', policyFile({ update: windows }), '--history', history, '--days', '30', '--until', '2026-02-10T00:00:00Z'];
    assert.deepEqual(await run(...args), {
      code: 0,
      err: '',
      out: `shop/web, 2026-01-11 to 2026-02-10: 4 pushes, 2 changes
note: every rollout counts as complete, at once
2026-01-11  runs 1.4.1
2026-02-02  runs 1.4.2 instead of 1.4.1, from 10:00
2026-02-07  held 1.5.0 Window: 1.5.0 waits until 2026-02-09T09:00:00Z, when the next window of the policy opens
2026-02-09  runs 1.5.0 instead of 1.4.2, from 09:00
at the end 1.5.0 runs
never selected, NotSelected: 1 push (feature-x): "feature-x" is not a semantic version
never selected, OlderThanRunning: 1 push (1.4.0): 1.4.0 is older than 1.4.2, which runs
`,
    });
  });

  it('finds companions by the list that the image carries', async () => {
    const digest = `sha256:${'c'.repeat(64)}`;
    const proxy = 'harbor.example.com/shop/web-proxy';
    const history = write('past.yaml', {
      images: [
        { tag: '1.4.1', at: '2026-02-01T10:00:00Z' },
        { tag: '1.5.0', at: '2026-02-02T10:00:00Z', images: `${proxy}:build-7@${digest}` },
        { tag: 'build-7', at: '2026-02-02T10:10:00Z', repository: 'shop/web-proxy', digest },
      ],
    });
    const file = policyFile({ alongside: { images: [{ image: proxy }], match: 'SameDigestList' } });
    const { code, out } = await run('-f', file, '--history', history, '--days', '30', '--until', '2026-02-10T00:00:00Z');
    assert.equal(code, 0, out);
    assert.match(out, /2026-02-02 {2}runs 1\.5\.0 .*from 10:10/);
  });

  it('fails if a tag of --never ran, and not if the policy excludes it', async () => {
    const history = write('past.yaml', { images: past });
    const any = policyFile({ select: { alphabetical: {} } });
    const { code, out } = await run('-f', any, '--history', history, '--never', 'feature');
    assert.equal(code, 1, out);
    assert.match(out, /must never run, and ran: feature-x\n$/);
    assert.equal((await run('-f', policyFile(), '--history', history, '--never', 'feature')).code, 0);
  });

  it('prints for programs each decision and each assumption', async () => {
    const history = write('past.yaml', { images: past });
    const spec = {
      update: { mode: 'Approval' },
      minAgeUnless: { fixes: 'Critical' },
      verify: { cosign: { keys: [{ secretRef: { name: 'a', key: 'b' } }] }, vulnerabilities: { harbor: true, notMoreThanRunning: 'High' } },
    };
    const { out } = await run('-f', policyFile(spec), '--history', history, '--approved', '--output', 'json');
    const { notes, ran, unselected } = JSON.parse(out) as { notes: string[]; ran: string[]; unselected: { count: number }[] };
    assert.deepEqual(ran, ['1.4.1', '1.4.2', '1.5.0']);
    assert.deepEqual(
      unselected.map((one) => one.count),
      [1, 1],
    );
    assert.deepEqual(notes, [
      'every image counts as signed',
      'no image counts as a security fix, or as worse than what runs',
      'every rollout counts as complete, at once',
      'every image is approved at once',
    ]);
  });

  it('holds an image that waits for approval, and the next image as well', async () => {
    const history = write('past.yaml', { images: past });
    const { out } = await run('-f', policyFile({ update: { mode: 'Approval' } }), '--history', history, '--days', '60');
    assert.match(out, /held 1\.4\.2 ApprovalRequired: .*\n(?:.*\n)*.*held 1\.5\.0 ApprovalRequired: .*\nat the end 1\.4\.1 runs\n/);
  });
});

describe('backtest ends with 2, and not as if a tag of --never had run,', () => {
  it('if the policy selects no image of the past', async () => {
    const history = write('past.yaml', { images: [{ tag: 'feature-x', at: '2026-01-01T10:00:00Z' }] });
    const { code, out, err } = await run('-f', policyFile(), '--history', history, '--never', 'feature');
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(
      err,
      /^no tag of harbor\.example\.com\/shop\/web is the highest version in ">=1\.0"; for example "feature-x" is not .*\n$/,
    );
  });

  it('if the registry does not answer', async () => {
    const config = write('config.yaml', { registries: [{ host: '127.0.0.1:1', insecure: true }] });
    const { code, err } = await run('-f', policyFile({ image: '127.0.0.1:1/shop/web' }), '--config', config, '--never', 'feature');
    assert.equal(code, 2);
    assert.match(err, /^listing tags of 127\.0\.0\.1:1\/shop\/web: cannot connect .*\n$/);
  });
});

describe('backtest reports as wrong usage:', () => {
  const rows: readonly (readonly [title: string, args: () => readonly string[], message: RegExp])[] = [
    ['no policy', () => [], /name a policy of the cluster, or give its --file/],
    ['two policies', () => ['shop/web', '-f', policyFile()], /name a policy of the cluster, or give its --file/],
    ['too many days', () => ['-f', policyFile(), '--days', '5000'], /--days is a number from 1 to 366/],
    ['--until without a time', () => ['-f', policyFile(), '--until', 'Monday'], /--until is a time such as/],
    ['--until in another form', () => ['-f', policyFile(), '--until', '-271821-04-20T00:00:00Z'], /--until is a time such as/],
    ['--runs that is no tag', () => ['-f', policyFile(), '--runs', 'a b'], /--runs is a tag, not "a b"/],
    [
      'a pattern of --never that is not RE2 syntax',
      () => ['-f', policyFile(), '--never', '('],
      /--never: the pattern "\(" is not RE2 syntax/,
    ],
    ['two sources', () => ['-f', policyFile(), '--history', 'a.yaml', '--events'], /--events goes without --history/],
    ['a history in a missing file', () => ['-f', policyFile(), '--history', join(folder, 'none.yaml')], /none\.yaml/],
  ];
  for (const [title, args, message] of rows)
    it(title, async () => {
      await assert.rejects(run(...args()), (error) => error instanceof UsageError && message.test(error.message));
    });
});

describe('backtest with a registry', () => {
  let registry: Registry;
  before(async () => {
    registry = await startRegistry();
  });
  after(() => registry.stop());

  it('takes the times at which images were created for the times of their pushes', async () => {
    const { host } = registry;
    for (const { tag, at } of past) await pushImage({ host, repository: 'shop/web', tag, content: tag, created: at });
    const config = write('config.yaml', { registries: [{ host, insecure: true }] });
    const file = policyFile({ image: `${host}/shop/web` });
    const { code, out } = await run('-f', file, '--config', config, '--days', '30', '--until', '2026-02-10T00:00:00Z');
    assert.equal(code, 0);
    assert.match(out, /note: a registry does not say when a tag was pushed/);
    assert.match(out, /2026-02-02 {2}runs 1\.4\.2 instead of 1\.4\.1, from 10:00\n/);
    assert.match(out, /2026-02-07 {2}runs 1\.5\.0 instead of 1\.4\.2, from 12:00\n/);
  });

  it('finds companions by the list that the image carries', async () => {
    const { host } = registry;
    const [proxy, config] = [`${host}/shop/listed-proxy`, write('config.yaml', { registries: [{ host, insecure: true }] })];
    const pushBoth = async (tag: string, created: string, build: string) => {
      const { digest } = await pushImage({ host, repository: 'shop/listed-proxy', tag: build, content: build, created });
      const annotations = { 'operator.technomad.dev/images': `${proxy}:${build}@${digest}` };
      await pushImage({ host, repository: 'shop/listed', tag, content: tag, created, annotations });
    };
    await pushBoth('1.4.1', '2026-01-01T10:00:00Z', 'build-1');
    await pushBoth('1.5.0', '2026-02-02T10:00:00Z', 'build-2');
    const alongside = { images: [{ image: proxy }], match: 'SameDigestList' };
    const file = policyFile({ image: `${host}/shop/listed`, alongside });
    const { code, out } = await run('-f', file, '--config', config, '--days', '30', '--until', '2026-02-10T00:00:00Z');
    assert.equal(code, 0, out);
    assert.match(out, /2026-02-02 {2}held 1\.5\.0 CompanionMissing: 1\.5\.0 waits for \S+listed-proxy:build-2@sha256:/);
    assert.match(out, /2026-02-02 {2}runs 1\.5\.0 instead of 1\.4\.1/);
  });

  it('fails for a repository that the registry does not have', async () => {
    const { host } = registry;
    const config = write('config.yaml', { registries: [{ host, insecure: true }] });
    const { code, err } = await run('-f', policyFile({ image: `${host}/shop/none` }), '--config', config);
    assert.equal(code, 2);
    assert.match(err, /does not know .*shop\/none/);
  });
});

it('backtest prefers recorded pushes to what the registry shows of the same images', () => {
  const repository = { registry: 'harbor.example.com', path: 'shop/web' };
  const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`;
  const shown = [
    { repository, tag: '1', digest: digestOf('a'), pushedAt: 1_000, created: new Date(1_000), platforms: ['linux/amd64'] },
    { repository, tag: 'latest', digest: digestOf('b'), pushedAt: 2_000, created: new Date(2_000) },
  ];
  const event = (tag: string, digest: string | undefined, at: number, outcome = 'updated') =>
    ({ registry: 'harbor.example.com', repository: 'shop/web', tag, digest, receivedAt: new Date(at).toISOString(), outcome }) as EventView;
  const events = [
    event('1', digestOf('a'), 5_000),
    event('latest', digestOf('c'), 4_000),
    event('latest', digestOf('b'), 6_000),
    event('x', undefined, 7_000, 'ignored'),
  ];
  assert.deepEqual(
    withRecorded(shown, events).map(({ tag, digest, pushedAt, created }) => [tag, digest.at(-1), pushedAt, created.getTime()]),
    [
      ['latest', 'c', 4_000, 4_000],
      ['1', 'a', 5_000, 1_000],
      ['latest', 'b', 6_000, 2_000],
    ],
  );
});
