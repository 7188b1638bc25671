/** What a promotion lets go, and what a hold keeps back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { holdOn, parsePromotion, promotable, promotionValue } from '../../../src/core/model/promotion.ts';
import { proofFor } from '../../../src/core/plan/proven.ts';
import { digestOf } from './samples.ts';

const [a, b] = [digestOf('a'), digestOf('b')];
const [before, noon, later] = ['2026-03-01T11:00:00.000Z', '2026-03-01T12:00:00.000Z', '2026-03-01T13:00:00.000Z'];
const now = new Date('2026-03-01T14:00:00Z');
const hold = { at: noon, user: 'ada', reason: 'sale' };
const candidate = { tag: '1.3.0', digest: b };
const promoted = (digest: string, at = '') => `1.3.0@${digest} ${at}`.trim();

const holds: readonly (readonly [name: string, actions: PolicyActions, isHeld: boolean])[] = [
  ['none', {}, false],
  ['a hold', { hold }, true],
  ['a hold in the future', { hold: { at: '2026-04-01T00:00:00Z' } }, true],
  ['released before it', { hold, release: before }, true],
  ['released at its time', { hold, release: noon }, false],
  ['released since', { hold, release: later }, false],
  ['released in the future', { hold, release: '2026-03-01T15:00:00Z' }, true],
  ['a release that is no time', { hold, release: 'now' }, true],
  ['promoted before it', { hold, promote: promoted(b, before) }, true],
  ['promoted since', { hold, promote: promoted(b, later) }, false],
  ['promoted without a time', { hold, promote: promoted(b) }, true],
  ['promoted in the far future, for holds to come', { hold, promote: promoted(b, '2026-12-01T00:00:00Z') }, true],
  ['another digest promoted', { hold, promote: promoted(a, later) }, true],
  ['a hold without a time, whatever is released or promoted', { hold: { reason: 'x' }, release: later, promote: promoted(b, later) }, true],
];
for (const [name, actions, isHeld] of holds)
  test(`an image is ${isHeld ? 'kept back' : 'let go'} with ${name}`, () =>
    assert.deepEqual(holdOn(candidate, actions, now), isHeld ? actions.hold : undefined));

const after = {
  policies: [
    { namespace: 'shop', name: 'staging' },
    { namespace: 'shop', name: 'load' },
  ],
  forMs: 60_000,
};
const shows = (name: string, digest: string | undefined) =>
  digest === undefined ? { namespace: 'shop', name, message: 'it is suspended' } : { namespace: 'shop', name, digest, since: noon };
const proofs: readonly (readonly [
  name: string,
  staging: string | undefined,
  load: string | undefined,
  promote: string | undefined,
  expected: string,
])[] = [
  ['all run it, not for long enough', b, b, undefined, 'waits'],
  ['all run it, and it is promoted', b, b, promoted(b), 'proven'],
  ['its digest is promoted by another tag', b, b, `old@${b} ${later}`, 'proven'],
  ['all run it, and another digest is promoted', b, b, promoted(a), 'waits'],
  ['what is written is no promotion', b, b, '1.3.0', 'waits'],
  ['one runs it, and it is promoted', undefined, b, promoted(b), 'proven'],
  ['one runs it', a, b, undefined, 'missing'],
  ['none runs it, though it is promoted', a, undefined, promoted(b), 'missing'],
];
for (const [name, staging, load, promote, expected] of proofs)
  test(`the proof of an image is "${expected}" in the case "${name}"`, () => {
    const at = new Date('2026-03-01T12:00:30Z');
    const followed = { policies: [shows('staging', staging), shows('load', load)], at };
    const proof = proofFor(candidate, { after, actions: promote === undefined ? {} : { promote } }, followed);
    assert.equal(proof.kind, expected);
    if (name.startsWith('none'))
      assert.match(('message' in proof && proof.message) || '', /it is promoted, and waits until one of them runs it/);
  });

test('an image without a digest is never promoted', () => {
  const followed = { policies: [shows('staging', undefined), shows('load', undefined)], at: now };
  assert.equal(proofFor({ tag: '1.3.0' }, { after, actions: { promote: promoted(b, later) } }, followed).kind, 'missing');
  assert.deepEqual(holdOn({}, { hold, promote: promoted(b, later) }, now), hold);
});

const condition = (type: string, reason: string): Condition => ({ type, status: 'True', reason, message: '', lastTransitionTime: noon });
const latest = { tag: '1.3.0', digest: b, selectedAt: noon };
const follows = [shows('staging', b), shows('load', undefined)];
const waiting = { ...candidate, until: later, reason: 'NotProven' };
const statuses: readonly (readonly [name: string, status: PolicyStatus, actions: PolicyActions, expected: RegExp | 'waits'])[] = [
  ['waits for the time', { latest, follows, waiting }, {}, 'waits'],
  ['waits for other policies', { latest, follows, conditions: [condition('Ready', 'NotProven')] }, {}, 'waits'],
  ['is on hold, and follows nobody', { latest, conditions: [condition('Held', 'OnHold')] }, { hold }, 'waits'],
  ['is up to date', { latest, follows, conditions: [condition('Ready', 'UpToDate')] }, {}, /^no image waits/],
  ['waits for a window', { latest, follows, waiting: { ...waiting, reason: 'Window' } }, {}, /^no image waits/],
  ['has selected nothing', { waiting: { until: later, reason: 'NotProven' } }, {}, /^nothing is selected yet/],
  [
    'waits, and nobody runs it',
    { latest, waiting, follows: [shows('staging', a)] },
    {},
    /^none of the policies .* runs 1\.3\.0.*shop\/staging$/,
  ],
  ['is on hold since nobody knows when', { latest, conditions: [condition('Held', 'OnHold')] }, { hold: { reason: 'x' } }, /remove it/],
];
for (const [name, status, actions, expected] of statuses)
  test(`a policy that ${name} has ${expected === 'waits' ? 'an image' : 'no image'} to promote`, () => {
    const found = promotable(status, actions);
    if (expected === 'waits') assert.deepEqual(found, candidate);
    else assert.match(('why' in found && found.why) || '', expected);
  });

test('a promotion is read back as it was written, and is never earlier than the hold that it overrides', () => {
  const value = promotionValue(candidate, { hold: { at: '2026-03-01T14:00:02.000Z' } }, now);
  assert.deepEqual(parsePromotion(value), { ...candidate, at: new Date('2026-03-01T14:00:02Z') });
  assert.equal(holdOn(candidate, { hold: { at: '2026-03-01T14:00:02.000Z' }, promote: value }, now), undefined);
  assert.equal(promotionValue(candidate, { hold: { at: '2027-01-01T00:00:00Z' } }, now), `1.3.0@${b} 2026-03-01T14:00:00.000Z`);
  for (const text of [undefined, '', '1.3.0', `1.3.0@sha256:x ${noon}`, `@${b}`]) assert.equal(parsePromotion(text), undefined);
});
