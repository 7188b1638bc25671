import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { BoundedMap } from '../../../src/core/async/bounded-map.ts';
import { createBaseEnqueuer, endWait, enqueueWait, neededReconcile } from '../../../src/bases/policies/enqueue-bases.ts';
import type { BaseImagePolicy } from '../../../src/core/model/base-policy.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { policyJobId, type BaseJob } from '../../../src/service/queue/jobs.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { workloadOf } from '../../core/model/samples.ts';

const now = Date.parse('2026-11-23T12:00:00Z');
const digest = `sha256:${'b'.repeat(64)}`;
const settled = { observedGeneration: 1, lastCheckTime: '2026-11-23T11:59:00Z' };

function policyOf(status: object, { annotations = {}, spec = {} }: { annotations?: object; spec?: object } = {}): BaseImagePolicy {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1, annotations };
  const written = {
    image: 'harbor.example.com/library/base-java',
    select: { semver: {} },
    workloads: [{ kinds: ['Deployment'] }],
    ...spec,
  };
  return readBasePolicy({ metadata, spec: written, status }, { aliases: new Map(), customTargets: [] });
}

const retriedSince = (time: string) => ({
  type: 'Ready',
  status: 'False',
  reason: 'Retrying',
  message: 'the registry is away',
  lastTransitionTime: `2026-11-23T${time}Z`,
});
const annotation = (name: string, value: string) => ({ annotations: { [`operator.technomad.dev/${name}`]: value } });

const waiting = { tag: '21', digest, since: '2026-11-23T11:00:00Z', until: '2026-11-23T12:00:00Z', reason: 'MinAge' };
const withRebuild = {
  ...settled,
  dependents: [{ image: 'harbor.example.com/shop/web:1', digest, state: 'Behind', action: 'trigger', workloads: 1, reason: 'Window' }],
};

describe('neededReconcile', () => {
  for (const [what, policy, cause] of [
    ['nothing has changed', policyOf(settled), undefined],
    ['the spec was changed', policyOf({ ...settled, observedGeneration: 0 }), /^PolicyChange generation:1$/],
    ['its first reconcile has failed', policyOf({ observedGeneration: 1 }), /^PolicyChange generation:1$/],
    ['the interval of polls is over', policyOf({ ...settled, lastCheckTime: '2026-11-23T10:59:00Z' }), /^Poll poll$/],
    ['it was checked at a time of a wrong clock', policyOf({ ...settled, lastCheckTime: '2099-01-01T00:00:00Z' }), /^Poll poll$/],
    ['it was checked in the next minute', policyOf({ ...settled, lastCheckTime: '2026-11-23T12:01:00Z' }), /^Poll poll$/],
    ['it was checked at no time', policyOf({ ...settled, lastCheckTime: 'never' }), /^Poll poll$/],
    ['it says for long that it is retried', policyOf({ ...settled, conditions: [retriedSince('11:58:59')] }), /^WaitOver retrying:2026-/],
    ['it says for a moment that it is retried', policyOf({ ...settled, conditions: [retriedSince('11:59:30')] }), undefined],
    ['it is being deleted', { ...policyOf({ observedGeneration: 0 }), isDeleting: true }, undefined],
    ['it is suspended', policyOf({ observedGeneration: 1 }, { spec: { suspend: true } }), undefined],
    ['a user requests it', policyOf(settled, annotation('requested-at', 'now')), /^Request request:now$/],
    ['the request was handled', policyOf({ ...settled, lastHandledRequest: 'now' }, annotation('requested-at', 'now')), undefined],
    [
      'a base was approved',
      policyOf({ ...settled, pendingApproval: { tag: '21', digest } }, annotation('approve', `21@${digest}`)),
      /^Approval approve:21@/,
    ],
    [
      'another base was approved',
      policyOf({ ...settled, pendingApproval: { tag: '21', digest } }, annotation('approve', `21@sha256:${'c'.repeat(64)}`)),
      undefined,
    ],
    [
      'a rejected base was released',
      policyOf(
        { ...settled, rejected: [{ digest, tag: '21', at: '2026-11-23T11:00:00Z', message: 'it crashes' }] },
        annotation('release', '2026-11-23T11:30:00Z'),
      ),
      /^Request release:/,
    ],
    [
      'a roll-out is under way',
      policyOf({ ...settled, waves: { base: digest, pending: 1, progressing: 0, done: 1, failed: 0 } }),
      /^WaitOver sweep$/,
    ],
    [
      'its restarts wait for a window',
      policyOf(
        {
          ...settled,
          waves: { base: digest, pending: 1, progressing: 0, done: 1, failed: 0 },
          conditions: [{ type: 'Ready', status: 'False', reason: 'Window', message: '', lastTransitionTime: '2026-11-23T11:00:00Z' }],
        },
        { spec: { windows: [{ from: '13:00', to: '14:00' }] } },
      ),
      undefined,
    ],
    [
      'a roll-out has stopped',
      policyOf({ ...settled, waves: { base: digest, pending: 1, progressing: 0, done: 1, failed: 1, stopped: '1 failed' } }),
      undefined,
    ],
    ['a base has reached its age', policyOf({ ...settled, waiting }, { spec: { minAge: '1h' } }), /^WaitOver sweep$/],
    ['a base waits for its age', policyOf({ ...settled, waiting }, { spec: { minAge: '2h' } }), undefined],
    ['a base needs no age any more', policyOf({ ...settled, waiting: { ...waiting, until: '2026-11-23T13:00:00Z' } }), /^WaitOver sweep$/],
    ['a rebuild waits for a window', policyOf(withRebuild, { spec: { windows: [{ from: '13:00', to: '14:00' }] } }), undefined],
    ['a rebuild waits for a window that is open', policyOf(withRebuild), /^WaitOver sweep$/],
  ] as const) {
    it(`${cause === undefined ? 'is undefined' : 'is a job'} where ${what}`, () => {
      const job = neededReconcile(policy, now);
      assert.equal(job === undefined, cause === undefined, JSON.stringify(job));
      if (cause !== undefined) assert.match(`${job?.source} ${job?.cause}`, cause);
    });
  }
});

