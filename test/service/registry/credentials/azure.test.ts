import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { azureCredentials } from '../../../../src/service/registry/credentials/azure.ts';
import { tempFolder } from '../../../harness/temp-folder.ts';
import { imageAt, offerOf, testSource } from './conformance.ts';
import { startFakeCloud, type CloudAnswer } from './fake-cloud.ts';

const image = imageAt('example.azurecr.io');
const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`;
const refreshToken = jwt({ exp: Math.floor(Date.now() / 1_000) + 10_800 });
const expected = { username: '00000000-0000-0000-0000-000000000000', password: refreshToken, identityToken: refreshToken };

interface Answers {
  readonly login?: CloudAnswer;
  readonly exchange?: CloudAnswer;
}

async function start({ login, exchange }: Answers = {}) {
  const { url, requests } = await startFakeCloud(({ path }) =>
    path === '/oauth2/exchange'
      ? (exchange ?? { body: { refresh_token: refreshToken } })
      : (login ?? { body: { access_token: 'entra-token', expires_in: 3_600 } }),
  );
  const tokenFile = join(tempFolder('azure'), 'token');
  writeFileSync(tokenFile, 'federated-token\n');
  const identity = { tokenFile, tenantId: 'tenant-1', clientId: 'client-1', authorityHost: `${url}/` };
  return { source: azureCredentials({ identity, originOf: () => url }), image, expected, asked: () => requests.length, requests };
}

const refused: CloudAnswer = {
  status: 401,
  body: { error: 'invalid_client', error_description: 'AADSTS700211: No matching record\r\nTrace ID: 1' },
};

testSource({
  name: 'azure',
  start: () => start(),
  startWithout: () => start({ login: refused }),
  why: /^gets no token \(401: AADSTS700211: No matching record\): check its federated credential$/,
  foreign: ['r.example.com', 'azurecr.io', 'example.azurecr.io.example.com', 'example.azurecr.io:5000'],
});

for (const host of ['example.azurecr.io', 'example.azurecr.us', 'example.azurecr.cn', 'example.westeurope.data.azurecr.io']) {
  test(`${host} belongs to Azure`, () => assert.equal(azureCredentials({ identity: undefined })(imageAt(host)).length, 1));
}

test('the federated token of Azure is exchanged for an Entra token, and that for a refresh token of the registry', async () => {
  const { source, requests } = await start();
  await offerOf(source, image).read({ refresh: false });
  assert.deepEqual(
    requests.map(({ method, path, body }) => [method, path, Object.fromEntries(new URLSearchParams(body))]),
    [
      [
        'POST',
        '/tenant-1/oauth2/v2.0/token',
        {
          grant_type: 'client_credentials',
          client_id: 'client-1',
          scope: 'https://containerregistry.azure.net/.default',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: 'federated-token',
        },
      ],
      [
        'POST',
        '/oauth2/exchange',
        { grant_type: 'access_token', service: 'example.azurecr.io', tenant: 'tenant-1', access_token: 'entra-token' },
      ],
    ],
  );
});

test('each registry of Azure has a refresh token of its own', async () => {
  const { source, requests } = await start();
  for (const name of ['one', 'two']) await offerOf(source, imageAt(`${name}.azurecr.io`)).read({ refresh: false });
  assert.equal(requests.filter(({ path }) => path === '/oauth2/exchange').length, 2);
});

test('outside Azure the reason for no credential says so, without a request', async () => {
  const read = await offerOf(azureCredentials({ identity: undefined }), image).read({ refresh: false });
  assert.match('why' in read ? read.why : '', /^is not there: AZURE_FEDERATED_TOKEN_FILE, .* are not set$/);
});

test('a registry of Azure that does not know the identity is reported', async () => {
  const { source } = await start({ exchange: { status: 401, body: { errors: [] } } });
  const read = await offerOf(source, image).read({ refresh: false });
  assert.match('why' in read ? read.why : '', /^is not accepted by example\.azurecr\.io \(401\): it needs the role AcrPull$/);
});

for (const [what, answers] of [
  ['Entra', { login: { status: 503 } }],
  ['a registry', { exchange: { status: 429 } }],
] as const) {
  test(`${what} is retried after a failure`, async () => {
    const { source } = await start(answers);
    await assert.rejects(offerOf(source, image).read({ refresh: false }), /the answer is (503|429)/);
  });
}
