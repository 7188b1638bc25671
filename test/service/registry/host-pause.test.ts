import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePullRate } from '../../../src/service/registry/host-pause.ts';

const rows: [name: string, limit: string | undefined, remaining: string | undefined, expected: object | undefined][] = [
  ["Docker Hub's", '100;w=21600', '76;w=21600', { limit: 100, remaining: 76, windowSeconds: 21_600 }],
  ['with spaces', ' 100; w=21600', '0 ;w=21600 ', { limit: 100, remaining: 0, windowSeconds: 21_600 }],
  ['without a window, as of other registries, which count HEADs too', '60', '0', undefined],
  ['only one of them', '100;w=21600', undefined, undefined],
  ['of nothing', '0;w=21600', '0;w=21600', undefined],
  ['of no time', '100;w=0', '0;w=0', undefined],
  ['rubbish', 'many;w=x', '-1;w=1', undefined],
];
for (const [name, limit, remaining, expected] of rows) {
  test(`rate limit headers are read in the case "${name}"`, () => {
    assert.deepEqual(parsePullRate({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining }), expected);
  });
}
