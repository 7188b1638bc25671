/** Which promotions and holds need a reconcile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { decidedJob } from '../../../src/service/reconcile/enqueue/decided-jobs.ts';
import { digestOf, policyOf } from '../../core/model/samples.ts';

const [noon, later] = ['2026-03-01T12:00:00.000Z', '2026-03-01T13:00:00.000Z'];
const now = new Date('2026-03-01T14:00:00Z');
const hold = { at: noon, user: 'ada' };
const image = { tag: '1.3.0', digest: digestOf('b') };
const latest = { ...image, selectedAt: noon };
const follows = [{ namespace: 'shop', name: 'staging', ...image, since: noon }];
const waits = (reason: string): PolicyStatus => ({ latest, follows, waiting: { ...image, until: '2026-03-01T15:00:00Z', reason } });
const onHold: Condition = { type: 'Held', status: 'True', reason: 'OnHold', message: '', lastTransitionTime: noon };
const held: PolicyStatus = { latest, conditions: [onHold] };
const promote = (digest = image.digest, at = later) => `1.3.0@${digest} ${at}`;

const rows: readonly (readonly [name: string, status: PolicyStatus, actions: PolicyActions, cause: RegExp | undefined])[] = [
  ['nothing is decided', waits('NotProven'), {}, undefined],
  ['what waits is promoted', waits('NotProven'), { promote: promote() }, /^promote:1\.3\.0@sha256:b+ 2026/],
  ['another digest is promoted', waits('NotProven'), { promote: promote(digestOf('a')) }, undefined],
  ['what is promoted waits for something else', waits('Window'), { promote: promote() }, undefined],
  ['no followed policy runs what is promoted', { ...waits('NotProven'), follows: [] }, { promote: promote() }, undefined],
  ['what is held is promoted', held, { hold, promote: promote() }, /^promote:/],
  ['what is held was promoted before', held, { hold, promote: promote(image.digest, '2026-03-01T11:00:00Z') }, undefined],
  ['a hold is shown', held, { hold }, undefined],
  ['a hold was released', held, { hold, release: later }, /^hold-over:/],
  ['a hold was removed', held, {}, /^hold-over:/],
  ['a hold began while the image waits for a window', waits('Window'), { hold }, /^hold:/],
  ['a hold began while the image waits for a wave', waits('WavePending'), { hold }, /^hold:/],
  ['a hold began while the image is too young, which comes first', waits('MinAge'), { hold }, undefined],
  ['a hold began while nothing waits', { latest }, { hold }, undefined],
  ['nothing was ever selected', {}, { hold, promote: promote() }, undefined],
];
for (const [name, status, actions, cause] of rows)
  test(`the actions of users cause ${cause === undefined ? 'no job' : 'a job'} where ${name}`, () => {
    const job = decidedJob(policyOf({ status, actions }), now);
    if (cause === undefined) assert.equal(job, undefined);
    else assert.match(job?.cause ?? '', cause);
    // It is made for what the annotations say, so that no worker answers it with an older policy.
    assert.deepEqual(job?.actions, cause === undefined ? undefined : actions);
    assert.deepEqual(decidedJob(policyOf({ status, actions }), new Date(now.getTime() + 1_000)), job, 'the same from another replica');
  });

test('the actions of users cause no job for a policy with an invalid spec', () => {
  assert.equal(decidedJob(policyOf({ status: held, spec: { problem: { reason: 'InvalidPolicy', message: '' } } }), now), undefined);
});
