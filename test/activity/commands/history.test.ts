/** The command `history`, against the API. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createActivityRoutes } from '../../../src/activity/routes.ts';
import type { Activity } from '../../../src/core/model/activity.ts';
import { runCommand } from '../../cli/run-command.ts';
import { recordOf, startApi } from '../../service/api/fake-events.ts';
import { readFrom, timeAt } from '../sample-activity.ts';

const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web' } as const;
const activities: readonly Activity[] = [
  { type: 'action', at: timeAt(20), action: 'rollback', subject, value: '1.4.1', user: 'ada@example.com', why: 'payments \u001b[31mfail' },
  { type: 'action', at: timeAt(10), action: 'check', subject: { ...subject, name: 'api' }, value: '1' },
  {
    type: 'change',
    at: timeAt(5),
    kind: 'RolloutFailed',
    subject,
    tag: '1.4.2',
    from: ['r.example.com/shop/web:1.4.1'],
    workloads: ['Deployment shop/web'],
    reason: 'RolloutFailed',
    message: 'exit code 1',
  },
];

async function start(t: TestContext, recorded = activities) {
  const { app } = startApi(t, { kind: 'none' }, [recordOf('push-1', 1, { 'shop/web': 'updated' })], {
    added: { features: ['activity'], routes: createActivityRoutes(readFrom(recorded)) },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const token = join(mkdtempSync(join(tmpdir(), 'history-')), 'token');
  writeFileSync(token, 'any');
  const server = ['--server', `http://localhost:${address.port}`, '--insecure', '--token-file', token];
  return (...args: string[]) => runCommand('history', [...args, ...server]);
}

test('history shows the record newest first, with who requested what and why', async (t) => {
  const { code, out } = await (await start(t))();
  assert.equal(code, 0);
  assert.deepEqual(out.split('\n'), [
    `${timeAt(20)}  rollback          shop/web  1.4.1  ada@example.com`,
    '    "payments \\u{1b}[31mfail"',
    `${timeAt(10)}  check             shop/api  1  (nobody is named)`,
    `${timeAt(5)}  RolloutFailed     shop/web  1.4.2 (before: r.example.com/shop/web:1.4.1)`,
    '    Deployment shop/web',
    '    RolloutFailed: exit code 1',
    `${timeAt(1)}  push              r.example.com/shop/web:1.0.0  updated  prod`,
    '    shop/web: updated',
    '',
  ]);
});

for (const [args, names] of [
  [['shop/api'], ['check']],
  [
    ['--type', 'action'],
    ['rollback', 'check'],
  ],
  [['--user', 'ada@example.com'], ['rollback']],
  [['--limit', '1'], ['rollback']],
  [['--until', '2026-03-01T12:00:00Z'], []],
  [['--receiver', 'prod', '--outcome', 'updated'], [undefined]],
  [['--receiver', 'other'], []],
  [['--digest', `sha256:${'0'.repeat(64)}`], []],
] as const)
  test(`history shows only the entries that its arguments select: ${args.join(' ')}`, async (t) => {
    const { out } = await (await start(t))(...args, '--output', 'json');
    const found = JSON.parse(out) as { action?: string }[];
    assert.deepEqual(
      found.map(({ action }) => action),
      names,
    );
  });

test('history reads all pages of the API', async (t) => {
  const many = Array.from({ length: 700 }, (_, index): Activity => ({
    type: 'action',
    at: timeAt(2_000 - index),
    action: 'suspend',
    subject,
  }));
  const { out } = await (await start(t, many))('--since', '1000000h', '--type', 'action', '--output', 'json');
  assert.equal((JSON.parse(out) as unknown[]).length, 700);
});

test('history says so when nothing happened, and shows the right form of a wrong argument', async (t) => {
  const run = await start(t, []);
  assert.equal((await run('shop/nobody')).out, 'nothing happened\n');
  for (const [args, says] of [
    [['--limit', '0'], /--limit is a number from 1 to 500/],
    [['--since', 'tuesday'], /--since is a duration/],
  ] as const)
    await assert.rejects(run(...args), says);
});
