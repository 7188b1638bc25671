/** Policy shop/web with rules about vulnerabilities, and what a scanner says of its images: a map from digests to evidence that tests fill. */
import assert from 'node:assert/strict';
import type { Assessment } from '../../../src/core/model/assessment.ts';
import type { PolicyActions } from '../../../src/core/model/policy-actions.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { noEvidence, type Advisory, type Evidence } from '../../../src/core/model/vulnerabilities.ts';
import { evidenceJobs } from '../../../src/service/reconcile/enqueue/evidence-jobs.ts';
import { actionJob } from '../../../src/service/reconcile/enqueue/requested-actions.ts';
import { waitJob } from '../../../src/service/reconcile/enqueue/wait-job.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { policyJob } from '../../../src/service/queue/jobs.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, startTime } from './world.ts';

export const minute = 60_000;
export const day = 24 * 60 * minute;
export const critical: Advisory = { id: 'CVE-2026-1', severity: 'Critical' };
export const another: Advisory = { id: 'CVE-2026-2', severity: 'Critical' };
const rules = { harbor: true, trivyOperator: false, maxAgeMs: 7 * day };

/** A scan that finds these, made a day before the start unless given. */
export function scanOf(advisories: readonly Advisory[], { scanner = 'trivy', ageMs = day } = {}): Evidence {
  return { ...noEvidence, reports: [{ scanner, by: 'a test', scannedMs: startTime - ageMs, advisories }] };
}

/** A Sunday, so that no window is open before Monday. */
const windows: PolicySpec['windows'] = [{ days: ['Mon'], from: '09:00', to: '17:00', timeZone: 'UTC' }];
export const waits = {
  minAge: { minAgeMs: 7 * day, minAgeUnless: { fixes: 'Critical' } },
  window: { windows, windowsUnless: { fixes: 'Critical' } },
} satisfies Record<string, Partial<PolicySpec>>;

/** That the policy has applied 1.2.3 elsewhere, so that its digest is known, whatever the tag points to now. */
const applied = {
  kind: 'Deployment',
  namespace: 'shop',
  name: 'removed',
  container: 'web',
  to: `${image}:1.2.3`,
  tag: '1.2.3',
  digest: digestOf('a'),
  trigger: 'Poll',
  at: '2026-01-01T00:00:00Z',
  result: 'RolledOut',
} as const;

/** shop/web runs 1.2.3 (digest a), which has a critical vulnerability unless the test says otherwise; the registry holds nothing newer. */
export function startVulnerable(spec: Partial<PolicySpec>, notMoreThanRunning?: 'High' | 'Critical') {
  const clock = { ms: startTime };
  const evidence = new Map<string, Evidence>([[digestOf('a'), scanOf([critical])]]);
  const hanging = new Map<string, Promise<void>>();
  const asked: string[] = [];
  const writes: (readonly Assessment[])[] = [];
  const world = createWorld({
    cluster: { now: () => clock.ms },
    vulnerabilities: {
      read: async ({ digest }) => {
        asked.push(digest);
        await hanging.get(digest);
        return evidence.get(digest) ?? noEvidence;
      },
    },
  });
  const { writeStatus } = world.ports.policies;
  const counted = {
    ...world.ports,
    policies: {
      ...world.ports.policies,
      writeStatus: async (...[policy, update, signal]: Parameters<typeof writeStatus>) =>
        writeStatus(
          policy,
          (status) => {
            const next = update(status);
            if (next !== undefined) writes.push(next.vulnerabilities ?? []);
            return next;
          },
          signal,
        ),
    },
  };
  world.tags.delete('1.3.0');
  const vulnerabilities = { ...rules, ...(notMoreThanRunning !== undefined && { notMoreThanRunning }) };
  world.put(policyOf({ spec: specOf({ vulnerabilities, ...spec }), status: { observedGeneration: 1, history: [applied] } }));
  const policy = () => world.policies.get('shop/web') ?? assert.fail();
  const act = async (actions: PolicyActions) => {
    world.put({ ...policy(), actions });
    const job = actionJob(policy()) ?? assert.fail('no job for the action');
    await processTask(policyJob(policy(), { receivedAt: new Date(clock.ms).toISOString(), ...job }), contextOf(), counted);
  };
  return {
    world,
    evidence,
    /** What the source waits for before it answers about a digest. */
    hanging,
    asked,
    writes,
    policy,
    now: () => clock.ms,
    at: (ms: number) => void (clock.ms = startTime + ms),
    push: async (tag: string, letter: string) => {
      world.tags.set(tag, digestOf(letter));
      await processPush(pushOf({ id: `push-${tag}`, tag, digest: digestOf(letter) }), contextOf(), counted);
      return world.results.get(`push-${tag} shop/web`);
    },
    check: () =>
      processTask(
        policyJob(policy(), { source: 'Poll', cause: 'poll', receivedAt: new Date(clock.ms).toISOString() }),
        contextOf(),
        counted,
      ),
    /** Sets annotations, and runs the job that they make. */
    act,
    /** Sets the annotation of a release for now, and runs the job that it makes. */
    release: () => act({ release: new Date(clock.ms).toISOString() }),
    /** Runs the next delayed job that the status asks for, at its time. */
    ring: async () => {
      const jobs = [waitJob(policy()), ...evidenceJobs(policy(), new Date(clock.ms))].flatMap((job) => (job === undefined ? [] : [job]));
      const due = (job: (typeof jobs)[number]) => Date.parse(job.notBefore ?? job.wait?.at ?? '');
      const [next] = jobs.toSorted((a, b) => due(a) - due(b));
      assert.ok(next, 'no job is delayed');
      clock.ms = due(next);
      await processTask(next, contextOf(), counted);
      return clock.ms - startTime;
    },
    message: () => world.statusOf('web').conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    conditions: () => world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  };
}
