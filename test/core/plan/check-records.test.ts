/** Which verdicts count, and what an answer makes of a record. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckRecord } from '../../../src/core/model/check-record.ts';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { CheckAnswer, CheckSettings } from '../../../src/core/model/rollout-check.ts';
import { beginChecks, findRecord } from '../../../src/core/plan/check-records.ts';
import { checkStates, describeState } from '../../../src/core/rollout/check-states.ts';
import { questionsAt, withAnswer, withJob } from '../../../src/core/plan/record-answer.ts';
import { digestOf, policyOf, webDeployment } from '../model/samples.ts';
import { begin, checkOf, image, owner, start } from './check-samples.ts';

const after = (seconds: number) => new Date(start.getTime() + seconds * 1_000);

const applied = (tag: string, at: Date, trigger: 'Webhook' | 'Rollback' = 'Webhook') => ({
  ...webDeployment,
  container: 'web',
  to: `registry.example.com/shop/web:${tag}`,
  tag,
  trigger,
  at: at.toISOString(),
  result: 'Applied' as const,
});

describe('a check record', () => {
  const check = checkOf();
  const found = (policy: Parameters<typeof policyOf>[0], asked = check, about: Candidate = image) =>
    findRecord(policyOf(policy), asked, about, after(100))?.state;

  it('is made once, before anything is asked', () => {
    const status = begin(check);
    assert.equal(status.checks?.length, 1);
    assert.equal(beginChecks(status, owner, { checks: [check], image, now: after(5) }), status);
    assert.equal(found({ status }), 'Running');
  });
  it('does not count for another image, another policy, or an edited check', () => {
    const status = begin(check);
    assert.equal(found({ status }, check, { tag: '1.3.0', digest: digestOf('c') }), undefined);
    assert.equal(found({ status, uid: 'another' }), undefined);
    for (const edit of [{ retries: 1 }, { timeoutMs: 1 }, { phase: 'after' }, { forMs: 5 }] as const)
      assert.equal(found({ status }, checkOf(edit)), undefined);
  });
  it('does not count after a release, or after another image was applied; a rollback and the image itself change nothing', () => {
    const status = begin(check);
    const at = (seconds: number) => after(seconds).toISOString();
    assert.equal(found({ status, actions: { release: at(50) } }), undefined);
    assert.equal(found({ status, actions: { release: at(-50) } }), 'Running');
    assert.equal(found({ status, actions: { release: at(500) } }), 'Running', 'a release that is not due yet');
    assert.equal(found({ status: { ...status, history: [applied('1.4.0', after(5))] } }), undefined);
    assert.equal(found({ status: { ...status, history: [applied('1.4.0', after(-5))] } }), 'Running');
    assert.equal(
      found({ status: { ...status, history: [applied('1.3.0', after(5)), applied('1.2.0', after(9), 'Rollback')] } }),
      'Running',
    );
  });
  it('without a digest says nothing about an image with one, whose tag may have moved, nor the other way round', () => {
    const { digest, ...unknown }: Candidate = image;
    const none: PolicyStatus = {};
    const status = beginChecks(none, owner, { checks: [check], image: unknown, now: start });
    assert.equal(found({ status }, check, unknown), 'Running');
    assert.equal(found({ status }), undefined);
    const both = beginChecks(status, owner, { checks: [check], image, now: after(5) });
    assert.deepEqual(
      both.checks?.map((record) => record.digest),
      [digest, undefined],
    );
    assert.equal(found({ status: begin(check) }, check, unknown), undefined);
  });
  it('still counts after a change to its tag with an unknown digest, which may be the same image', () => {
    assert.equal(found({ status: { ...begin(check), history: [applied('1.3.0', after(5))] } }), 'Running');
  });
  it('starts at the time of the last change that would end it, if that time comes from a clock that is ahead', () => {
    const applying = { history: [applied('1.2.0', after(60)), applied('1.3.0', after(70)), applied('1.4.0', after(80), 'Rollback')] };
    const status = begin(check, applying);
    assert.equal(status.checks?.[0]?.startedAt, after(60).toISOString());
    assert.equal(found({ status }), 'Running');
    assert.equal(beginChecks(status, owner, { checks: [check], image, now: after(1) }), status);
    const released = policyOf({ actions: { release: start.toISOString() } });
    const anew = beginChecks({}, released, { checks: [check], image, now: start });
    assert.equal(found({ ...released, status: anew }), 'Running', 'of the same moment as the release');
  });
  it('is dropped from the list when newer records exceed the limit', () => {
    const many = Array.from({ length: 40 }).reduce<PolicyStatus>(
      (status, _, index) => beginChecks(status, owner, { checks: [check], image: { tag: `1.${index}.0` }, now: start }),
      {},
    );
    assert.equal(many.checks?.length, 24);
    assert.equal(many.checks[0]?.tag, '1.39.0');
  });
});

describe('an answer to a check', () => {
  const after1 = (check: CheckSettings, answers: readonly (readonly [number, CheckAnswer['kind'], boolean?])[]) => {
    let status = begin(check);
    const id = status.checks?.[0]?.id ?? '';
    for (const [seconds, kind, isUnderWay = false] of answers) {
      const { due } = questionsAt(check, status.checks?.[0] as CheckRecord, after(seconds));
      status = withAnswer(status, id, {
        check,
        question: due.number,
        answer: { kind, message: `${kind} at ${seconds}` },
        now: after(seconds),
        isUnderWay,
      });
    }
    const { state, message, failures = 0 } = status.checks?.[0] ?? assert.fail();
    return [state, message, failures];
  };
  const rows: readonly (readonly [
    what: string,
    check: Partial<CheckSettings>,
    answers: Parameters<typeof after1>[1],
    expected: unknown,
  ])[] = [
    ['the first good one passes', {}, [[1, 'pass']], ['Passed', 'pass at 1', 0]],
    ['a bad one fails', {}, [[1, 'fail']], ['Failed', 'fail at 1', 1]],
    [
      'a verdict is never replaced',
      {},
      [
        [1, 'fail'],
        [11, 'pass'],
      ],
      ['Failed', 'fail at 1', 1],
    ],
    [
      'as many bad ones as are forgiven',
      { retries: 1 },
      [
        [1, 'fail'],
        [11, 'pass'],
      ],
      ['Passed', 'pass at 11', 1],
    ],
    [
      'one bad one too many',
      { retries: 1 },
      [
        [1, 'fail'],
        [11, 'fail'],
      ],
      ['Failed', 'fail at 11', 2],
    ],
    [
      'two answers to one question are one',
      { retries: 1 },
      [
        [1, 'fail'],
        [2, 'fail'],
      ],
      ['Running', 'fail at 1', 1],
    ],
    [
      'none until the timeout',
      {},
      [
        [1, 'none'],
        [59, 'none'],
      ],
      ['Running', 'none at 59', 0],
    ],
    [
      'none at the timeout',
      {},
      [
        [1, 'none'],
        [60, 'none'],
      ],
      ['TimedOut', 'none at 60', 0],
    ],
    [
      'a late good one still passes',
      {},
      [
        [1, 'none'],
        [75, 'pass'],
      ],
      ['Passed', 'pass at 75', 0],
    ],
    [
      'good ones for a time',
      { forMs: 30_000 },
      [
        [1, 'pass'],
        [29, 'pass'],
      ],
      ['Running', undefined, 0],
    ],
    [
      'good ones for long enough',
      { forMs: 30_000 },
      [
        [1, 'pass'],
        [30, 'pass'],
      ],
      ['Passed', 'pass at 30', 0],
    ],
    [
      'a bad one within the time',
      { forMs: 30_000 },
      [
        [1, 'pass'],
        [11, 'fail'],
      ],
      ['Failed', 'fail at 11', 1],
    ],
    ['the timeout begins after the time', { forMs: 30_000 }, [[65, 'none']], ['Running', 'none at 65', 0]],
    [
      'good ones while the rollout is under way',
      { phase: 'during' },
      [
        [1, 'pass', true],
        [90, 'pass', true],
      ],
      ['Running', undefined, 0],
    ],
    [
      'a good one when it is over',
      { phase: 'during' },
      [
        [1, 'pass', true],
        [90, 'pass'],
      ],
      ['Passed', 'pass at 90', 0],
    ],
    ['none while it is under way', { phase: 'during' }, [[90, 'none', true]], ['Running', 'none at 90', 0]],
    ['a bad one while it is under way', { phase: 'during' }, [[1, 'fail', true]], ['Failed', 'fail at 1', 1]],
  ];
  for (const [what, check, answers, expected] of rows) {
    it(what, () => assert.deepEqual(after1(checkOf(check), answers), expected));
  }
  it('changes nothing if the check is not in the status', () => {
    const status = begin(checkOf());
    const answered = { check: checkOf(), question: 0, answer: { kind: 'pass', message: '' }, now: start, isUnderWay: false } as const;
    assert.equal(withAnswer(status, 'another', answered), status);
    assert.equal(withJob(status, 'another', { name: 'job', uid: '1' }), status);
  });
  it('comes from one Job: the first one that is recorded is not replaced', () => {
    const status = begin(checkOf());
    const [{ id } = assert.fail()] = status.checks ?? [];
    const known = withJob(status, id, { name: 'job', uid: '1' });
    assert.deepEqual(known.checks?.[0]?.job, { name: 'job', uid: '1' });
    assert.equal(withJob(known, id, { name: 'job', uid: '2' }), known);
  });
});

it('the checks of an image are listed in the order of the policy, each with the record that counts', () => {
  const checks = [checkOf({ name: 'smoke', phase: 'after' }), checkOf()];
  const status = withAnswer(begin(checkOf()), begin(checkOf()).checks?.[0]?.id ?? '', {
    check: checkOf(),
    question: 0,
    answer: { kind: 'fail', message: 'not migrated' },
    now: start,
    isUnderWay: false,
  });
  const spec = { rollout: { timeoutMs: 1, onFailure: 'Rollback', checks } } as const;
  const say = (now: Date, more: Partial<typeof owner> = {}) =>
    checkStates({ ...owner, status, ...more }, spec, image, now).map(describeState);
  const notAsked = 'the check smoke is asked when what was changed has rolled out';
  assert.deepEqual(say(start), [notAsked, 'the check gate failed: not migrated']);
  const actions = { release: after(10).toISOString() };
  assert.deepEqual(say(after(20), { actions }), [notAsked, 'the check gate is asked before anything is changed']);
});
