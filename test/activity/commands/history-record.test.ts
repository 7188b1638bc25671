/** The commands `history verify` and `history --at`, with a kept record and with the service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeSegment, noTail } from '../../../src/activity/record/chain.ts';
import { segmentName } from '../../../src/activity/record/store.ts';
import { createActivityRoutes } from '../../../src/activity/routes.ts';
import type { Activity } from '../../../src/core/model/activity.ts';
import { runCommand } from '../../cli/run-command.ts';
import { startApi } from '../../service/api/fake-events.ts';
import { readFrom, timeAt } from '../sample-activity.ts';

const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } as const;
const change = (at: number, tag: string, more: object = {}): Activity => ({
  type: 'change',
  at: timeAt(at),
  kind: 'Updated',
  subject,
  tag,
  workloads: ['Deployment shop/web'],
  ...more,
});
const activities: readonly Activity[] = [
  change(1, '1.4.1'),
  change(2, '1.4.2'),
  change(3, '1.4.2', { kind: 'RolloutFailed', reason: 'RolloutFailed', message: 'exit \u001b[31m1' }),
  change(4, '7', { subject: { ...subject, namespace: 'pay', name: 'api' } }),
];

/** A folder with a record of these activities, one in each segment, and a configuration that names it. */
function keep() {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  let tail = noTail;
  for (const [index, data] of activities.entries()) {
    const fact = { id: `1-${index}`, type: data.type, time: data.at, subject: 'ImagePolicy/x', data };
    const segment = makeSegment(tail, [fact], '/test');
    tail = segment.tail;
    writeFileSync(join(folder, segmentName(tail.segment)), segment.text);
  }
  const config = join(mkdtempSync(join(tmpdir(), 'config-')), 'config.yaml');
  writeFileSync(config, `record: {folder: ${folder}}\n`);
  const all = join(mkdtempSync(join(tmpdir(), 'all-')), 'all.jsonl');
  writeFileSync(
    all,
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join(''),
  );
  return { folder, config, all, hash: tail.hash };
}

const run = (...args: string[]) => runCommand('history', args);

test('history verify checks the record in the configured folder, in another folder, and in a single file', async () => {
  const { folder, config, all, hash } = keep();
  for (const source of [
    ['--config', config],
    ['--file', folder],
    ['--file', all],
  ])
    assert.deepEqual(await run('verify', ...source), { code: 0, out: `4 lines in order\nlast hash: ${hash}\n`, err: '' });
  const { out } = await run('verify', '--file', all, '-o', 'json');
  assert.deepEqual(JSON.parse(out), { ok: true, lines: 4, first: 1, hash });
});

test('history verify names the first break of the record, and exits with 1', async () => {
  const { folder } = keep();
  const second = join(folder, segmentName(2));
  writeFileSync(second, readFileSync(second, 'utf8').replace('1.4.2', '6.6.6'));
  const { code, out } = await run('verify', '--file', folder);
  assert.equal(code, 1);
  assert.equal(
    out,
    'broken: 0000000003.jsonl, line 1 does not follow the line before it: line 2 was changed or replaced\n2 lines in order\n',
  );
});

test('history reports a record that is missing or cannot be read, and wrong options', async () => {
  const { all } = keep();
  const empty = mkdtempSync(join(tmpdir(), 'empty-'));
  assert.deepEqual(await run('verify', '--file', empty), { code: 0, out: 'the record is empty\n', err: '' });
  writeFileSync(join(empty, 'config.yaml'), '{}\n');
  for (const [args, message] of [
    [['verify', '--file', join(empty, 'missing')], /missing does not exist/],
    [['verify', '--config', join(empty, 'config.yaml')], /keeps no record/],
    [['--file', all], /need --at/],
    [['--at', 'yesterday'], /--at is a time such as/],
    [['--at', timeAt(1), '--since', '1h'], /--at goes without/],
    [['--at', timeAt(1), '-A', '-n', 'shop'], /--all-namespaces goes without/],
  ] as const)
    await assert.rejects(run(...args), message);
  writeFileSync(join(empty, 'config.yaml'), `record: {folder: ${join(empty, 'gone')}}\n`);
  const { code, err } = await run('verify', '--config', join(empty, 'config.yaml'));
  assert.deepEqual([code, /the record cannot be read: .*ENOENT/.test(err)], [1, true]);
});

const expected = [
  `shop/web  1.4.2  since ${timeAt(2)}  Deployment shop/web`,
  `    RolloutFailed ${timeAt(3)}: RolloutFailed: exit \\u{1b}[31m1`,
];

test('history --at shows what ran at a time, from the kept record', async () => {
  const { config, all } = keep();
  const { code, out } = await run('--at', timeAt(3), '-A', '--file', all);
  assert.deepEqual([code, out.trimEnd().split('\n')], [0, expected]);
  const later = await run('--at', timeAt(60), '--config', config, '-o', 'json');
  const states = JSON.parse(later.out) as { namespace: string; image: { tag: string } }[];
  assert.deepEqual(
    states.map(({ namespace, image }) => [namespace, image.tag]),
    [
      ['pay', '7'],
      ['shop', '1.4.2'],
    ],
  );
  for (const filter of [['-n', 'pay'], ['pay/api']])
    assert.match((await run('--at', timeAt(60), '--file', all, ...filter)).out, /^pay\/api {2}7 .*\n.*\n$/);
  assert.match((await run('--at', timeAt(0), '--file', all)).out, /no change of a policy before/);
});

test('history --at shows what ran at a time, from the API of the service', async (t) => {
  const { app } = startApi(t, { kind: 'none' }, [], {
    added: { features: ['activity'], routes: createActivityRoutes(readFrom(activities.toReversed())) },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const token = join(mkdtempSync(join(tmpdir(), 'history-')), 'token');
  writeFileSync(token, 'any');
  const { code, out } = await run(
    '--at',
    timeAt(3),
    '-A',
    '--server',
    `http://localhost:${address.port}`,
    '--insecure',
    '--token-file',
    token,
  );
  assert.deepEqual([code, out.trimEnd().split('\n')], [0, expected]);
});
