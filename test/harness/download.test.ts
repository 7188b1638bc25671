import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { downloadChecked } from './download.ts';
import { tempFolder } from './temp-folder.ts';

const content = 'a program';
const checksum = createHash('sha256').update(content).digest('hex');
const answers: Record<string, string> = {
  '/program': content,
  '/bare': checksum,
  '/list': `${'0'.repeat(64)}  another\n${checksum}  program\n`,
  '/wrong': '0'.repeat(64),
  '/incomplete': `${checksum}  another\n${checksum}  third\n`,
};
const server = createServer((request, response) => {
  const answer = answers[request.url ?? ''];
  response.writeHead(answer === undefined ? 404 : 200).end(answer);
});
let base: string;
before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

for (const list of ['/bare', '/list']) {
  test(`a download is kept when its checksum matches (${list})`, async () => {
    const path = join(tempFolder('download'), 'program');
    await downloadChecked({ url: `${base}/program`, checksumUrl: `${base}${list}`, path });
    assert.equal(readFileSync(path, 'utf8'), content);
  });
}

const failures = [
  { name: 'another checksum', checksumUrl: '/wrong', message: /is published/ },
  { name: 'no checksum for this file', checksumUrl: '/incomplete', message: /no checksum is published for program/ },
  { name: 'no list of checksums', checksumUrl: '/missing', message: /status 404/ },
];
for (const { name, checksumUrl, message } of failures) {
  test(`a download is refused because of ${name}`, async () => {
    const path = join(tempFolder('download'), 'program');
    await assert.rejects(downloadChecked({ url: `${base}/program`, checksumUrl: `${base}${checksumUrl}`, path }), message);
    assert.equal(existsSync(path), false);
  });
}
