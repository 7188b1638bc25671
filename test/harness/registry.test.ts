import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pushImage, pushIndex } from './push-image.ts';
import { startRegistry } from './registry.ts';
import { waitFor } from './wait-for.ts';

type Event = { action: string; target: { repository: string; tag?: string; digest: string } };

test('the test registry announces a push with tag and digest, and with the requested headers', async (t) => {
  const events: Event[] = [];
  const seen: IncomingMessage[] = [];
  const receive = async (request: IncomingMessage) => {
    seen.push(request);
    events.push(...(JSON.parse(await text(request)) as { events: Event[] }).events);
  };
  const receiver = createServer((request, response) => {
    receive(request).then(
      () => response.end(),
      (error: Error) => response.destroy(error),
    );
  }).listen(0, '127.0.0.1');
  t.after(() => receiver.close());
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const registry = await startRegistry({ notify: { url, headers: { Authorization: 'Bearer secret' } } });
  t.after(() => registry.stop());

  const { digest } = await pushImage({ host: registry.host, repository: 'team/web', tag: '1.2.3' });
  const event = await waitFor('the announcement of the tag', () => events.find(({ target }) => target.tag === '1.2.3'));
  assert.equal(event.action, 'push');
  assert.equal(event.target.repository, 'team/web');
  assert.equal(event.target.digest, digest);
  assert.ok(seen.every(({ headers }) => headers.authorization === 'Bearer secret'));
});

test('images in the test registry survive kill -9, and pushes and pulls need the password', async (t) => {
  const auth = { user: 'robot', password: 'pear' };
  const registry = await startRegistry({ htpasswd: auth });
  t.after(() => registry.stop());
  const target = { host: registry.host, repository: 'team/web', tag: 'latest' };
  await assert.rejects(pushImage(target), /401/);
  const first = await pushImage({ ...target, auth, content: 'one' });
  const second = await pushIndex({ ...target, auth, content: 'two' });
  assert.notEqual(first.digest, second.digest);

  await registry.kill9();
  await registry.restart();
  const headers = { authorization: `Basic ${btoa('robot:pear')}`, accept: second.mediaType };
  const manifest = await fetch(`http://${registry.host}/v2/team/web/manifests/latest`, { method: 'HEAD', headers });
  assert.equal(manifest.headers.get('docker-content-digest'), second.digest);
});
