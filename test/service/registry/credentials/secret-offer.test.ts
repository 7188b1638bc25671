import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normaliseRepository } from '../../../../src/core/model/image-reference.ts';
import type { SecretContent } from '../../../../src/core/model/image-source.ts';
import { offerOfSecret } from '../../../../src/service/registry/credentials/secret-offer.ts';

const image = normaliseRepository('r.example.com', 'team/app');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const auths = { 'r.example.com': { username: 'me', password: 'one' } };
const read = (content: SecretContent) =>
  offerOfSecret({ namespace: 'shop', name: 'creds' }, {}, image, async () => content).read({ refresh: false });

test('a Secret is offered by name, with the object that names it', () => {
  const offer = offerOfSecret({ namespace: 'shop', name: 'creds' }, { note: ', an imagePullSecret,' }, image, async () => ({ why: '' }));
  assert.equal(offer.source, 'Secret shop/creds, an imagePullSecret,');
});

for (const [key, document] of [
  ['.dockerconfigjson', { auths }],
  ['.dockercfg', auths],
] as const) {
  test(`a credential of a Secret is found in ${key}`, async () => {
    assert.deepEqual(await read({ data: { [key]: base64(JSON.stringify(document)) } }), { username: 'me', password: 'one' });
  });
}

test('a Secret offers at most ten matching credentials', async () => {
  const entries = Array.from({ length: 12 }, (_, index) => [
    `${'*?'.repeat(index + 1)}.example.com`,
    { username: `u${index}`, password: 'x' },
  ]);
  const document = { auths: { ...Object.fromEntries(entries), ...auths } };
  const long = { ...image, registry: `${'r'.repeat(24)}.example.com` };
  const content = { data: { '.dockerconfigjson': base64(JSON.stringify(document)) } };
  const found = await offerOfSecret({ namespace: 'shop', name: 'creds' }, {}, long, async () => content).read({ refresh: false });
  assert.ok('username' in found);
  assert.equal(found.others?.length, 9);
});

const useless: [name: string, content: SecretContent, why: RegExp][] = [
  ['missing', { why: 'does not exist' }, /^does not exist$/],
  [
    'of another type',
    { data: { password: base64('x') } },
    /has no key \.dockerconfigjson: it must be of type kubernetes\.io\/dockerconfigjson/,
  ],
  ['not JSON', { data: { '.dockerconfigjson': base64('pa55word') } }, /^cannot be used: \.dockerconfigjson is not valid JSON$/],
  [
    'for another registry',
    { data: { '.dockerconfigjson': base64('{"auths":{"other.example.com":{"auth":"YTpi"}}}') } },
    /^has no entry for r\.example\.com$/,
  ],
  [
    'with a broken entry',
    { data: { '.dockerconfigjson': base64('{"auths":{"r.example.com":{"auth":"?"}}}') } },
    /no entry for r\.example\.com, and the entry "r\.example\.com" has an auth that/,
  ],
];
for (const [name, content, expected] of useless) {
  test(`a Secret that is ${name} gives the reason why it has no credential`, async () => {
    const answer = await read(content);
    assert.ok('why' in answer);
    assert.match(answer.why, expected);
  });
}

test('a failure to read a Secret is thrown, and not taken for a missing credential', async () => {
  const offer = offerOfSecret({ namespace: 'shop', name: 'creds' }, {}, image, () => Promise.reject(new Error('connection refused')));
  await assert.rejects(offer.read({ refresh: false }), /connection refused/);
});
