/** What belongs to receivers, in real processes: tokens of an issuer, secrets that change, a limit that replicas share. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startRedis, type Redis } from '../harness/redis.ts';
import { startService, type Service } from '../harness/service.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { claims, makeIssuer } from '../service/receive/keys.ts';
import { harborBody } from './world.ts';

describe('receivers', () => {
  let redis: Redis;
  let services: Service[];
  let issuer: Awaited<ReturnType<typeof makeIssuer>>;
  let isIssuerUp = false;
  const keys = createServer((_request, response) => {
    if (isIssuerUp) response.end(issuer.jwks);
    else response.writeHead(500).end();
  });
  const secretFile = join(tempFolder('secret'), 'token');
  const writeSecret = (value: string) => {
    writeFileSync(`${secretFile}.new`, value);
    renameSync(`${secretFile}.new`, secretFile);
  };

  before(async () => {
    issuer = await makeIssuer();
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
    writeSecret('first-secret-of-the-file');
    redis = await startRedis();
    const jwksUri = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
    const config = {
      receivers: [
        { name: 'oidc', provider: 'harbor', oidc: { audience: 'image-watcher', issuer: 'https://issuer.example.com', jwksUri } },
        {
          name: 'job',
          provider: 'generic',
          oidc: {
            audience: 'image-watcher',
            issuer: 'https://issuer.example.com',
            jwksUri,
            claims: { repository_owner: ['acme', 'acme-labs'] },
          },
        },
        { name: 'file', provider: 'harbor', secrets: [{ file: secretFile }] },
        { name: 'few', provider: 'harbor', secrets: [{ file: secretFile }], requestsPerMinute: 10 },
      ],
    };
    services = await Promise.all([1, 2].map(() => startService({ redisUrl: redis.url, roles: 'receive', config })));
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await redis.stop();
    keys.close();
    keys.closeAllConnections();
  });

  const post = async (receiver: string, authorization: string, service = 0) => {
    const body = harborBody('r.example.com', 'shop/web', [{ tag: '1.0.0' }]);
    const response = await fetch(`${services[service]?.publicUrl}/webhooks/${receiver}`, {
      method: 'POST',
      body,
      headers: { authorization },
    });
    return response.status;
  };

  it('accept a token of the issuer as soon as its keys are available', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const payload = { ...claims, iss: 'https://issuer.example.com', aud: 'image-watcher', iat: seconds, exp: seconds + 600 };
    const token = `Bearer ${await issuer.token(payload)}`;
    assert.equal(await post('oidc', token), 503);
    isIssuerUp = true;
    await waitFor('the keys', async () => (await post('oidc', token)) === 202, { intervalMs: 200 });
    assert.equal(await post('oidc', `Bearer ${await issuer.token({ ...payload, aud: 'another' })}`), 401);
    assert.equal(await post('oidc', ''), 401);
  });

  it('accept jobs of the customer that the claims name, and no others', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const payload = { iss: 'https://issuer.example.com', aud: 'image-watcher', sub: 'a job', iat: seconds, exp: seconds + 600 };
    const send = async (more: object) => {
      const response = await fetch(`${services[0]?.publicUrl}/webhooks/job`, {
        method: 'POST',
        body: JSON.stringify({ image: 'r.example.com/shop/web:1.0.0' }),
        headers: { authorization: `Bearer ${await issuer.token({ ...payload, ...more })}` },
      });
      return [response.status, await response.text()] as const;
    };
    await waitFor('the keys', async () => (await send({ repository_owner: 'acme' }))[0] === 202, { intervalMs: 200 });
    assert.deepEqual(await send({ repository_owner: 'mallory-of-acme' }), [401, '{"error":"unauthorized"}']);
    assert.deepEqual(await send({}), [401, '{"error":"unauthorized"}']);
    const { logTail, operationsUrl } = services[0] ?? assert.fail();
    const metrics = await (await fetch(`${operationsUrl}/metrics`)).text();
    assert.match(metrics, /image_watcher_refused_tokens_total\{receiver="job",provider="generic",claim="repository_owner"\} 2/);
    await waitFor('the log', () =>
      Promise.resolve(/"receiver":"job".*claim repository_owner.*delivery not authentic/.test(logTail(10_000))),
    );
    assert.doesNotMatch(logTail(10_000) + metrics, /mallory/);
  });

  it('reload a secret when its file changes', async () => {
    await waitFor('the first secret to be accepted', async () => (await post('file', 'first-secret-of-the-file')) === 202);
    writeSecret('second-secret-of-the-file\n');
    await waitFor('the new secret to be in use', async () => (await post('file', 'second-secret-of-the-file')) === 202, {
      intervalMs: 200,
    });
    assert.equal(await post('file', 'first-secret-of-the-file'), 401);
    writeSecret('first-secret-of-the-file');
    for (const service of [0, 1]) {
      await waitFor('the first to be back', async () => (await post('file', 'first-secret-of-the-file', service)) === 202, {
        intervalMs: 200,
      });
    }
  });

  it('share the rate limit across both replicas', async () => {
    // A minute that ends meanwhile starts a new count.
    await waitFor('two replicas to refuse what is too much together', async () => {
      const statuses: number[] = [];
      for (let request = 0; request < 30; request++) statuses.push(await post('few', 'first-secret-of-the-file', request % 2));
      const refused = statuses.filter((status) => status === 429).length;
      assert.ok(refused > 0);
      return [10, 0].includes(statuses.length - refused);
    });
    await waitFor('the first secret to be accepted', async () => (await post('file', 'first-secret-of-the-file')) === 202);
  });

  it('disclose no secret', async () => {
    for (const { logTail, operationsUrl } of services) {
      const text = logTail(10_000) + (await (await fetch(`${operationsUrl}/metrics`)).text());
      assert.ok(!text.includes('-secret-of-the-file') && !text.includes('eyJ'));
      assert.match(text, /image_watcher_rejected_deliveries_total\{receiver="few",provider="harbor",kind="too-many"\} \d+/);
    }
  });
});
