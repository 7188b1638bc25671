import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLimits, readPodLog, toLines } from '../../../src/service/kube/read-pod-log.ts';
import { startFakeApiServer } from './fake-api-server.ts';

const rows: readonly (readonly [name: string, text: string | undefined, lines: readonly string[]])[] = [
  ['nothing', undefined, []],
  ['an empty log', '', []],
  ['a line without its end', 'starts\npanic', ['starts', 'panic']],
  ['Windows line ends, an empty line and tabs', 'a\r\n\r\n\tat main\r\n', ['a', '', '  at main']],
  ['colours', '\u001B[1;31merror\u001B[0m: no', ['error: no']],
  ['sequences that move the cursor or set a title', '\u001B]0;owned\u0007\u001B[2Jx', ['\uFFFD]0;owned\uFFFDx']],
  ['characters that reverse a text or are not seen', 'a\u202Eb\u200Bc\0', ['a\uFFFDb\uFFFDc\uFFFD']],
];
for (const [name, text, lines] of rows) test(`the log of a pod is shown safely with ${name}`, () => assert.deepEqual(toLines(text), lines));

test('a log is cut to the maximum length, whatever the server sends', () => {
  const lines = toLines(`${'x'.repeat(10_000)}\n${'y\n'.repeat(100_000)}`);
  assert.equal(lines.length, logLimits.lines);
  assert.equal(toLines('x'.repeat(1_000_000))[0]?.length, logLimits.characters);
});

test('only the last lines of the log of one container are requested, and read as text', async (t) => {
  const server = await startFakeApiServer();
  t.after(() => server.stop());
  server.handle(({ response }) => response.writeHead(200, { 'content-type': 'text/plain' }).end('{"not": "parsed"}\n'));
  const client = server.client();
  const of = { namespace: 'shop', pod: 'web-1', container: 'web', previous: true };
  assert.deepEqual(await readPodLog(client, of), ['{"not": "parsed"}']);
  const [exchange] = server.exchanges;
  assert.equal(exchange?.path, '/api/v1/namespaces/shop/pods/web-1/log');
  assert.deepEqual(Object.fromEntries(exchange.query), { container: 'web', tailLines: '20', limitBytes: '16384', previous: 'true' });
});
