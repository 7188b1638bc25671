import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '../../src/registry/retry-after.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

const table: [name: string, header: string | string[] | undefined, expectedSeconds: number | undefined][] = [
  ['no header', undefined, undefined],
  ['seconds', '120', 120],
  ['zero means a second', '0', 1],
  ['at most an hour', '86400', 3600],
  ['a date', 'Thu, 01 Jan 2026 12:05:00 GMT', 300],
  ['a date in the past', 'Thu, 01 Jan 2026 11:05:00 GMT', 1],
  ['a date far away', 'Fri, 01 Jan 2027 12:00:00 GMT', 3600],
  ['the first of several', ['7', '9'], 7],
  ['negative', '-5', undefined],
  ['rubbish', 'soon', undefined],
];

for (const [name, header, seconds] of table) {
  test(`Retry-After: ${name}`, () => assert.equal(parseRetryAfter(header, now), seconds === undefined ? undefined : now + seconds * 1000));
}