describe('createBaseEnqueuer', () => {
  async function jobsAfter(
    act: (enqueuer: ReturnType<typeof createBaseEnqueuer>) => void,
    failures = 0,
    policy = policyOf(settled),
    { areKnown = true, isListed = true } = {},
  ): Promise<BaseJob[]> {
    const added: BaseJob[] = [];
    let left = failures;
    const enqueuer = createBaseEnqueuer({
      all: () => [policy],
      areKnown: () => areKnown,
      async addBaseJobs(jobs) {
        if (left-- > 0) throw new Error('Redis is away');
        added.push(...jobs);
      },
      namespaceMatches: () => false,
      isListed: () => isListed,
      now: () => now,
      onError: () => undefined,
    });
    act(enqueuer);
    await waitFor('the jobs', () => Promise.resolve(added.length > 0));
    enqueuer.stop();
    return added;
  }
  const inPlatform: Workload = { ...workloadOf({ web: 'harbor.example.com/shop/web:1.2.3' }), namespace: 'platform' };

  it('makes one job for many workloads that change together', async () => {
    const jobs = await jobsAfter((enqueuer) => {
      for (let index = 0; index < 50; index++) enqueuer.onWorkload({ type: 'added', object: { ...inPlatform, uid: `u${index}` } });
    });
    assert.deepEqual(
      jobs.map(({ source, cause }) => [source, cause.split(':')[1]]),
      [['TargetChange', 'u49']],
    );
  });

  it('polls a policy that its watch delivers late, unless it is the first list or its status', async () => {
    const at = (writtenAt: string, more: object = {}) => ({ ...policyOf({ ...settled, observedGeneration: 0 }), writtenAt, ...more });
    const late = at('2026-11-23T11:59:50Z');
    const sourcesAfter = async (areKnown: boolean, ...[change]: Parameters<ReturnType<typeof createBaseEnqueuer>['onPolicy']>) => {
      const jobs = await jobsAfter((enqueuer) => enqueuer.onPolicy(change), 0, undefined, { areKnown });
      return jobs.map(({ source }) => source);
    };
    assert.deepEqual(await sourcesAfter(true, { type: 'added', object: late }), ['Poll'], 'which reconciles it as well');
    assert.deepEqual(await sourcesAfter(true, { type: 'updated', object: late, previous: at('', { generation: 0 }) }), ['Poll']);
    assert.deepEqual(await sourcesAfter(true, { type: 'updated', object: late, previous: late }), ['PolicyChange']);
    assert.deepEqual(await sourcesAfter(true, { type: 'added', object: at('2026-11-23T11:59:59Z') }), ['PolicyChange']);
    assert.deepEqual(await sourcesAfter(false, { type: 'added', object: late }), ['PolicyChange']);
  });

  it('polls a policy that is late even if it is seen again within the second, and answers its request', async () => {
    const late = { ...policyOf({ ...settled, observedGeneration: 0 }), writtenAt: '2026-11-23T11:59:50Z' };
    const jobs = await jobsAfter((enqueuer) => {
      enqueuer.onPolicy({ type: 'added', object: late });
      enqueuer.onPolicy({ type: 'updated', previous: late, object: policyOf(settled, annotation('requested-at', 'now')) });
    });
    assert.deepEqual(
      jobs.map(({ source }) => source),
      ['Poll', 'Request'],
    );
  });

  it('makes no job for a policy that was reconciled within the second, or deleted', async () => {
    const changed = policyOf({ ...settled, observedGeneration: 0 });
    const other = { ...changed, uid: 'u2' };
    const jobs = await jobsAfter((enqueuer) => {
      enqueuer.onPolicy({ type: 'added', object: changed });
      enqueuer.onPolicy({ type: 'updated', previous: changed, object: policyOf(settled) });
      enqueuer.onPolicy({ type: 'added', object: other });
      enqueuer.onPolicy({ type: 'deleted', object: other });
      enqueuer.onPolicy({ type: 'added', object: { ...changed, uid: 'u3' } });
    });
    assert.deepEqual(
      jobs.map(({ policy: { uid } }) => uid),
      ['u3'],
    );
  });

  it('makes jobs for the first list of a kind only for policies that were reconciled before, as changes may have been missed', async () => {
    const jobsFor = (observedGeneration: number, isListed: boolean) => {
      const policy = policyOf({ ...settled, observedGeneration });
      const act = (enqueuer: ReturnType<typeof createBaseEnqueuer>) => {
        enqueuer.onPolicy({ type: 'added', object: { ...policyOf({}), uid: 'u2' } });
        enqueuer.onWorkload({ type: 'added', object: inPlatform });
      };
      return jobsAfter(act, 0, policy, { isListed });
    };
    const sourcesOf = async (...asked: Parameters<typeof jobsFor>) => (await jobsFor(...asked)).map(({ source }) => source);
    assert.deepEqual(await sourcesOf(1, false), ['TargetChange', 'PolicyChange']);
    assert.deepEqual(await sourcesOf(0, false), ['PolicyChange']);
    assert.deepEqual(await sourcesOf(0, true), ['TargetChange', 'PolicyChange']);
  });

  it('ignores workloads of other namespaces, and changes that touch neither images nor labels', async () => {
    const jobs = await jobsAfter((enqueuer) => {
      enqueuer.onWorkload({ type: 'added', object: { ...inPlatform, namespace: 'elsewhere', uid: 'elsewhere' } });
      enqueuer.onWorkload({
        type: 'updated',
        object: { ...inPlatform, uid: 'same', resourceVersion: '2' },
        previous: { ...inPlatform, uid: 'same' },
      });
      enqueuer.onPolicy({ type: 'added', object: policyOf({ ...settled, observedGeneration: 0 }) });
    });
    assert.deepEqual(
      jobs.map(({ source }) => source),
      ['PolicyChange'],
    );
  });

  it('makes a job when a workload is resumed, whose restart could not begin', async () => {
    const rollout = { observedGeneration: 1, wanted: 1, toUpdate: 1, updated: 1, available: 1, outdated: 0, wasComplete: true };
    const paused = { ...inPlatform, rollout: { ...rollout, haltedBecause: 'it is paused' } };
    const jobs = await jobsAfter((enqueuer) => {
      enqueuer.onWorkload({ type: 'updated', object: { ...inPlatform, rollout }, previous: paused });
    });
    assert.deepEqual(
      jobs.map(({ source }) => source),
      ['TargetChange'],
    );
  });

  it('makes a job when a Namespace begins or ceases to match a selector or to consent, and for no other change of it', async () => {
    const spec = { workloads: [{ kinds: ['Deployment'], namespaceSelector: { matchLabels: { tier: 'apps' } } }] };
    const apps = { name: 'shop', resourceVersion: '1', labels: { tier: 'apps' }, allowPoliciesFrom: null };
    const other = { ...apps, labels: {} };
    for (const [change, isConcerned] of [
      [{ type: 'added', object: apps }, true],
      [{ type: 'added', object: other }, false],
      [{ type: 'updated', previous: other, object: apps }, true],
      [{ type: 'updated', previous: apps, object: other }, true],
      [{ type: 'updated', previous: apps, object: { ...apps, allowPoliciesFrom: 'platform' } }, true],
      [{ type: 'updated', previous: other, object: { ...other, allowPoliciesFrom: 'platform' } }, false],
      [{ type: 'updated', previous: apps, object: { ...apps, resourceVersion: '2' } }, false],
      [{ type: 'deleted', object: apps }, true],
    ] as const) {
      const jobs = await jobsAfter(
        (enqueuer) => {
          enqueuer.onNamespace(change);
          enqueuer.onPolicy({ type: 'added', object: policyOf({ ...settled, observedGeneration: 0 }) });
        },
        0,
        policyOf(settled, { spec }),
      );
      assert.deepEqual(
        jobs.map(({ source }) => source),
        [...(isConcerned ? ['TargetChange'] : []), 'PolicyChange'],
        JSON.stringify(change),
      );
    }
  });

  it('adds jobs again that Redis did not take', async () => {
    const jobs = await jobsAfter((enqueuer) => enqueuer.onWorkload({ type: 'deleted', object: inPlatform }), 1);
    assert.equal(jobs.length, 1);
  });
});

