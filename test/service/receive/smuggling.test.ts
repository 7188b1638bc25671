/** One request is one request: what two parsers could read in two ways is refused, and its connection closed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startApp } from './start-app.ts';

const push = (tag: string) =>
  `{"type":"PUSH_ARTIFACT","occur_at":1,"event_data":{"resources":[{"tag":"${tag}","resource_url":"h.example.com/a/b:${tag}"}],"repository":{"repo_full_name":"a/b"}}}`;
const head = (...lines: string[]) => ['POST /webhooks/prod HTTP/1.1', 'Host: a', 'Authorization: s3cret', ...lines, '', ''].join('\r\n');
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const hidden = `${head(`Content-Length: ${push('hidden').length}`)}${push('hidden')}`;

/** Sends bytes; returns all that came until the server closed the connection. */
async function send(t: TestContext, bytes: string): Promise<{ answers: string[]; tags: string[] }> {
  const { app, stored } = await startApp(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return { answers: [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status), tags: stored.map(({ tag }) => tag) };
}

for (const [what, bytes] of [
  ['a length and chunks', head(`Content-Length: ${chunked(push('1')).length}`, 'Transfer-Encoding: chunked') + chunked(push('1')) + hidden],
  ['two lengths', head('Content-Length: 0', `Content-Length: ${hidden.length}`) + hidden],
  ['two lengths in one header', head(`Content-Length: 0, ${hidden.length}`) + hidden],
  ['a length with a sign', head('Content-Length: +0') + hidden],
  ['a length with a space before the colon', head(`Content-Length : ${hidden.length}`) + hidden],
  ['an encoding that there is not', head('Transfer-Encoding: xchunked') + chunked(push('1')) + hidden],
  ['chunks that are encoded again', head('Transfer-Encoding: chunked, identity') + chunked(push('1')) + hidden],
  ['a chunk whose size is no number', head('Transfer-Encoding: chunked') + `0x5\r\nhello\r\n0\r\n\r\n${hidden}`],
  ['a folded header', head('X-A: b', ' Transfer-Encoding: chunked') + hidden],
  ['a header with a line feed only', `POST /webhooks/prod HTTP/1.1\nHost: a\nContent-Length: 0\n\n${hidden}`],
  ['a carriage return in a value', head('X-A: b\rTransfer-Encoding: chunked') + hidden],
  ['a NUL in a value', head('X-A: b\0') + hidden],
  ['a request line with a space in the path', `POST /webhooks/prod x HTTP/1.1\r\nHost: a\r\n\r\n${hidden}`],
] as const) {
  test(`a request with ${what} gets 400, and nothing that follows is read`, { timeout: 60_000 }, async (t) => {
    assert.deepEqual(await send(t, bytes), { answers: ['400'], tags: [] });
  });
}

test('two requests in one packet are two requests', { timeout: 60_000 }, async (t) => {
  const first = head('Transfer-Encoding: chunked') + chunked(push('1'));
  const last = `${head('Connection: close', `Content-Length: ${push('2').length}`)}${push('2')}`;
  assert.deepEqual(await send(t, first + last), { answers: ['202', '202'], tags: ['1', '2'] });
});
