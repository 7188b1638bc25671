import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aliyun } from '../../../../src/service/receive/providers/aliyun.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: aliyun, credentials: [] });

const push_data = { digest: `sha256:${'a'.repeat(64)}`, pushed_at: '2026-03-01 20:00:00', tag: 'v1.2.3' };
const repository = { repo_full_name: 'team/api', namespace: 'team', name: 'api', region: 'cn-hangzhou' };

const parse = (body: unknown) => aliyun.parse({ headers: {}, body: Buffer.from(JSON.stringify(body)) });
const pushOf = (body: unknown) => parse(body).pushes[0];

for (const [region, registry] of [
  ['cn-shanghai', 'registry.cn-shanghai.aliyuncs.com'],
  ['ap-southeast-1', 'registry.ap-southeast-1.aliyuncs.com'],
  ['attacker.example.com/', undefined],
  ['', undefined],
  [7, undefined],
] as const) {
  test(`aliyun: the region ${JSON.stringify(region)} gives the registry ${registry ?? 'that the configuration must name'}`, () =>
    assert.equal(pushOf({ push_data, repository: { ...repository, region } })?.registry, registry));
}

test('aliyun: without a full name, namespace and name are used', () => {
  const { repo_full_name: _, ...parts } = repository;
  assert.equal(pushOf({ push_data, repository: parts })?.repository, 'team/api');
  assert.deepEqual(parse({ push_data, repository: {} }), {
    pushes: [],
    ignored: [{ code: 'Incomplete', reason: 'the event names no repository' }],
  });
});

test('aliyun: there is no idempotency key, because times have whole seconds and a tag may be pushed twice in one', () => {
  const push = pushOf({ push_data: { ...push_data, pushed_at: '2026-03-01 20:00:00' }, repository });
  assert.ok(push && !('idempotencyKey' in push));
});

test('aliyun: no header authenticates, because the secret is in the URL', () => {
  for (const headers of [{ authorization: 's3cret' }, { authorization: 'Bearer s3cret' }, {}]) {
    assert.equal(aliyun.verify({ headers, body: Buffer.from('s3cret') }, ['s3cret']), false);
  }
});

test('aliyun: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { push_data }, { repository }, { push_data: null, repository }, { push_data, repository: [] }, []]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});
