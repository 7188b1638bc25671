/** `events --follow` against a service of pages, as the API answers them; the API itself is tested in test/service/api. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import type { EventView } from '../../src/service/api/event-view.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { runCommand } from './run-command.ts';

const tokenFile = join(tempFolder('token'), 'token');
writeFileSync(tokenFile, 'token');

function pushOf(id: string, outcome: EventView['outcome'], name = 'web', receivedAt = '2026-03-01T12:00:00.000Z'): EventView {
  const policies = [{ namespace: 'shop', name, outcome }];
  return {
    id,
    receiver: 'ci',
    provider: 'generic',
    registry: 'r.example.com',
    repository: 'shop/web',
    tag: id,
    receivedAt,
    outcome,
    policies,
  };
}

describe('events', () => {
  let events: EventView[] = [];
  let status = 200;
  let port = 0;
  let requested: string[] = [];
  let server: Server;
  const start = async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://a');
      requested.push(url.search);
      const one = events.find(({ id }) => url.pathname === `/api/v1/events/${id}`);
      if (one !== undefined || url.pathname.endsWith('/replay')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(one ?? { id: url.pathname, replayOf: 'a' }));
        return;
      }
      const limit = Number(url.searchParams.get('limit'));
      const policy = url.searchParams.get('policy');
      const wanted = events.filter(
        ({ policies }) => policy === null || policies.some(({ namespace, name }) => `${namespace}/${name}` === policy),
      );
      const from = wanted.findIndex(({ id }) => id === url.searchParams.get('before')) + 1;
      const page = wanted.slice(from, from + Math.min(limit, 3));
      const isLast = from + page.length >= wanted.length;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? { events: page, ...(!isLast && { next: page.at(-1)?.id }) } : { detail: 'no' }));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  };
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  beforeEach(async () => {
    if (port === 0) await start();
    [events, status, requested] = [[], 200, []];
  });
  after(close);

  const argumentsOf = (...args: string[]) => [...args, '--server', `http://127.0.0.1:${port}`, '--insecure', '--token-file', tokenFile];
  const idsIn = (out: string) => [...out.matchAll(/ ci {2}(\S+)$/gm)].map(([, id]) => id);

  /** Runs it until `steps` are done; returns what was printed. */
  async function follow(args: string[], steps: (seen: (text: string) => Promise<unknown>) => Promise<void>) {
    const stopping = new AbortController();
    let text = '';
    const running = runCommand('events', argumentsOf('--follow', ...args), { signal: stopping.signal, onText: (more) => (text += more) });
    await steps((wanted) => waitFor(wanted, () => text.includes(wanted)));
    stopping.abort();
    return running;
  }

  it('--follow shows the existing pushes, oldest first, then each new push and each new result once', async () => {
    events = [pushOf('b', 'working'), pushOf('a', 'updated')];
    const { code, out } = await follow([], async (seen) => {
      await seen('ci  b');
      events = [pushOf('c', 'queued'), pushOf('b', 'updated'), pushOf('a', 'updated')];
      await seen('ci  c');
      events = [pushOf('d', 'updated'), ...events];
      await seen('ci  d');
    });
    assert.equal(code, 0);
    assert.deepEqual(idsIn(out), ['a', 'b', 'b', 'c', 'd']);
  });

  it('--follow shows no push older than its first one, and prints a line of JSON for each push', async () => {
    events = Array.from({ length: 5 }, (_, index) => pushOf(`old${9 - index}`, 'updated', 'web', `2026-03-01T12:00:0${9 - index}.000Z`));
    const { out } = await follow(['--limit', '1', '-o', 'json'], async (seen) => {
      await seen('old9');
      events = [pushOf('new', 'updated', 'web', '2026-03-01T12:00:30.000Z'), ...events];
      await seen('"new"');
    });
    const lines = out.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as EventView).id),
      ['old9', 'new'],
    );
  });

  it('--follow reconnects to the service, and ends if the service refuses', async () => {
    events = [pushOf('a', 'updated')];
    const { code, err, out } = await follow([], async (seen) => {
      await seen('ci  a');
      await close();
      await seen('trying again');
      events = [pushOf('b', 'updated'), ...events];
      await start();
      await seen('ci  b');
      await seen('connected again');
    });
    assert.deepEqual([code, idsIn(out)], [0, ['a', 'b']]);
    assert.match(err, /cannot be reached: .*ECONNREFUSED.*; trying again\nconnected again\n$/);
    status = 403;
    const refused = await runCommand('events', argumentsOf('--follow'));
    assert.deepEqual([refused.code, refused.err], [1, `http://127.0.0.1:${port} answered 403: no\n`]);
  });

  it('--follow shows an ignored request once for each repository, and then how many more there were', async () => {
    const pullOf = (id: string, count: number, repository = 'shop/web'): EventView => ({
      ...pushOf(id, 'ignored'),
      repository,
      policies: [],
      reason: 'OtherEvent',
      message: 'a pull',
      count,
    });
    events = [pullOf('p1', 1), pushOf('a', 'updated')];
    const { out } = await follow([], async (seen) => {
      await seen('ci  p1');
      events = [pullOf('p2', 2), pullOf('p1', 4), pushOf('a', 'updated')];
      // Another repository shows that the ones before were read.
      events = [pullOf('q1', 1, 'shop/api'), ...events];
      await seen('ci  q1');
      events = [pushOf('b', 'updated'), ...events];
      await seen('ci  b');
    });
    assert.deepEqual(idsIn(out), ['a', 'p1', 'q1', 'b']);
    assert.match(out, /\n {4}… 5 more ignored \(OtherEvent, ci\)\n[^\n]+ ci {2}b\n/);
  });

  it('shortens ids to a unique beginning, and accepts such a beginning', async () => {
    const [one, same, other] = ['aaaaaaaaa1', 'aaaaaaaaa2', 'bbbbbbbbbb'].map((start) => start.padEnd(64, '0'));
    events = [one, same, other].map((id) => pushOf(id ?? '', 'updated'));
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf())).out), ['aaaaaaaaa1', 'aaaaaaaaa2', 'bbbbbbbb']);
    assert.match((await runCommand('events', argumentsOf('bbbbbbbb'))).out, new RegExp(` ci {2}${other}\n`));
    assert.deepEqual((await runCommand('replay', argumentsOf('aaaaaaaaa2'))).out, `replayed as /api/v1/events/${same}/replay\n`);
    const ambiguous = await runCommand('replay', argumentsOf('aaaaaaaa'));
    assert.deepEqual([ambiguous.code, ambiguous.err], [1, '2 events have an id that begins with aaaaaaaa: write more of it\n']);
    assert.match((await runCommand('events', argumentsOf('cccccccc'))).err, /^no event has an id that begins with cccccccc, /);
  });

  it('shows which notifications about a push were given up, without control characters', async () => {
    const push = pushOf('a', 'updated');
    const at = '2026-03-01T12:00:01.000Z';
    const noticesGivenUp = [
      { target: 'shop/team', kind: 'Updated', reason: 'Refused', message: 'was answered 400: \u001b[2Jno', at },
      { target: 'ops', kind: 'RolledOut', reason: 'NotAccepted', at },
    ] as const;
    events = [{ ...push, policies: push.policies.map((policy) => ({ ...policy, noticesGivenUp })) }];
    const { out } = await runCommand('events', argumentsOf());
    assert.match(out, /the notification Updated was given up: the target shop\/team refused it: was answered 400: .*no\n/);
    assert.ok(!out.includes('\u001b'));
    assert.match(out, /the notification RolledOut was given up: the target ops did not accept it for a day\n/);
  });

  it('lists the pushes of a policy from all pages', async () => {
    events = ['a', 'b', 'c', 'd', 'e'].map((id) => pushOf(id, 'updated', id === 'b' || id === 'e' ? 'api' : 'web'));
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf('shop/api'))).out), ['b', 'e']);
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf('ipol/api', '-n', 'shop', '--limit', '1'))).out), ['b']);
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf('ops/api'))).out), []);
  });

  it('requests only the pushes of the named policy and time from the service', async () => {
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    events = [1, 2, 30, 90].map((minutes) => pushOf(`m${minutes}`, 'updated', minutes === 2 ? 'api' : 'web', ago(minutes)));
    const { out, err } = await runCommand('events', argumentsOf('shop/web', '--since', '1h', '--limit', '5'));
    assert.deepEqual([idsIn(out), err], [['m1', 'm30'], '']);
    const query = new URLSearchParams(requested[0]);
    assert.equal(query.get('policy'), 'shop/web');
    assert.ok(Math.abs(Date.parse(query.get('since') ?? '') - Date.now() + 3_600_000) < 600_000, 'an hour ago');
  });

  it('passes filters to the service, and refuses filters that the service would not understand', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    await runCommand('events', argumentsOf('--until', '2026-03-01T12:00:00Z', '--digest', digest, '--receiver', 'ci', '-l', 'team=shop'));
    assert.deepEqual(Object.fromEntries(new URLSearchParams(requested[0])), {
      until: '2026-03-01T12:00:00Z',
      digest,
      receiver: 'ci',
      label: 'team=shop',
      limit: '50',
    });
    for (const [args, error] of [
      [['--until', 'yesterday'], /--until is a time such as/],
      [['--digest', 'sha256:1'], /--digest is sha256:/],
      [['--label', 'team'], /--label is KEY=VALUE/],
      [['--follow', '--until', '2026-03-01T12:00:00Z'], /--follow goes without --until/],
    ] as const)
      await assert.rejects(async () => runCommand('events', argumentsOf(...args)), error);
  });

  it('--since lists no older pushes, also over several pages', async () => {
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    events = [1, 2, 30, 90, 200].map((minutes) => pushOf(`m${minutes}`, 'updated', 'web', ago(minutes)));
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf('--since', '1h'))).out), ['m1', 'm2', 'm30']);
    assert.deepEqual(idsIn((await runCommand('events', argumentsOf('--since', '1h', '--limit', '1'))).out), ['m1']);
  });
});
