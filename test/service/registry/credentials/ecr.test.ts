import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ecrCredentials, ecrEndpoint } from '../../../../src/service/registry/credentials/ecr.ts';
import { imageAt, offerOf, testSource } from './conformance.ts';
import { startFakeCloud, type CloudAnswer } from './fake-cloud.ts';

const expected = { username: 'AWS', password: 'ecr-pa55word' };
const image = imageAt('123456789012.dkr.ecr.eu-west-1.amazonaws.com');
const identity = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'example' };
const tokenOf = ({ username, password }: typeof expected): CloudAnswer => {
  const authorizationToken = Buffer.from(`${username}:${password}`).toString('base64');
  return { body: { authorizationData: [{ authorizationToken, expiresAt: Date.now() / 1_000 + 43_200 }] } };
};
const refusal = (status: number, type: string): CloudAnswer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: { __type: type, message: 'User: arn:aws:iam::1:role/web is not authorized' },
});

async function start(answer: CloudAnswer) {
  const { url, requests } = await startFakeCloud(() => answer);
  const source = ecrCredentials({ client: { endpoint: url, credentials: identity, maxAttempts: 1 } });
  return { source, image, expected, asked: () => requests.length, requests };
}

testSource({
  name: 'ecr',
  start: () => start(tokenOf(expected)),
  startWithout: () => start(refusal(400, 'AccessDeniedException')),
  why: /^gets no token \(AccessDeniedException: User: arn.*\): it needs ecr:GetAuthorizationToken$/,
  foreign: [
    'r.example.com',
    'public.ecr.aws',
    '123456789012.dkr.ecr.eu-west-1.amazonaws.com.example.com',
    '12.dkr.ecr.eu-west-1.amazonaws.com',
  ],
});

const endpoints: [host: string, region: string, kind: '' | 'fips' | 'dualstack'][] = [
  ['123456789012.dkr.ecr.eu-west-1.amazonaws.com', 'eu-west-1', ''],
  ['123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn', 'cn-north-1', ''],
  ['123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1', 'fips'],
  ['123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1', ''],
  ['123456789012.dkr-ecr.us-east-2.on.aws', 'us-east-2', 'dualstack'],
];
for (const [host, region, kind] of endpoints) {
  test(`the endpoint of ECR is found for ${host}`, () => {
    assert.deepEqual(ecrEndpoint(host), { region, useFipsEndpoint: kind === 'fips', useDualstackEndpoint: kind === 'dualstack' });
  });
}

test('one token of ECR is used for all registries of a region, and requested in that region', async () => {
  const { source, requests } = await start(tokenOf(expected));
  for (const account of ['123456789012', '210987654321']) {
    await offerOf(source, imageAt(`${account}.dkr.ecr.eu-west-1.amazonaws.com`)).read({ refresh: false });
  }
  assert.equal(requests.length, 1);
  assert.equal(requests[0]?.headers['x-amz-target'], 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken');
  assert.match(String(requests[0]?.headers['authorization']), /Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/ecr\/aws4_request/);
  await offerOf(source, imageAt('123456789012.dkr.ecr.us-east-1.amazonaws.com')).read({ refresh: false });
  assert.match(String(requests[1]?.headers['authorization']), /\/us-east-1\/ecr\//);
});

test('without an AWS identity the reason for no credential says so', async () => {
  const credentials = () => Promise.reject(Object.assign(new Error('Could not load'), { name: 'CredentialsProviderError' }));
  const source = ecrCredentials({ client: { endpoint: 'http://127.0.0.1:1', credentials } });
  const read = await offerOf(source, image).read({ refresh: false });
  assert.match('why' in read ? read.why : '', /^is not there: no credentials of AWS were found$/);
});

for (const [what, answer] of [
  ['in trouble', refusal(500, 'ServerException')],
  ['throttling', refusal(400, 'ThrottlingException')],
] as const) {
  test(`a request to an API of ECR that is ${what} is retried`, async () => {
    const { source } = await start(answer);
    await assert.rejects(offerOf(source, image).read({ refresh: false }), /asking ECR for an authorization token/);
  });
}
