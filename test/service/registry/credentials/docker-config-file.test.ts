import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dockerConfigFileCredentials } from '../../../../src/service/registry/credentials/docker-config-file.ts';
import { tempFolder } from '../../../harness/temp-folder.ts';
import { imageAt, offerOf, testSource } from './conformance.ts';

const host = 'r.example.com';
const expected = { username: 'me', password: 'pa55word' };
const auth = (password: string) => JSON.stringify({ auths: { [host]: { username: 'me', password } } });

function world(text: string | undefined) {
  const file = join(tempFolder('docker-config'), 'config.json');
  const write = (text: string) => writeFileSync(file, text);
  if (text !== undefined) write(text);
  const state = { now: 0 };
  return { state, write, source: dockerConfigFileCredentials({ file, now: () => state.now }) };
}

const start = async (text: string | undefined) => ({ source: world(text).source, image: imageAt(host), expected, asked: () => 0 });

testSource({
  name: 'docker-config-file',
  start: () => start(auth('pa55word')),
  startWithout: () => start(undefined),
  why: /^cannot be read \(ENOENT\)$/,
});

test('a changed docker config file is reloaded after some seconds, and at once when the registry refused', async () => {
  const { state, write, source } = world(auth('one'));
  const read = async (refresh: boolean) => {
    const found = await offerOf(source, imageAt(host)).read({ refresh });
    return 'why' in found ? found.why : found.password;
  };
  assert.equal(await read(false), 'one');
  write(auth('two'));
  assert.equal(await read(false), 'one');
  assert.equal(await read(true), 'two');
  write(auth('three'));
  state.now = 10_000;
  assert.equal(await read(false), 'three');
  write('{"auths":{');
  assert.equal(await read(true), 'cannot be used: it is not valid JSON');
});

test('credential helpers of a docker config are not run, and the message says so', async () => {
  const { source } = world(JSON.stringify({ auths: { [host]: {} }, credsStore: 'desktop' }));
  const found = await offerOf(source, imageAt(host)).read({ refresh: false });
  assert.match(
    'why' in found ? found.why : '',
    /has no entry for r\.example\.com, and the entry .* and credsStore and credHelpers are not run/,
  );
});
