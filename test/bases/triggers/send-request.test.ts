/** Answers of a real HTTP server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sendRequest } from '../../../src/bases/triggers/send-request.ts';
import { freePort } from '../../harness/free-port.ts';

const now = () => Date.parse('2026-11-23T12:00:00Z');
let server: Server;
let answer: RequestListener = (_, response) => response.writeHead(204).end();
let origin = '';

before(async () => {
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const { signal } = new AbortController();
const send = (until: AbortSignal = signal) =>
  sendRequest(
    { url: new URL('/hook?x', origin), headers: { authorization: 'Bearer secret-token' }, body: '{}' },
    { fetch, now, signal: until },
  );

describe('an answer of a CI system', () => {
  for (const [status, kind, text] of [
    [204, 'accepted', ''],
    [201, 'accepted', ''],
    [422, 'refused', 'answered 422: no'],
    [400, 'refused', 'answered 400'],
    [401, 'failed', 'check the token in the Secret'],
    [404, 'failed', 'check the repository'],
    [302, 'failed', 'redirects are not followed'],
    [500, 'failed', 'answered 500'],
    [503, 'failed', 'answered 503'],
  ] as const) {
    it(`with status ${status} counts as ${kind}`, async () => {
      answer = (_, response) =>
        response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(status === 204 ? undefined : 'no\n\u001b[31m ref');
      const result = await send();
      assert.equal(result.kind, kind);
      if (result.kind === 'accepted') return;
      assert.ok(result.message.includes(text), result.message);
      assert.match(result.message, /^POST http:\/\/127\.0\.0\.1:\d+\/hook was answered/);
      assert.ok(!result.message.includes('secret-token') && !result.message.includes('\u001b'));
    });
  }

  it('with Retry-After delays the next request, for at most an hour', async () => {
    for (const [seconds, expected] of [
      ['30', '2026-11-23T12:00:30.000Z'],
      ['999999', '2026-11-23T13:00:00.000Z'],
    ] as const) {
      answer = (_, response) => response.writeHead(429, { 'retry-after': seconds }).end();
      const result = await send();
      assert.equal(result.kind === 'failed' && result.until?.toISOString(), expected);
    }
  });

  it('is not read to its end if it never ends', async () => {
    answer = (_, response) => {
      response.writeHead(500);
      let isOpen = true;
      response.on('close', () => (isOpen = false));
      const write = () => void (isOpen && response.write('x'.repeat(65_536), () => setImmediate(write)));
      write();
    };
    const result = await send();
    assert.ok(result.kind === 'failed' && result.message.length < 500);
  });
});

describe('a connection to a CI system', () => {
  it('counts as failed if it is closed', async () => {
    answer = (request) => request.socket.destroy();
    assert.equal((await send()).kind, 'failed');
  });

  it('ends with the process if it hangs', async () => {
    const stopping = new AbortController();
    answer = () => stopping.abort(new Error('the process is stopping'));
    const result = await send(stopping.signal);
    assert.match(result.kind === 'failed' ? result.message : '', /the process is stopping/);
  });
});

describe('a Secret that no header can hold', () => {
  for (const secret of ['-----BEGIN PRIVATE KEY-----\nMIIEvQ', 'tok\u2026en'])
    it(`is neither sent nor quoted: ${JSON.stringify(secret)}`, async () => {
      answer = (_, response) => response.writeHead(204).end();
      const result = await sendRequest(
        { url: new URL(origin), headers: { authorization: `Bearer ${secret}` }, body: '' },
        { fetch, now, signal },
      );
      assert.equal(result.kind, 'failed');
      const message = result.kind === 'failed' ? result.message : '';
      assert.match(message, /the Secret must be one line of ASCII/);
      assert.doesNotMatch(message, /BEGIN|MIIEvQ|tok/);
    });
});

it('the message about a failed connection to a CI system says why it failed and what to do', async () => {
  const url = new URL(`http://127.0.0.1:${await freePort()}/hook`);
  const result = await sendRequest({ url, headers: {}, body: '{}' }, { fetch, now, signal });
  assert.match(result.kind === 'failed' ? result.message : '', /^POST \S+: the connection was refused by \S+ \(ECONNREFUSED\); check/);
});
