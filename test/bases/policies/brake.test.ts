import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PolicyChanged, startBrake } from '../../../src/bases/policies/brake.ts';
import type { Change } from '../../../src/bases/policies/enqueue-bases.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import { isAsPlanned } from '../../../src/bases/policies/same-base-plan.ts';
import { base, policyWith } from './acting.ts';

const planned: BaseImagePolicy = {
  ...policyWith({}),
  resourceVersion: '10',
  status: { latest: { ...base, selectedAt: '2026-11-23T11:00:00Z' } },
};
const newer = (change: Partial<BaseImagePolicy>): BaseImagePolicy => ({ ...planned, resourceVersion: '11', ...change });
const approve = (digest: string) => ({ approve: `21.0.6@${digest}` });

const ada = { ...base, at: '2026-11-23T12:00:00Z', user: 'ada' };

describe('isAsPlanned', () => {
  for (const [what, newest, expected] of [
    ['the same state', planned, true],
    ['an older state of a cache that is behind', newer({ resourceVersion: '9', generation: 0 }), true],
    ['a new status', newer({ status: { ...planned.status, lastCheckTime: '2026-11-23T12:00:00Z' } }), true],
    ['a request to look again', newer({ actions: { requestedAt: 'now' } }), true],
    ['gone', undefined, false],
    ['created anew', newer({ uid: 'other' }), false],
    ['another spec', newer({ generation: 2 }), false],
    ['being deleted, while a finalizer keeps it', newer({ isDeleting: true }), false],
    ['an approval that was given', newer({ actions: approve(base.digest) }), false],
    ['a rejection', newer({ actions: { reject: `21.0.6@${base.digest}` } }), false],
    ['approvals that no field of the spec asks for', newer({ actions: { approvals: [ada] } }), true],
    ['a release', newer({ actions: { release: '2026-11-23T12:00:00Z' } }), false],
    ['another base that was selected', newer({ status: { latest: { ...base, digest: 'other', selectedAt: '' } } }), false],
    ['the base rejected by another replica', newer({ status: { ...planned.status, rejected: [{ ...base, at: '', message: '' }] } }), false],
  ] as const)
    it(`is ${expected} if the newest state of the policy is or has: ${what}`, () =>
      assert.equal(isAsPlanned(planned, newest, base), expected));

  it('is false if the base was approved and the approval was withdrawn', () => {
    assert.equal(isAsPlanned({ ...planned, actions: approve(base.digest) }, newer({}), base), false);
    const { spec } = policyWith({ mode: 'Approval', approvals: {} });
    const approved = { ...planned, spec, actions: { approvals: [ada] } };
    assert.equal(isAsPlanned(approved, newer({ spec }), base), false);
    assert.equal(isAsPlanned(approved, newer({ spec, actions: { approvals: [ada] } }), base), true);
  });
});

/** A brake for the policy, with what its cache reports and what the API server says. */
function start() {
  const listeners = new Set<(change: Change<BaseImagePolicy>) => void>();
  const worker = new AbortController();
  const state = { live: planned as BaseImagePolicy | undefined };
  const brake = startBrake(
    planned,
    {
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      isAsPlanned: (policy, of) => Promise.resolve(isAsPlanned(policy, state.live, of)),
    },
    worker.signal,
  );
  const report = (change: Change<BaseImagePolicy>) => listeners.forEach((listener) => listener(change));
  return { brake, state, worker, report, listeners };
}

describe('startBrake', () => {
  it('aborts the work on a policy as soon as the watch reports that the policy has changed', () => {
    const { brake, report } = start();
    report({ type: 'updated', object: newer({}) });
    report({ type: 'deleted', object: newer({ name: 'other' }) });
    assert.equal(brake.signal.aborted, false);
    report({ type: 'deleted', object: newer({}) });
    assert.ok(brake.signal.reason instanceof PolicyChanged);
  });

  it('refuses an action and aborts all others if the API server has a change that the watch has not reported', async () => {
    const { brake, state } = start();
    await brake.confirm(base);
    state.live = newer({ generation: 2 });
    await assert.rejects(brake.confirm(base), PolicyChanged);
    assert.equal(brake.signal.aborted, true);
  });

  it('aborts with its worker, for the same reason, and unsubscribes from the watch when it is released', () => {
    const { brake, worker, listeners } = start();
    worker.abort(new Error('the process stops'));
    assert.match(String(brake.signal.reason), /the process stops/);
    brake.release();
    assert.equal(listeners.size, 0);
  });
});
