/** What becomes of a request, with a real server that fails in all ways. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { exchange, type SendResult } from '../../../src/service/proxy/exchange.ts';

const path = '/services/T0SECRET1/B0SECRET2?token=s3cretvalue';
const now = Date.parse('2026-11-23T12:00:00Z');

async function sendTo(t: TestContext, answer: RequestListener, { scheme = 'http', timeoutMs = 20_000 } = {}): Promise<SendResult> {
  const server = scheme === 'http' ? createServer(answer) : createTlsServer(answer);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  const { signal } = new AbortController();
  const { result } = await exchange(url, { method: 'POST', headers: {}, body: '{}' }, { fetch, now: () => now, signal, timeoutMs });
  return result;
}

const messageOf = (result: SendResult) => ('message' in result ? result.message : '');
const secrets = /T0SECRET1|B0SECRET2|s3cretvalue/;

describe('sending a notice', () => {
  it('succeeds after a 2xx answer', async (t) =>
    assert.equal((await sendTo(t, (_, response) => response.writeHead(204).end())).kind, 'sent'));

  for (const status of [400, 413, 415, 422])
    it(`is refused after ${status}`, async (t) =>
      assert.equal((await sendTo(t, (_, response) => response.writeHead(status).end('invalid_payload'))).kind, 'refused'));

  it('advises to check what kind of target it is, in the words of the configuration and of a NotificationTarget', async (t) => {
    const result = await sendTo(t, (_, response) => response.writeHead(400).end());
    assert.match(('action' in result && result.action) || '', /`kind` of the target \(`type` of a NotificationTarget\)/);
  });

  for (const status of [301, 401, 403, 404, 408, 410, 429, 500, 503])
    it(`is retried after ${status}, without the URL in the message`, async (t) => {
      const result = await sendTo(t, (request, response) =>
        response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(`Cannot POST ${request.url}\n`),
      );
      assert.equal(result.kind, 'failed');
      assert.match(messageOf(result), new RegExp(`answered ${status}`));
      assert.doesNotMatch(messageOf(result), secrets);
    });

  it('is retried when the Retry-After of the target is over', async (t) => {
    const result = await sendTo(t, (_, response) => response.writeHead(429, { 'retry-after': '90' }).end());
    assert.deepEqual(result.kind === 'failed' && result.until, new Date(now + 90_000));
  });

  it('reads only the beginning of an endless answer', async (t) => {
    const result = await sendTo(t, (_, response) => {
      response.writeHead(500);
      const write = () => {
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(write));
      };
      write();
    });
    assert.equal(result.kind, 'failed');
    assert.ok(messageOf(result).length < 400);
  });

  it('fails when the target does not answer in time', async (t) => {
    const result = await sendTo(t, () => undefined, { timeoutMs: 200 });
    assert.equal(result.kind, 'failed');
    assert.doesNotMatch(messageOf(result), secrets);
  });

  it('fails when the connection breaks, or the certificate is wrong', async (t) => {
    const results = [await sendTo(t, (request) => request.socket.destroy()), await sendTo(t, () => undefined, { scheme: 'https' })];
    for (const result of results) {
      assert.equal(result.kind, 'failed');
      assert.doesNotMatch(messageOf(result), secrets);
    }
  });
});
