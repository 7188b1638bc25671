import assert from 'node:assert/strict';
import { test } from 'node:test';
import { googleCredentials } from '../../../../src/service/registry/credentials/google.ts';
import { imageAt, offerOf, testSource } from './conformance.ts';
import { startFakeCloud, type CloudAnswer } from './fake-cloud.ts';

const flavor = { 'Metadata-Flavor': 'Google' };
const token = (access_token: string, expires_in = 3_600): CloudAnswer => ({
  headers: flavor,
  body: { access_token, expires_in, token_type: 'Bearer' },
});
const expected = { username: 'oauth2accesstoken', password: 'ya29.token' };
const image = imageAt('europe-docker.pkg.dev');

async function start(answer: CloudAnswer) {
  const { url, requests } = await startFakeCloud(() => answer);
  return { source: googleCredentials({ metadataUrl: url }), image, expected, asked: () => requests.length, requests };
}

testSource({
  name: 'google',
  start: () => start(token(expected.password)),
  startWithout: () => start({ status: 404, headers: flavor }),
  why: /^has no token of a service account \(it answered 404\)$/,
  foreign: ['r.example.com', 'gcr.io.example.com', 'notgcr.io', 'pkg.dev.example.com', 'xpkg.dev', 'gcr.io:5000'],
});

for (const host of ['gcr.io', 'eu.gcr.io', 'europe-west1-docker.pkg.dev', 'docker.pkg.dev']) {
  test(`${host} belongs to Google`, () => assert.equal(googleCredentials()(imageAt(host)).length, 1));
}

test('the metadata server of Google is requested with its header, for the default service account', async () => {
  const { source, requests } = await start(token('a'));
  await offerOf(source, image).read({ refresh: false });
  assert.deepEqual(
    requests.map(({ method, path, headers }) => [method, path, headers['metadata-flavor']]),
    [['GET', '/computeMetadata/v1/instance/service-accounts/default/token', 'Google']],
  );
});

test("another cloud's metadata server is not taken for Google's", async () => {
  const { source } = await start({ status: 401 });
  const read = await offerOf(source, image).read({ refresh: false });
  assert.match('why' in read ? read.why : '', /so this is not Google Cloud \(another one answered 401\)/);
});

test('a missing metadata server is remembered, but not in the first minute, because it appears late in a new pod', async () => {
  let now = 0;
  const source = googleCredentials({ metadataUrl: 'http://127.0.0.1:1', now: () => now });
  const read = () => offerOf(source, image).read({ refresh: false });
  now = 59_999;
  await assert.rejects(read(), { name: 'Error', message: "Google's metadata server does not answer yet" });
  now = 60_000;
  const found = await read();
  assert.match('why' in found ? found.why : '', /^cannot be reached, so this is not Google Cloud \(.*ECONNREFUSED/);
});

test('a metadata server without a DNS name counts as missing from the start', async () => {
  // Two dots make it no name at all: no server is asked for it.
  const source = googleCredentials({ metadataUrl: 'http://metadata..invalid' });
  const read = await offerOf(source, image).read({ refresh: false });
  assert.match('why' in read ? read.why : '', /^cannot be reached, so this is not Google Cloud \(.*ENOTFOUND/);
});

test('a metadata server of Google is retried after a failure', async () => {
  const { source } = await start({ status: 503, headers: flavor });
  await assert.rejects(offerOf(source, image).read({ refresh: false }), /the metadata server answered 503/);
});
