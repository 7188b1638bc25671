import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approval } from '../../src/core/plan/guards/approval.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { instructionFor } from '../../src/dashboard/parts/instruction.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';

const web = { namespace: 'shop', name: 'web' };
const approve = { tag: '1.1.0', digest: digestOf('b') };
const context = { policy: policyOf({}), spec: specOf({ mode: 'Approval' }), candidate: approve, now: new Date(0) };
const decision = approval.check(undefined as never, context as never);
const waits = decision !== undefined && 'message' in decision ? decision.message : '';
const held = `1.1.0 failed. Push a better image, or release it: annotation ${actionAnnotations.release}: "<time>"`;
const rows: [about: string, message: string, offered: string[], shown: string][] = [
  ['an approval with its button', waits, ['approve'], '1.1.0 waits for approval'],
  ['an approval without a button', waits, ['release'], waits],
  ['a release with its button', held, ['release'], '1.1.0 failed. Push a better image, or release it'],
  ['a release without a button', held, [], '1.1.0 failed. Push a better image, or release it with image-watcher release shop/web'],
];
for (const [about, message, offered, shown] of rows)
  test(`the message of ${about}`, () => {
    assert.equal(
      instructionFor(message, web, (action) => offered.includes(action)),
      shown,
    );
  });
