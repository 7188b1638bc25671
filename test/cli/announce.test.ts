/** `image-watcher announce`, at a receiver that a test plays. test/end-to-end/deliveries.test.ts has the real one. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { runCommand } from './run-command.ts';

const image = 'harbor.example.com/shop/web:1.4.2';
const secretFile = join(tempFolder('announce'), 'secret');
writeFileSync(secretFile, 's3cret\n');

type Answer = readonly [status: number, body: object | string];
let server: Server;
let url: string;
let onPost: Answer[];
let onGet: Answer[];
let requests: { readonly request: string; readonly proof: string | undefined; readonly body: string }[];

before(async () => {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push({ request: `${request.method} ${request.url}`, proof: request.headers.authorization, body: await text(request) });
    const answers = request.method === 'POST' ? onPost : onGet;
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, 'no answer was planned'];
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/ci`;
});
after(() => server.close());
beforeEach(() => {
  requests = [];
  onPost = [[202, { accepted: [{ id: 'event', delivery: 'event-mac' }], ignored: [] }]];
  onGet = [];
});

const run = (...args: string[]) => runCommand('announce', [image, '--to', url, '--insecure', '--secret-file', secretFile, ...args]);
const of = (state: string, isOver: boolean, more: object = {}) => ({ policy: 'shop/web', state, isOver, ...more });
const report = (...policies: ReturnType<typeof of>[]): Answer => [
  200,
  { image, state: policies[0]?.state ?? 'received', isOver: policies.length > 0 && policies.every(({ isOver }) => isOver), policies },
];

it('announce sends the push with the secret, tells each failed try, and makes a repeated one the same push by its id', async () => {
  onPost = [[503, { error: 'try again later' }], [429, { error: 'too many requests' }], ...onPost];
  const { code, out, err } = await run();
  const { host } = new URL(url);
  const told = [
    `${host} answered 503: try again later; try 1 of 8, the next one in 0.5 s`,
    `${host} answered 429: too many requests; try 2 of 8, the next one in 1 s`,
  ];
  assert.deepEqual([code, out, err], [0, `accepted: ${image}\n`, `${told.join('\n')}\n`]);
  assert.deepEqual([...new Set(requests.map(({ request, proof }) => `${request} ${proof}`))], ['POST /webhooks/ci Bearer s3cret']);
  const bodies = requests.map(({ body }) => JSON.parse(body) as { image: string; id: string });
  assert.deepEqual([bodies.length, new Set(bodies.map(({ id }) => id)).size, bodies[0]?.image], [3, 1, image]);
});

it('announce --wait shows each change of the result once, until the image runs', async () => {
  const waits = of('waiting', false, { reason: 'MinAge', message: '1.4.2 waits', page: 'https://watch.example.com/policies/shop/web' });
  onGet = [
    report(),
    report(waits),
    [503, ''],
    report(waits),
    report(of('changed', false)),
    report(of('rolledOut', true, { reason: 'RolledOut' })),
  ];
  const { code, out } = await run('--wait');
  assert.deepEqual(
    [code, out],
    [
      0,
      `${image}: received
shop/web: waiting: MinAge: 1.4.2 waits: https://watch.example.com/policies/shop/web
shop/web: changed
shop/web: rolledOut: RolledOut
${image}: it runs
`,
    ],
  );
  assert.equal(requests.at(-1)?.request, 'GET /webhooks/ci/deliveries/event-mac');
});

const ends: readonly (readonly [title: string, get: () => Answer, args: readonly string[], code: number, says: RegExp])[] = [
  [
    'code 1 after a failed rollout',
    () => report(of('failed', true, { reason: 'RolledBack', message: 'crashes' })),
    [],
    1,
    /failed: RolledBack: crashes\n.*it does not run\n$/,
  ],
  ['code 1 for an image that is not selected', () => report(of('unchanged', true, { reason: 'NotSelected' })), [], 1, /NotSelected/],
  [
    'code 1 for a tag that runs with other content, or with content that is not known',
    () => report(of('unchanged', true, { reason: 'Retagged' })),
    [],
    1,
    /its tag runs already, and is not known to have this content\n$/,
  ],
  [
    'code 1 for a push that no policy watches',
    () => [200, { image, state: 'unwatched', isOver: true, policies: [] }],
    [],
    1,
    /no policy watches it/,
  ],
  [
    'code 1 if one of two policies fails',
    () => report(of('failed', true), { ...of('rolledOut', true), policy: 'b/b' }),
    [],
    1,
    /it does not run/,
  ],
  [
    'code 1 after a failure of one policy, while another one waits',
    () => report(of('failed', true), { ...of('waiting', false), policy: 'b/b' }),
    [],
    1,
    /it does not run\n$/,
  ],
  ['code 1 after a change whose rollout is not watched', () => report(of('changed', true)), [], 1, /whether it runs is not watched/],
  ['code 0 and --until changed for an image that ran before', () => report(of('rolledOut', true)), ['--until', 'changed'], 0, /it runs/],
  ['code 0 and --until changed after a change', () => report(of('changed', false)), ['--until', 'changed'], 0, /it runs/],
  [
    'code 1 when the timeout is over',
    () => report(of('waiting', false, { reason: 'ApprovalRequired' })),
    ['--timeout', '1s'],
    1,
    /ApprovalRequired\n.*the time is over/,
  ],
  ['code 1 if the address is not that of a receiver', () => [200, '<html>'], [], 1, /not as a receiver of image-watcher does/],
  ['code 1 if the receiver refuses to show the result', () => [404, { error: 'no delivery' }], [], 1, /answered 404: no delivery/],
];

describe('announce --wait ends with', () => {
  for (const [title, get, args, code, says] of ends)
    it(title, async () => {
      onGet = [get()];
      const ran = await run('--wait', ...args);
      assert.equal(ran.code, code);
      assert.match(ran.out + ran.err, says);
    });
});

it('announce --wait says once why its questions are not answered, and goes on asking', async () => {
  const away = (why: string): Answer => [503, { error: why }];
  onGet = [away('busy'), away('busy'), away('Redis is away'), report(of('rolledOut', true))];
  const { code, out, err } = await run('--wait');
  const { host } = new URL(url);
  const told = ['busy', 'Redis is away'].map((why) => `${host} answered 503: ${why}; asked again until the time is over\n`);
  assert.deepEqual([code, out.split('\n').at(-2), err], [0, `${image}: it runs`, told.join('')]);
});

it('announce --output json prints the last result', async () => {
  onGet = [report(of('rolledOut', true))];
  const { out } = await run('--wait', '--output', 'json');
  assert.deepEqual(JSON.parse(out), { image, state: 'rolledOut', isOver: true, policies: [of('rolledOut', true)], runs: true });
});

it('announce fails, and says what to do, if the push is ignored or refused or its result is not shown', async () => {
  onPost = [[200, { accepted: [], ignored: [{ reason: 'a signature' }] }]];
  assert.match((await run()).err, /ignored it: a signature/);
  onPost = [[401, { error: 'unauthorized' }]];
  assert.match((await run()).err, /answered 401: unauthorized/);
  onPost = [[202, { accepted: [{ id: 'event' }], ignored: [] }]];
  assert.match((await run('--wait')).err, /set receivers\[\]\.showResults/);
});

describe('announce reports as wrong usage:', () => {
  const rows: readonly (readonly [title: string, args: () => readonly string[], message: RegExp])[] = [
    ['no image', () => ['--to', url], /name the image with its tag/],
    ['an image without a tag', () => ['harbor.example.com/shop/web', '--to', url], /name the image with its tag/],
    ['no receiver', () => [image], /--to/],
    ['http without --insecure', () => [image, '--to', url], /whoever listens/],
    ['no secret', () => [image, '--to', 'https://hooks.example.com/webhooks/ci', '--secret-env', 'NOT_SET'], /NOT_SET/],
    [
      'a timeout without --wait',
      () => [image, '--to', url, '--insecure', '--secret-file', secretFile, '--timeout', '1m'],
      /--timeout goes with --wait/,
    ],
  ];
  for (const [title, args, message] of rows)
    it(title, () => assert.rejects(runCommand('announce', args()), (error) => error instanceof UsageError && message.test(error.message)));
});
