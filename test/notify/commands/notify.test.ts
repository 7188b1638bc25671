/** Test messages to real servers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import tls from 'node:tls';
import { UsageError } from '../../../src/service/command-line/command.ts';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { freePort } from '../../harness/free-port.ts';
import { createAuthority, loopback } from '../../harness/server-certificate.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { runCommand } from '../../cli/run-command.ts';

const folder = tempFolder('notify');

async function listen(t: TestContext, server: Server): Promise<number> {
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The origin of a server that answers so. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createServer(answer))}`;
}

/** Writes the configuration with these targets: each URL is in a file. */
function configure(urls: Readonly<Record<string, string>>, more: object = { kind: 'slack' }): string {
  const targets = Object.entries(urls).map(([name, url]) => {
    const file = join(folder, `${name}-url`);
    writeFileSync(file, `${url}\n`);
    return { name, insecure: true, url: { file }, ...more };
  });
  const config = join(folder, 'config.yaml');
  writeFileSync(config, JSON.stringify({ notifications: { targets } }));
  return config;
}

const run = (config: string, ...args: string[]) => runCommand('notify', ['test', ...args, '--config', config]);

describe('image-watcher notify test', () => {
  it('sends a message to each target', async (t) => {
    const bodies: string[] = [];
    const origin = await serve(t, (request, response) => {
      void text(request).then((body) => {
        bodies.push(`${request.url} ${(JSON.parse(body) as { text: string }).text}`);
        return response.writeHead(200).end('ok');
      });
    });
    const { code, out } = await run(configure({ ops: `${origin}/a`, developers: `${origin}/b` }));
    assert.equal(out, `✓ ops         slack  POST to ${origin} was answered 200\n✓ developers  slack  POST to ${origin} was answered 200\n`);
    assert.equal(code, 0);
    assert.deepEqual(bodies.sort(), ['/a 🔵 Test message of image-watcher', '/b 🔵 Test message of image-watcher']);
  });

  it('sends a message only to the named targets', async (t) => {
    const asked: string[] = [];
    const origin = await serve(t, ({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(200).end();
    });
    const { code } = await run(configure({ ops: `${origin}/a`, developers: `${origin}/b` }), 'developers');
    assert.deepEqual([code, asked], [0, ['/b']]);
  });

  it('ends with 1 if a target fails, with the answer and the remedy, without its secret, also with --output json', async (t) => {
    const origin = await serve(t, ({ url }, response) =>
      url?.startsWith('/good') ? response.writeHead(204).end() : response.writeHead(404).end(`no_service ${url}\u001B[2J`),
    );
    const config = configure({ good: `${origin}/good`, revoked: `${origin}/s3cret-of-the-hook` });
    const { code, out } = await run(config);
    assert.equal(code, 1);
    assert.match(out, /^✓ good {5}slack {2}POST to \S+ was answered 204$/m);
    assert.match(out, /^✗ revoked {2}slack {2}POST to \S+ was answered 404: no_service … \[2J\n {4}→ check that the URL/m);
    const json = await run(config, '-o', 'json');
    const parsed = JSON.parse(json.out) as { ok: boolean; targets: { target: string; ok: boolean; action?: string }[] };
    assert.deepEqual(
      [json.code, parsed.ok, parsed.targets.map(({ target, ok }) => [target, ok])],
      [
        1,
        false,
        [
          ['good', true],
          ['revoked', false],
        ],
      ],
    );
    assert.match(parsed.targets[1]?.action ?? '', /still valid/);
    assert.doesNotMatch(out + json.out, /s3cret/);
  });

  it('says when to try again', async (t) => {
    const origin = await serve(t, (_, response) => response.writeHead(429, { 'retry-after': '90' }).end());
    const { code, out } = await run(configure({ ops: origin }));
    assert.equal(code, 1);
    assert.match(out, /was answered 429\n {4}→ try again after 20/);
  });

  it('reports a wrong certificate, port or URL, and a missing secret', async (t) => {
    const [authority, stranger] = await Promise.all([createAuthority('ours'), createAuthority('unknown')]);
    const before = tls.getCACertificates();
    tls.setDefaultCACertificates([...before, authority.ca]);
    t.after(() => tls.setDefaultCACertificates(before));
    const secure = async (certificate: { cert: string; key: string }) =>
      `https://127.0.0.1:${await listen(
        t,
        createTlsServer(certificate, (_, response) => response.end()),
      )}`;
    const urls = {
      good: await secure(await authority.issue(loopback)),
      expired: await secure(await authority.issue(loopback, -3_600_000)),
      other: await secure(await authority.issue([{ type: 'dns', value: 'other.example.com' }])),
      unknown: await secure(await stranger.issue(loopback)),
      closed: `http://127.0.0.1:${await freePort()}`,
      nonsense: 'chat.example.com/hooks',
    };
    const { code, out } = await run(configure(urls));
    assert.equal(code, 1);
    const lines = Object.fromEntries(out.split(/^(?=[✓✗])/m).map((line) => [line.split(/ +/)[1] ?? '', line]));
    assert.match(lines['good'] ?? '', /^✓/);
    for (const [name, expected] of Object.entries({
      expired: /certificate has expired \(CERT_HAS_EXPIRED\)\n {4}→ renew the certificate/,
      other: /its certificate is for other\.example\.com, not for 127\.0\.0\.1 .*\n {4}→ use a name/,
      unknown: /from an unknown authority.*\n {4}→ .*NODE_EXTRA_CA_CERTS/,
      closed: /ECONNREFUSED.*\n {4}→ check the host and port/,
      nonsense: /holds no URL\n {4}→ put its URL/,
    }))
      assert.match(lines[name] ?? '', expected);
    const missing = join(folder, 'missing.yaml');
    writeFileSync(
      missing,
      JSON.stringify({ notifications: { targets: [{ name: 'ops', kind: 'slack', url: { env: 'IMAGE_WATCHER_TEST_IS_NOT_SET' } }] } }),
    );
    const answer = await run(missing);
    assert.equal(answer.code, 1);
    assert.match(
      answer.out,
      /^✗ ops {2}slack {2}notifications.targets\[0\].url: .*IMAGE_WATCHER_TEST_IS_NOT_SET is not set: set it, or name another one\n {4}→ set it where/,
    );
  });

  it('marks a CloudEvent as a test', async (t) => {
    const events: { type: string; data: object }[] = [];
    const origin = await serve(t, (request, response) => {
      void text(request).then((body) => {
        events.push(JSON.parse(body) as { type: string; data: object });
        return response.writeHead(202).end();
      });
    });
    const secret = join(folder, 'key');
    writeFileSync(secret, 'whsec_aGVsbG8gaGVsbG8gaGVsbG8=');
    const { code, out } = await run(configure({ platform: origin }, { kind: 'webhook', secret: { file: secret } }));
    assert.equal(code, 0, out);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [['dev.technomad.image-watcher.Test', { target: 'platform' }]],
    );
  });

  it('refuses a target that does not exist, a configuration without targets, and an invalid one', async () => {
    const config = configure({ ops: 'https://chat.example.com/hooks/a' });
    await assert.rejects(run(config, 'opps'), (error) => error instanceof UsageError && /no target "opps"; .*: ops$/.test(error.message));
    await assert.rejects(run(configure({})), UsageError);
    await assert.rejects(run(configure({ ops: '' }, { kind: 'pager' })), ConfigError);
    const { code, out } = await runCommand('notify', ['test', '--help']);
    assert.equal(code, 0);
    assert.match(out, /^Usage: image-watcher notify test/);
  });
});
