import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defined } from '../../../src/core/model/defined.ts';

test('properties that are undefined are left out; null, "", 0 and false stay, in their order', () => {
  const some: { first?: string; second: number | undefined; third: boolean; fourth: string; fifth: null } = defined({
    first: undefined,
    second: 0,
    third: false,
    fourth: '',
    fifth: null,
  });
  assert.equal(JSON.stringify(some), '{"second":0,"third":false,"fourth":"","fifth":null}');
  assert.equal('first' in some, false);
});
