import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areOtherTracks } from '../../../src/core/select/tag-track.ts';

const same: [string, string][] = [
  ['1.0.0', '1.1.0'],
  ['v1.0.0', '1.1.0'],
  ['1.0.0-rc.1', '1.0.0'],
  ['1.0.0-SNAPSHOT', '1.0.1'],
  ['1.0.0-alpine', '1.1.0-alpine'],
  ['1.0.0-alpine3.18', '1.1.0-alpine3.20'],
  ['1.0.0-debian-12-r3', '1.1.0-debian-12-r0'],
  ['1.0.0-20260101', '1.1.0-20260301'],
  ['1.0.0-3f2a1bc', '1.1.0'],
  ['1.0.0-4-g3f2a1bc', '1.1.0'],
  ['1.0.0-hotfix1', '1.0.1'],
  ['1.0.0+build.5', '1.1.0'],
  ['app-1.0.0', 'app-1.1.0'],
  ['latest', '1.1.0'],
  ['main-3f2a1bc', '1.1.0'],
  ['main-abc1234-1700000000', 'main-def4567-1700000001'],
  ['main-abc1234-1700000000', 'main-3f2a1bc-1700000001'],
  ['main-abc1234-1700000000', '1.1.0'],
  ['main-123', '1.1.0'],
  ['app-abc1234-17', 'app-18'],
  ['main', 'develop'],
  ['feature-login', '1.1.0'],
  ['production', '1.1.0'],
  ['alpine3.19', 'alpine3.20'],
  ['alpine', '1.27-alpine3.21'],
  ['slim-bookworm', '3.12-slim-bookworm'],
  ['alpinist', '1.1.0'],
];

const others: [string, string][] = [
  ['1.0.0-alpine', '1.1.0'],
  ['1.0.0', '1.1.0-alpine'],
  ['1.0.0-alpine', '1.1.0-slim'],
  ['1.0.0-rc.1-alpine', '1.0.0'],
  ['1.27-alpine', '1.27'],
  ['1.0.0-debian-12-r3', '1.1.0'],
  ['1.0.0-amd64', '1.1.0'],
  ['app-1.0.0', '1.1.0'],
  ['app-1.0.0', 'worker-1.1.0'],
  ['dev-1.0.0', '1.1.0'],
  ['stable-1.0.0', 'edge-1.1.0'],
  ['prod-7', 'main-8'],
  ['facade-1.0.0', '1.1.0'],
  ['main-app-1.0.0', '1.1.0'],
  ['latest-alpine', '1.1.0'],
  ['alpine', '1.1.0'],
  ['alpine3.20', '1.1.0'],
  ['slim-bookworm', '1.1.0'],
  ['alpine', 'slim'],
  ['alpine', 'production'],
  ['develop-chromium', 'develop'],
  ['production-slim', 'production'],
  ['web-production', 'production'],
];

for (const [a, b] of same)
  test(`${a} and ${b} are of one track`, () => assert.deepEqual([areOtherTracks(a, b), areOtherTracks(b, a)], [false, false]));

for (const [a, b] of others)
  test(`${a} and ${b} are of different tracks`, () => assert.deepEqual([areOtherTracks(a, b), areOtherTracks(b, a)], [true, true]));

test('a tag of the maximum length is compared in linear time', () => {
  for (const part of ['a-', 'a1-', '1.', '-1', 'v', 'a']) {
    const long = part.repeat(128).slice(0, 127);
    assert.equal(areOtherTracks(long, long), false);
    areOtherTracks(`${long}!`, '1.0.0');
  }
});
