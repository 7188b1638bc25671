/** An enqueuer without a cluster, whose time passes when the test says so. */
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createTurns } from '../../../src/core/async/turns.ts';
import { createEnqueuer, type EnqueuerPorts } from '../../../src/service/reconcile/enqueue/enqueuer.ts';
import { createRecentPushes } from '../../../src/service/reconcile/recent-pushes.ts';
import { policyOf } from '../../core/model/samples.ts';

interface Overrides {
  readonly policies?: Partial<EnqueuerPorts['policies']>;
  readonly cluster?: Partial<EnqueuerPorts['cluster']>;
  readonly queues?: Partial<EnqueuerPorts['queues']>;
  readonly untilPatched?: EnqueuerPorts['untilPatched'];
  readonly turns?: EnqueuerPorts['turns'];
}

/** Turns that are given one by one. */
export function heldTurns() {
  const waiting: (() => void)[] = [];
  return { next: () => new Promise<void>((resolve) => void waiting.push(resolve)), giveOne: () => waiting.shift()?.() };
}

export function start(t: TestContext, { policies, cluster, queues, untilPatched, turns = createTurns() }: Overrides = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const batches: string[][] = [];
  const errors: unknown[] = [];
  const enqueuer = createEnqueuer({
    policies: { all: () => [], find: () => undefined, secretVersions: () => '', recentPushes: createRecentPushes(() => 0), ...policies },
    cluster: {
      findWorkload: () => undefined,
      listWorkloads: () => [],
      targetState: () => ({ since: 0 }),
      aliases: new Map(),
      crossNamespace: 'consent',
      namespaceConsent: () => null,
      repeatsPerHour: 5,
      now: () => 0,
      ...cluster,
    },
    queues: {
      addPolicyJobs: async (jobs) => void batches.push(jobs.map((job) => job.policy.name)),
      repeatPushes: async () => undefined,
      ...queues,
    },
    untilPatched,
    turns,
    onError: (error) => errors.push(error),
  });
  t.after(() => enqueuer.stop());
  const pass = async (milliseconds: number) => {
    t.mock.timers.tick(milliseconds);
    for (let i = 0; i < 100; i++) await turn();
  };
  return { enqueuer, batches, errors, pass };
}

export const policies = (count: number) => Array.from({ length: count }, (_, index) => policyOf({ name: `p${index}` }));
