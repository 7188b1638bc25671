import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approval } from '../../src/core/plan/guards/approval.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import type { ShownCause } from '../../src/service/api/routes/causes.ts';
import { writeDocument } from '../../src/dashboard/html.ts';
import { showCause } from '../../src/dashboard/parts/causes.ts';
import { commandedFor, instructionFor, refOfBase } from '../../src/dashboard/parts/instruction.ts';
import { en } from '../../src/dashboard/texts/en.ts';
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
  test(`the message of a policy names the command only if there is no button: ${about}`, () => {
    assert.equal(
      instructionFor(message, web, (action) => offered.includes(action)),
      shown,
    );
  });

test('the message of a base names the command of bases if its page has no button', () => {
  const java = { namespace: 'platform', name: 'bipol/java' };
  const rejected = `21.0.7 is rejected: push a newer one, or release it with the annotation ${actionAnnotations.release}: "<time>"; none is behind`;
  const none = () => false;
  assert.equal(
    instructionFor(rejected, java, none),
    '21.0.7 is rejected: push a newer one, or release it with image-watcher release -n platform bipol/java; none is behind',
  );
  assert.equal(
    instructionFor(rejected, java, () => true),
    '21.0.7 is rejected: push a newer one, or release it; none is behind',
  );
  const waits =
    'rebase waits for approvals of 21.0.7: 1 of 2: approve it with image-watcher approve -n platform bipol/java, or on the dashboard';
  assert.equal(
    instructionFor(waits, java, () => true),
    'rebase waits for approvals of 21.0.7: 1 of 2',
  );
  assert.equal(instructionFor(waits, java, none), waits);
});

test('a list of policies, which has no buttons, names the commands in messages', () => {
  assert.equal(commandedFor(held, web), '1.1.0 failed. Push a better image, or release it with image-watcher release shop/web');
  const base = `1.1.0 failed: release it with the annotation ${actionAnnotations.release}: "<time>"`;
  assert.equal(
    commandedFor(base, refOfBase({ namespace: 'platform', name: 'java' })),
    '1.1.0 failed: release it with image-watcher release -n platform bipol/java',
  );
});

test('the message of a base that waits for approval says how to approve it only if there is no button', () => {
  const message = `rebase waits for the approval of 3.2.0: annotate BaseImagePolicy platform/java with ${actionAnnotations.approve}: 3.2.0@${digestOf('b')}`;
  const java = { namespace: 'platform', name: 'bipol/java' };
  const offering = (offered: boolean) => instructionFor(message, java, () => offered);
  assert.equal(offering(true), 'rebase waits for the approval of 3.2.0');
  assert.equal(offering(false), 'rebase waits for the approval of 3.2.0: approve it with image-watcher approve -n platform bipol/java');
});

test('a list of causes leaves out the instruction for a step that has a button', () => {
  const cause: ShownCause = {
    kind: 'image',
    reason: 'RolloutFailed',
    subject: 'harbor.example.com/shop/web:1.1.0',
    id: 'image/RolloutFailed',
    urgency: 'Blocked',
    step: 'pushBetter',
    message: held,
    since: '2026-03-01T12:00:00Z',
    policies: 1,
    namespaces: 1,
    named: [web],
    command: 'image-watcher release shop/web',
  };
  assert.match(writeDocument(showCause(cause, {}, en)), /Push a better image, or release it\s*</);
  assert.match(writeDocument(showCause(cause, { noActions: 'read only' }, en)), /release it with image-watcher release shop\/web/);
});
