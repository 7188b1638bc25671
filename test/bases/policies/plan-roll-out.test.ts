import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { childManifest, childName, type Child, type Replacement } from '../../../src/bases/policies/child-policies.ts';
import { planRollOut, type RollOut } from '../../../src/bases/policies/plan-roll-out.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { readContext } from '../../harness/resource-group.ts';

const context = { aliases: new Map<string, string>(), customTargets: [] };
const base = { tag: '21.0.6', digest: `sha256:${'b'.repeat(64)}` };
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const now = Date.parse('2026-11-23T12:00:00Z');
const from = '1.2.3';
const to = '1.2.3-base.20261123';

function parentPolicy({ waves = {}, status = {}, more = {} }: { waves?: object; status?: object; more?: object } = {}) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const onNewBase = [{ rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } }];
  const spec = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads: [{}], onNewBase, waves, ...more };
  const policy = readBasePolicy({ metadata, spec, status }, context);
  assert.ok(isUsableBase(policy.spec));
  return { ...policy, spec: policy.spec };
}

const replacementOf = (name: string): Replacement => ({
  workload: { kind: 'Deployment', namespace: 'shop', name },
  containers: ['app'],
  hasInitContainers: false,
  repository: `harbor.example.com/shop/${name}`,
  from,
  to,
  isPinned: false,
});

function workload(name: string, tag = from, labels: Record<string, string> = {}): Workload {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    generation: 1,
    resourceVersion: '1',
    containersPath: '/spec/template/spec/containers',
    containers: [{ name: 'app', image: `harbor.example.com/shop/${name}:${tag}` }],
    labels,
    hasAnnotations: false,
  };
}

/** A child as the API server would hold it, with a status. */
function childOf(replacement: Replacement, status: object, digest = base.digest): Child {
  const { metadata, ...manifest } = childManifest(parentPolicy(), { digest }, replacement);
  const stored = { ...metadata, uid: `uid-${metadata.name}`, resourceVersion: '1', generation: 1 };
  return { policy: readPolicy({ ...manifest, metadata: stored, status }, readContext), base: digest, replacement };
}

const ready = (status: string, reason: string, message = reason) => ({
  type: 'Ready',
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-23T11:00:00Z',
});
const reconciling = { ...ready('True', 'Progressing'), type: 'Reconciling' };
const done = { observedGeneration: 1, running: to, conditions: [ready('True', 'UpToDate')] };
const progressing = { observedGeneration: 1, running: to, conditions: [ready('False', 'Progressing'), reconciling] };
const failed = {
  observedGeneration: 1,
  running: from,
  conditions: [ready('False', 'RejectedDigest')],
  rejected: [{ digest: `sha256:${'c'.repeat(64)}`, tag: to, reason: 'RolloutFailed', message: 'it crashes', at: '2026-11-23T11:00:00Z' }],
};
const blocked = { observedGeneration: 1, running: from, conditions: [ready('True', 'Held', 'kubectl changed it')] };

/** Plans for workloads by name, with the status of the child where there is one. */
function plan(
  children: Readonly<Record<string, { readonly running?: string } | undefined>>,
  { waves, status, canary, unselected = [] }: { waves?: object; status?: object; canary?: string; unselected?: readonly string[] } = {},
) {
  const names = Object.keys(children);
  const workloads = new Map(
    names.map((name) => {
      const runs = children[name]?.running ?? from;
      return [name, workload(name, runs, name === canary ? { canary: 'true' } : {})] as const;
    }),
  );
  const policy = parentPolicy({ ...(waves && { waves }), ...(status && { status }) });
  const rollOut: RollOut = {
    policy,
    base,
    wanted: names.map(replacementOf).filter(({ workload }) => workloads.get(workload.name)?.containers[0]?.image.endsWith(`:${from}`)),
    children: names.flatMap((name) => {
      const status = children[name];
      return status === undefined ? [] : [childOf(replacementOf(name), status)];
    }),
    findWorkload: ({ name }) => workloads.get(name),
    selects: ({ name }) => !unselected.includes(name),
    now,
  };
  const planned = planRollOut(rollOut);
  return { ...planned, created: planned.create.map(({ workload }) => workload.name) };
}

