import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normaliseRepository } from '../../src/core/image-reference.ts';
import { firstCredential } from '../../src/registry/credential.ts';
import { secretCredentials } from '../../src/registry/credentials/secret.ts';

const repository = normaliseRepository('r.example.com', 'team/app');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (password: string, key = '.dockerconfigjson') => {
  const auths = { 'r.example.com': { username: 'me', password } };
  return { [key]: base64(JSON.stringify(key === '.dockercfg' ? auths : { auths })) };
};

/** A Secret that the test writes and whose readings are counted. */
function world(data: Record<string, string> | undefined) {
  const state = { data, now: 0, reads: 0, failure: undefined as Error | undefined };
  const source = secretCredentials({
    name: 'operators/oci-registry-creds',
    now: () => state.now,
    readSecret: async () => {
      state.reads++;
      if (state.failure) throw state.failure;
      return state.data;
    },
  });
  return Object.assign(state, { source });
}

for (const key of ['.dockerconfigjson', '.dockercfg']) {
  test(`a credential is found in ${key}`, async () => {
    const { source } = world(secret('one', key));
    const expected = { username: 'me', password: 'one', source: 'Secret operators/oci-registry-creds' };
    assert.deepEqual(await source(repository, { refresh: false }), expected);
    assert.equal(source.whyNone?.(repository), undefined);
  });
}

test('the Secret is read once for simultaneous askers, and again when the cache is old', async () => {
  const it = world(secret('one'));
  await Promise.all([it.source(repository, { refresh: false }), it.source(repository, { refresh: false })]);
  assert.equal(it.reads, 1);
  it.now = 29_999;
  await it.source(repository, { refresh: false });
  assert.equal(it.reads, 1);
  it.now = 30_000;
  await it.source(repository, { refresh: false });
  assert.equal(it.reads, 2);
});

test('a refresh sees a changed Secret at once', async () => {
  const it = world(secret('one'));
  await it.source(repository, { refresh: false });
  it.data = secret('two');
  assert.equal((await it.source(repository, { refresh: false }))?.password, 'one');
  assert.equal((await it.source(repository, { refresh: true }))?.password, 'two');
  assert.equal((await it.source(repository, { refresh: false }))?.password, 'two');
});

const useless: [name: string, data: Record<string, string> | undefined, why: RegExp][] = [
  ['missing', undefined, /^Secret operators\/oci-registry-creds does not exist$/],
  ['of another type', { password: base64('x') }, /has no key \.dockerconfigjson; it must be of type kubernetes\.io\/dockerconfigjson/],
  ['not JSON', { '.dockerconfigjson': base64('pa55word') }, /cannot be used: \.dockerconfigjson is not valid JSON$/],
  [
    'for another registry',
    { '.dockerconfigjson': base64('{"auths":{"other.example.com":{"auth":"YTpi"}}}') },
    /has no entry for r\.example\.com$/,
  ],
  [
    'with a broken entry',
    { '.dockerconfigjson': base64('{"auths":{"r.example.com":{"auth":"?"}}}') },
    /no entry for r\.example\.com; the entry "r\.example\.com" has an auth that/,
  ],
];
for (const [name, data, why] of useless) {
  test(`a Secret that is ${name} means anonymous, and says why`, async () => {
    const { source } = world(data);
    assert.equal(await source(repository, { refresh: false }), undefined);
    assert.match(source.whyNone?.(repository) ?? '', why);
  });
}

test('while the Secret cannot be read the last one is used, but a refresh must know', async () => {
  const it = world(secret('one'));
  await it.source(repository, { refresh: false });
  it.now = 60_000;
  it.failure = new Error('connection refused');
  assert.equal((await it.source(repository, { refresh: false }))?.password, 'one');
  await assert.rejects(it.source(repository, { refresh: true }), {
    message: 'reading Secret operators/oci-registry-creds',
    cause: it.failure,
  });
});

test('a Secret that could never be read is an error, not anonymous', async () => {
  const it = world(secret('one'));
  it.failure = new Error('connection refused');
  await assert.rejects(it.source(repository, { refresh: false }), /reading Secret/);
  it.failure = undefined;
  assert.equal((await it.source(repository, { refresh: false }))?.password, 'one');
});

test('the first source that has a credential answers', async () => {
  const missing = world(undefined).source;
  const present = world(secret('one')).source;
  assert.equal((await firstCredential([missing, present])(repository, { refresh: false }))?.password, 'one');
  const none = firstCredential([missing, async () => undefined]);
  assert.equal(await none(repository, { refresh: false }), undefined);
  assert.equal(none.whyNone?.(repository), 'Secret operators/oci-registry-creds does not exist');
});
