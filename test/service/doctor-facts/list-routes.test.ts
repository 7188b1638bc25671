/** Which proxy the doctor says applies to which host: what decides for requests decides here. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listRoutes } from '../../../src/service/doctor-facts/list-routes.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { openOutbound } from '../../../src/service/proxy/outbound.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('list-routes'), 'config.yaml');
writeFileSync(
  file,
  JSON.stringify({
    registries: [
      { host: 'harbor.example.com', proxy: 'none' },
      { host: 'quay.io', proxy: 'http://quay-proxy:3128' },
    ],
    receivers: [
      {
        name: 'google',
        provider: 'google',
        oidc: { audience: 'https://hooks.example.com', email: 'push@example.iam.gserviceaccount.com' },
      },
      { name: 'sns', provider: 'ecr', sns: { topics: ['arn:aws:sns:eu-west-1:123456789012:pushes'] } },
    ],
    triggers: { hosts: ['gitlab.example.com', 'http://el-rebuild.ci:8080'] },
    dashboard: {
      oidc: { issuer: 'https://sso.example.com/realms/x', clientId: 'x', clientSecret: { env: 'SECRET' } },
      publicUrl: 'https://images.example.com',
    },
  }),
);
const env = {
  HTTPS_PROXY: 'http://me:secret@proxy:3128',
  HTTP_PROXY: 'http://plain:3128',
  NO_PROXY: '.example.com,.svc',
  SECRET: 'the secret of the client',
};

/** How many policies each registry has. */
type Uses = ReadonlyMap<string, number>;
const policies: Uses = new Map([
  ['docker.io', 2],
  ['ghcr.io', 1],
  ['registry.tools.svc:5000', 1],
  ['quay.io', 1],
  ['not.allowed', 1],
]);

async function list(of: Uses, environment: Readonly<Record<string, string>> = env) {
  const settings = loadSettings({ file, env: { ...environment, SECRET: env.SECRET } });
  const outbound = openOutbound(settings.proxies);
  const client = createRegistryClient({
    registries: settings.config.registries,
    allowedRegistries: ['harbor.example.com', ...of.keys()].filter((host) => host !== 'not.allowed'),
    proxies: settings.proxies,
    credentials: () => [],
  });
  const facts = listRoutes({ settings, outbound }, client, of);
  await Promise.all([client.close(), outbound.close()]);
  return facts;
}

test('the route to each host names its proxy, or why there is none', async () => {
  const proxy = 'http://proxy:3128 (HTTPS_PROXY)';
  const { routes, notListed, isOnlyHttp } = await list(policies);
  assert.deepEqual(routes, [
    { host: 'harbor.example.com', why: 'registries[].proxy is none' },
    { host: 'quay.io', proxy: 'http://quay-proxy:3128 (registries[].proxy)' },
    { host: 'docker.io', proxy },
    { host: 'ghcr.io', proxy },
    { host: 'registry.tools.svc:5000', why: 'NO_PROXY has .svc' },
    { host: 'www.googleapis.com (keys of receivers)', proxy },
    { host: 'sns.eu-west-1.amazonaws.com (certificates of SNS)', proxy },
    { host: 'gitlab.example.com (rebuilds)', why: 'NO_PROXY has .example.com' },
    { host: 'el-rebuild.ci:8080 (rebuilds)', proxy: 'http://plain:3128 (HTTP_PROXY)' },
    { host: 'sso.example.com (sign-in)', why: 'NO_PROXY has .example.com' },
  ]);
  assert.deepEqual([notListed, isOnlyHttp], [0, false]);
  assert.doesNotMatch(JSON.stringify(routes), /me:|secret/);
});

test('the hosts of policies are listed up to a limit, and the others are counted', async () => {
  const { routes, notListed, isOnlyHttp } = await list(new Map(Array.from({ length: 100 }, (_, index) => [`r${index}.example.org`, 1])), {
    HTTP_PROXY: 'http://plain:3128',
  });
  assert.ok(routes.length < 60);
  assert.deepEqual([notListed, isOnlyHttp], [52, true]);
});