describe('planRollOut', () => {
  it('begins with as many workloads as may roll out at the same time', () => {
    const { created, waves } = plan({ a: undefined, b: undefined, c: undefined }, { waves: { maxParallel: 2 } });
    assert.equal(created.length, 2);
    assert.deepEqual(waves, { base: base.digest, pending: 1, progressing: 2, done: 0, failed: 0 });
  });

  it('begins in the order of the workloads, so that replicas that plan at the same time begin with the same ones', () => {
    const { created } = plan({ e: undefined, c: undefined, a: undefined, d: undefined, b: undefined }, { waves: { maxParallel: 2 } });
    assert.deepEqual(created.toSorted(), ['a', 'b']);
  });

  it('continues a wave that another replica has begun before it begins another wave', () => {
    const status = { lastWave: { base: base.digest, workloads: ['Deployment/shop/b'] } };
    const { begin, created } = plan({ a: undefined, b: undefined }, { waves: { maxParallel: 1 }, status });
    assert.deepEqual([begin, created], [[], ['b']]);
    const next = plan(
      { a: undefined, b: done },
      {
        waves: { maxParallel: 1 },
        status: {
          ...status,
          waves: { base: base.digest, pending: 1, progressing: 0, done: 1, failed: 0, lastDoneAt: '2026-11-23T10:00:00Z' },
        },
      },
    );
    assert.deepEqual([next.begin, next.created], [['Deployment/shop/a'], ['a']]);
  });

  it('does not continue the wave of another base', () => {
    const status = { lastWave: { base: digest('d'), workloads: ['Deployment/shop/b'] } };
    const { begin, created } = plan({ a: undefined, b: undefined }, { waves: { maxParallel: 1 }, status });
    assert.deepEqual([begin, created], [['Deployment/shop/a'], ['a']]);
  });

  it('begins with the canaries alone', () => {
    const waves = { maxParallel: 2, canaries: { matchLabels: { canary: 'true' } } };
    assert.deepEqual(plan({ a: undefined, b: undefined, c: undefined }, { waves, canary: 'b' }).created, ['b']);
  });

  it('waits for the pause after the canaries, then continues', () => {
    const waves = { maxParallel: 2, pause: '10m', canaries: { matchLabels: { canary: 'true' } } };
    const first = plan({ a: undefined, b: done }, { waves, canary: 'b' });
    assert.deepEqual([first.created, first.until], [[], new Date(now + 600_000)]);
    const status = { waves: { ...first.waves, lastDoneAt: new Date(now - 600_000).toISOString() } };
    const next = plan({ a: undefined, b: done }, { waves, canary: 'b', status });
    assert.deepEqual([first.admitsBetween, next.created, next.admitsBetween], [false, ['a'], true]);
  });

  it('admits no base in between while a canary is rolling out, or after it has failed', () => {
    const waves = { maxParallel: 2, canaries: { matchLabels: { canary: 'true' } } };
    const admits = (canary: object | undefined) => plan({ a: undefined, b: canary }, { waves, canary: 'b' }).admitsBetween;
    assert.deepEqual([undefined, progressing, blocked, failed].map(admits), [false, false, false, false]);
  });

  it('waits for the pause after a wave, also where workloads were restarted before', () => {
    const status = { waves: { base: base.digest, pending: 1, progressing: 1, done: 3, failed: 0, lastDoneAt: '2026-11-23T10:00:00Z' } };
    const { created, until } = plan({ a: done, b: undefined }, { waves: { maxParallel: 1, pause: '10m' }, status });
    assert.deepEqual([created, until], [[], new Date(now + 600_000)]);
  });

  it('creates no child twice, and begins no other one while it is rolling out', () => {
    const { created, states } = plan({ a: progressing, b: undefined }, { waves: { maxParallel: 1 } });
    assert.deepEqual(created, []);
    assert.equal(states.get(childName(parentPolicy(), replacementOf('b')))?.state, 'Pending');
  });

  it('rejects the base after a failure, rolls back what was changed, and begins nothing more', () => {
    const { created, rollBack, rejection, waves } = plan({ a: done, b: failed, c: undefined });
    assert.deepEqual(created, []);
    assert.deepEqual(
      rollBack.map(({ replacement }) => replacement.workload.name),
      ['a'],
    );
    assert.match(rejection ?? '', /Deployment shop\/b: it crashes/);
    assert.equal(waves.failed, 1);
  });

  it('removes a blocked child when the base is rejected, so that its rollout does not begin later', () => {
    const { rollBack, remove } = plan({ a: blocked, b: failed, c: { ...blocked, running: to } });
    const names = (children: readonly Child[]) => children.map(({ replacement }) => replacement.workload.name);
    assert.deepEqual([names(rollBack), names(remove)], [['c'], ['a']]);
  });

  it('continues after a failure that is within maxFailures', () => {
    const status = { waves: { base: base.digest, pending: 1, progressing: 0, done: 1, failed: 1, lastDoneAt: '2026-11-23T10:00:00Z' } };
    const { created, rejection } = plan({ a: done, b: failed, c: undefined }, { waves: { maxFailures: 2 }, status });
    assert.deepEqual([created, rejection], [['c'], undefined]);
  });

  it('begins nothing with a base that was rejected before, and rejects it once', () => {
    const status = { rejected: [{ ...base, at: '2026-11-23T11:00:00Z', message: 'it crashed' }] };
    const { created, rejection, waves } = plan({ a: undefined }, { status });
    assert.deepEqual([created, rejection, waves.stopped], [[], undefined, 'it crashed']);
  });

  it('passes over a workload that something else blocks, but not over a canary', () => {
    const waves = { maxParallel: 1, pause: '1s' };
    assert.deepEqual(plan({ a: blocked, b: undefined }, { waves }).created, ['b']);
    const canaries = { ...waves, canaries: { matchLabels: { canary: 'true' } } };
    assert.deepEqual(plan({ a: blocked, b: undefined }, { waves: canaries, canary: 'a' }).created, []);
  });

  it('removes the child of a workload that the policy no longer selects or rebases, and does not count its stale status', () => {
    const { remove } = plan({ a: progressing, b: progressing }, { unselected: ['b'] });
    assert.deepEqual(
      remove.map(({ replacement }) => replacement.workload.name),
      ['b'],
    );
    const policy = parentPolicy({ more: { onNewBase: [{ report: {} }] } });
    const child = childOf(replacementOf('a'), progressing);
    const planned = planRollOut({
      policy,
      base,
      wanted: [],
      children: [child],
      findWorkload: () => workload('a'),
      selects: () => true,
      now,
    });
    assert.deepEqual(planned.remove, [child]);
    // It ran the image when the policy was suspended; whether it is available is not known since it was resumed.
    const resumed = { observedGeneration: 1, running: to, conditions: [ready('True', 'Suspended')] };
    assert.equal(plan({ a: resumed }).waves.done, 0);
  });

  it('recreates a waiting child with the current windows of the policy, and leaves one that has begun or failed', () => {
    const policy = parentPolicy({ waves: { maxParallel: 5, maxFailures: 5 }, more: { windows: [{ from: '02:00', to: '04:00' }] } });
    const [waits, runs, fails] = [
      childOf(replacementOf('a'), blocked),
      childOf(replacementOf('b'), progressing),
      childOf(replacementOf('c'), failed),
    ];
    const planned = planRollOut({
      policy: { ...policy, status: { lastWave: { base: base.digest, workloads: ['Deployment/shop/a'] } } },
      base,
      wanted: ['a', 'c'].map(replacementOf),
      children: [waits, runs, fails],
      findWorkload: ({ name }) => workload(name, name === 'b' ? to : from),
      selects: () => true,
      now,
    });
    assert.deepEqual([planned.remove, planned.create], [[waits], [replacementOf('a')]]);
  });

  it('removes the child of a workload that runs something else, and those of another base', () => {
    const other = childOf(replacementOf('b'), done, `sha256:${'d'.repeat(64)}`);
    const policy = parentPolicy();
    const updated = childOf(replacementOf('a'), done);
    const findWorkload: RollOut['findWorkload'] = ({ name }) => workload(name, name === 'a' ? '1.2.4' : to);
    const { remove } = planRollOut({ policy, base, wanted: [], children: [updated, other], findWorkload, selects: () => true, now });
    assert.deepEqual(new Set(remove), new Set([updated, other]));
  });

  it('replaces the child of a recreated workload when it is the turn of this workload', () => {
    const former = childOf({ ...replacementOf('a'), uid: 'former' }, done);
    const under = childOf({ ...replacementOf('b'), uid: 'uid-b' }, progressing);
    const planned = planRollOut({
      policy: parentPolicy({ waves: { maxParallel: 1 } }),
      base,
      wanted: [replacementOf('a')],
      children: [former, under],
      findWorkload: ({ name }) => workload(name, name === 'a' ? from : to),
      selects: () => true,
      now,
    });
    assert.deepEqual([planned.remove, planned.create], [[former], []]);
    assert.deepEqual(planned.waves, { base: base.digest, pending: 1, progressing: 1, done: 0, failed: 0 });
    assert.equal(former.policy.parent?.workload, 'former');
  });

  it('creates no second child for a container that has one, because the cache may show an older state of the workload', () => {
    const status = { lastWave: { base: base.digest, workloads: ['Deployment/shop/a'] } };
    const child = childOf(replacementOf('a'), progressing);
    const older = { ...replacementOf('a'), from: '1.2.2', to: '1.2.2-base.20261123' };
    const other = { ...older, containers: ['sidecar'] };
    const planned = planRollOut({
      policy: parentPolicy({ status }),
      base,
      wanted: [older, other],
      children: [child],
      findWorkload: ({ name }) => workload(name, to),
      selects: () => true,
      now,
    });
    assert.deepEqual([planned.remove, planned.create], [[], [other]]);
  });
});
