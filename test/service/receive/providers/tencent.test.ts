import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { tencent } from '../../../../src/service/receive/providers/tencent.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: tencent, credentials: ['authorization', 'authentication'] });

const body = Buffer.from('{}');

for (const [headers, isAuthentic] of [
  [{ authorization: 's3cret' }, true],
  [{ authorization: 'Bearer s3cret' }, true],
  [{ authentication: 's3cret' }, true],
  [{ authentication: 'other', authorization: 's3cret' }, true],
  [{ 'x-secret': 's3cret' }, true],
  [{ 'x-secret': 's3cre' }, false],
  [{ authentication: ['s3cret', 's3cret'] }, false],
  [{}, false],
] as const) {
  test(`tencent: a delivery with ${JSON.stringify(headers)} is ${isAuthentic ? 'accepted' : 'refused'}`, () =>
    assert.equal(tencent.verify({ headers, body }, ['s3cret']), isAuthentic));
}

test('tencent: charts and other artifacts of the console are not pushes, whatever their names', () => {
  for (const type of ['deleteImage', 'uploadChart', 'deleteChart', 'UPLOAD_CHART', '']) {
    const event = { type, event_data: { resources: [{ tag: '1' }], repository: { repo_full_name: 'a/b' } } };
    const { pushes, ignored } = tencent.parse({ headers: {}, body: Buffer.from(JSON.stringify(event)) });
    assert.deepEqual([pushes, ignored], [[], [{ reason: `not a push: ${type}`, repository: 'a/b' }]]);
  }
});

test('tencent: a body of another format is malformed, and does not crash the provider', () => {
  assert.throws(() => tencent.parse({ headers: {}, body }), MalformedBody);
});
