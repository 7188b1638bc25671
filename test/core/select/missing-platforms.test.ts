import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeMissing, missingPlatforms } from '../../../src/core/select/missing-platforms.ts';

const rows: [name: string, wanted: string[], has: string[], missing: string[]][] = [
  ['all of them', ['linux/amd64', 'linux/arm64'], ['linux/arm64', 'linux/amd64', 'windows/amd64'], []],
  ['one of two', ['linux/amd64', 'linux/arm64'], ['linux/amd64'], ['linux/arm64']],
  ['another operating system', ['linux/amd64'], ['windows/amd64'], ['linux/amd64']],
  ['any variant, where none is asked for', ['linux/arm', 'linux/arm64'], ['linux/arm/v6', 'linux/arm64/v8'], []],
  ['the variant that is asked for', ['linux/arm/v7'], ['linux/arm/v6', 'linux/arm/v7'], []],
  ['another variant', ['linux/arm/v7'], ['linux/arm/v6'], ['linux/arm/v7']],
  ['the usual variant, which images leave out', ['linux/arm64/v8', 'linux/arm/v7'], ['linux/arm64', 'linux/arm'], []],
  ['an unusual variant', ['linux/amd64/v3'], ['linux/amd64'], ['linux/amd64/v3']],
  ['an architecture without variants', ['linux/s390x'], ['linux/s390x'], []],
  ['no image at all', ['linux/amd64'], [], ['linux/amd64']],
];

for (const [name, wanted, has, missing] of rows)
  test(`the missing platforms are found in the case "${name}"`, () => assert.deepEqual(missingPlatforms(wanted, has), missing));

test('the message about missing platforms says which ones an image has and which it lacks', () => {
  assert.equal(describeMissing('1.3.0', ['linux/arm64'], ['linux/amd64']), '1.3.0 has linux/amd64, not linux/arm64');
  assert.equal(describeMissing('chart', ['linux/arm64'], []), 'chart has no platform (it is no image), not linux/arm64');
});
