import assert from 'node:assert/strict';
import { test } from 'node:test';
import { huawei } from '../../../../src/service/receive/providers/huawei.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: huawei, credentials: ['authorization'] });

test('huawei: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of ['{}', '[]', '{"event_type":"PUSH_ARTIFACT"}']) {
    assert.throws(() => huawei.parse({ headers: {}, body: Buffer.from(body) }), MalformedBody);
  }
});