describe('enqueueWait', () => {
  const start = (clock: () => number) => {
    const jobs: BaseJob[] = [];
    const addBaseJobs = (added: readonly BaseJob[]) => Promise.resolve(void jobs.push(...added));
    return { jobs, ports: { queues: { addBaseJobs }, waits: new BoundedMap<string, number>(10), cluster: { now: clock } } };
  };

  it('requests one reconcile at a time, however many causes want the next one', async () => {
    let time = now;
    const { jobs, ports } = start(() => time);
    const policy = policyOf(settled);
    const times = () => jobs.map(({ notBefore = '' }) => (Date.parse(notBefore) - now) / 1_000);
    // Ten reconciles within ten seconds, each of which wants to go on ten seconds later.
    for (; time < now + 10_000; time += 1_000) await enqueueWait(time + 10_000, policy, ports);
    assert.deepEqual(times(), [10]);
    await enqueueWait(time + 10_000, policy, ports);
    assert.deepEqual(times(), [10, 20]);
    await enqueueWait(time + 5_000, policy, ports);
    assert.deepEqual(times(), [10, 20, 15], 'an earlier time is not missed');
  });

  it('requests a wait again whose job ran before its time, under another name than that job', async () => {
    const { jobs, ports } = start(() => now);
    const policy = policyOf(settled);
    await enqueueWait(now + 60_000, policy, ports);
    // The clock was ahead when the job was delayed, and has been set back.
    for (let runs = 1; runs <= 2; runs++) {
      const job = jobs.at(-1) ?? assert.fail('no job');
      endWait(job, ports.waits);
      await enqueueWait(now + 60_000, policy, ports, job);
      assert.equal(jobs.length, runs + 1);
      assert.notEqual(policyJobId(jobs.at(-1) ?? job), policyJobId(job));
    }
    endWait({ policy: { namespace: 'platform', name: 'java', uid: 'u1' }, cause: 'sweep' }, ports.waits);
    await enqueueWait(now + 60_000, policy, ports);
    assert.equal(jobs.length, 3);
  });

  it('requests a wait again after an error of Redis', async () => {
    const waits = new BoundedMap<string, number>(10);
    const cluster = { now: () => now };
    const failing = { addBaseJobs: () => Promise.reject(new Error('Redis is away')) };
    await assert.rejects(enqueueWait(now + 1_000, policyOf(settled), { queues: failing, waits, cluster }));
    assert.equal(waits.get('u1'), undefined);
  });
});
