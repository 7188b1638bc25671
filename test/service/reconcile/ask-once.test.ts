/** One question of a check: when it is asked, and when it is not, because the verdict is there. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckRecord } from '../../../src/core/model/check-record.ts';
import { isUsable, type ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { CheckAnswer } from '../../../src/core/model/rollout-check.ts';
import { beginChecks } from '../../../src/core/plan/check-records.ts';
import { askOnce } from '../../../src/service/reconcile/checks/ask-once.ts';
import { checkJobs } from '../../../src/service/reconcile/checks/check-jobs.ts';
import { checkOf, image } from '../../core/plan/check-samples.ts';
import { policyOf } from '../../core/model/samples.ts';
import { createWorld, startTime, withPorts, type PortOverrides } from './world.ts';

const { signal } = new AbortController();
const now = new Date(startTime);

/** The policy shop/web, of which a check has begun, and the job of its first question. */
function begunWorld() {
  const world = createWorld();
  const bare = policyOf();
  const check = checkOf();
  assert.ok(isUsable(bare.spec));
  const spec = { ...bare.spec, rollout: { timeoutMs: 60_000, onFailure: 'Rollback' as const, checks: [check] } };
  const none: PolicyStatus = {};
  const policy: ImagePolicy = { ...bare, spec, status: beginChecks(none, bare, { checks: [check], image, now }) };
  world.put(policy);
  const [job] = checkJobs(policy, now);
  assert.ok(job !== undefined);
  const asked: string[] = [];
  const ask = (answer: CheckAnswer['kind'], overrides: PortOverrides = {}) => {
    const askCheck = async ({ record }: { readonly record: CheckRecord }) => {
      asked.push(record.id);
      return { kind: answer, message: '' };
    };
    return askOnce(job, { ...withPorts(world.ports, overrides), askCheck }, signal);
  };
  return { world, policy, job, asked, ask };
}

describe('a check', () => {
  it('is asked once, and its verdict is written', async () => {
    const { world, asked, job, ask } = begunWorld();
    await ask('pass');
    assert.equal(world.statusOf('web').checks?.[0]?.state, 'Passed');
    await ask('fail');
    assert.deepEqual(asked, [job.check]);
    assert.equal(world.statusOf('web').checks?.[0]?.state, 'Passed');
  });
  it('is not asked by a replica whose watch is silent when another one has written the verdict', async () => {
    const { world, policy, asked, ask } = begunWorld();
    let confirmations = 0;
    const confirm: PortOverrides['policies'] = {
      async confirm(planned, signal) {
        confirmations++;
        if (planned === policy) {
          const checks = policy.status.checks?.map((record): CheckRecord => ({ ...record, state: 'Failed' }));
          world.put({ ...policy, resourceVersion: '99', status: { ...policy.status, ...(checks && { checks }) } });
        }
        return world.ports.policies.confirm(planned, signal);
      },
    };
    await ask('pass', { policies: confirm });
    assert.equal(confirmations, 1);
    assert.deepEqual(asked, []);
    assert.equal(world.statusOf('web').checks?.[0]?.state, 'Failed');
  });
  it('waits for the next try where the policy changes all the time', async () => {
    const { asked, ask } = begunWorld();
    await assert.rejects(ask('pass', { policies: { confirm: async () => undefined } }), /changes all the time/);
    assert.deepEqual(asked, []);
  });
});
