import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { Agent } from 'undici';
import { createFetchText, FetchRefused } from '../../../src/service/receive/fetch-text.ts';

let origin = '';
const server = createServer((request, response) => {
  if (request.url === '/keys') response.end('{"keys":[]}');
  else if (request.url === '/moved') response.writeHead(302, { location: '/keys' }).end();
  else if (request.url === '/large') response.end('x'.repeat(600 * 1_024));
  else if (request.url !== '/hangs') response.writeHead(404).end();
});
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const fetchText = createFetchText(new Agent());
const signal = () => AbortSignal.timeout(10_000);

test('the keys at a loopback address are fetched over http', async () =>
  assert.equal(await fetchText(`${origin}/keys`, signal()), '{"keys":[]}'));

test('a fetch of keys refuses redirects and unsuccessful answers', async () => {
  for (const path of ['/moved', '/nothing']) await assert.rejects(fetchText(`${origin}${path}`, signal()), FetchRefused);
});

test('a fetch of keys reads no more than 512 kB', async () => assert.rejects(fetchText(`${origin}/large`, signal()), /larger than/));

test('a fetch of keys stops when its signal is aborted', async () => assert.rejects(fetchText(`${origin}/hangs`, AbortSignal.timeout(50))));

test('a fetch of keys requires https for hosts other than loopback', async () => {
  for (const url of ['http://example.com/keys', 'file:///etc/passwd', 'http://127.0.0.1.example.com/'])
    await assert.rejects(fetchText(url, signal()), /is not https/);
});
