import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeReadiness, type Check } from '../../../src/service/telemetry/readiness.ts';

const redis: Check = { name: 'redis', ok: true, required: true };
const watch: Check = { name: 'watch of policies', ok: true, required: false };

const rows: [name: string, checks: Check[], verbose: boolean, ready: boolean, text: string][] = [
  ['nothing to depend on', [], false, true, 'ok\n'],
  ['all is well', [redis, watch], false, true, 'ok\n'],
  ['all is well, in detail', [redis, watch], true, true, '[+]redis ok\n[+]watch of policies ok\nok\n'],
  [
    'what is required fails',
    [{ ...redis, ok: false, detail: 'ECONNREFUSED' }, watch],
    false,
    false,
    '[-]redis failed: ECONNREFUSED\nnot ready\n',
  ],
  ['what is not required fails', [redis, { ...watch, ok: false }], false, true, '[!]watch of policies failed\nok\n'],
  ['a detail of what is well', [{ ...redis, detail: '12 % in use' }], true, true, '[+]redis ok: 12 % in use\nok\n'],
];

for (const [name, checks, verbose, ready, text] of rows) {
  test(`readiness is described in the case "${name}"`, () => assert.deepEqual(describeReadiness(checks, verbose), { ready, text }));
}
