/** What becomes of companions in one workload: with the own image, alone, or not at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Alongside } from '../../../src/core/model/companions.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import { guardPlan } from '../../../src/core/plan/guard-plan.ts';
import { planUpdate, type TargetPlan } from '../../../src/core/plan/plan-update.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { allKnown, digestOf, noAliases, policyOf, specOf, workloadOf } from '../model/samples.ts';

const host = 'registry.example.com';
const [own, proxy, logs] = [`${host}/shop/web`, `${host}/shop/proxy`, `${host}/shop/logs`];
const repositoryOf = (path: string) => ({ registry: host, path });
const alongside: Alongside = {
  images: [{ repository: repositoryOf('shop/proxy') }, { repository: repositoryOf('shop/logs') }],
  match: 'SameTag',
  withinMs: 1_000,
};
const candidate = {
  tag: '1.3.0',
  digest: digestOf('b'),
  companions: [
    { image: proxy, tag: '1.3.0', digest: digestOf('c') },
    { image: logs, tag: '1.3.0', digest: digestOf('d') },
  ],
  setDigest: digestOf('e'),
};

function planOf(workload: Workload, spec: Partial<PolicySpec> = {}, isForced = false): TargetPlan {
  const whole = specOf({ alongside, ...spec });
  const plan = planUpdate({
    spec: whole,
    candidate,
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workload,
    isForced,
  });
  const [target] = plan.targets;
  assert.ok(target);
  return target;
}

/** What a workload with these images would be changed to: by container, all in one change. */
function changesOf({ changes }: TargetPlan): Record<string, string> {
  const all = changes.flatMap((one) => [one, ...(one.alongside ?? [])]).filter(({ from, to }) => from !== to);
  return Object.fromEntries(all.map(({ container, to }) => [container, to.slice(host.length + 6)]));
}

const record = (alongside: LastUpdate['alongside']): { lastUpdate: LastUpdate } => ({
  lastUpdate: {
    policy: policyOf().uid,
    at: '2026-03-01T12:00:00Z',
    trigger: 'Webhook',
    from: `${own}:1.2.0`,
    to: `${own}:1.3.0`,
    ...(alongside && { alongside }),
  },
});
/** After 1.4.0 failed, whose companions were set by somebody in the meantime. */
const rolledBack: { lastUpdate: LastUpdate } = {
  lastUpdate: {
    ...record(undefined).lastUpdate,
    at: '2026-03-01T12:05:00.123Z',
    trigger: 'Rollback',
    from: `${own}:1.4.0`,
    before: [{ policy: policyOf().uid, at: '2026-03-01T12:00:00.456Z', trigger: 'Webhook', from: `${own}:1.3.0`, to: `${own}:1.4.0` }],
  },
};
const written = [{ container: 'proxy', from: `${proxy}:1.2.0`, to: `${proxy}:1.3.0` }];
type Row = [images: Parameters<typeof workloadOf>[0], expected: Record<string, string>, spec?: Partial<PolicySpec>];

const rows: Record<string, Row> = {
  'is changed with the own image': [
    { web: `${own}:1.2.0`, proxy: `${proxy}:1.2.0`, logs: `${logs}:1.2.0` },
    { web: 'web:1.3.0', proxy: 'proxy:1.3.0', logs: 'logs:1.3.0' },
  ],
  'is left alone where it is right already': [{ web: `${own}:1.2.0`, proxy: `${proxy}:1.3.0` }, { web: 'web:1.3.0' }],
  'is pinned like the own image': [
    { web: `${own}:1.2.0`, proxy: `${proxy}:1.3.0` },
    { web: `web:1.3.0@${digestOf('b')}`, proxy: `proxy:1.3.0@${digestOf('c')}` },
    { pin: 'Digest' },
  ],
  'is changed alone where the own image is right': [{ web: `${own}:1.3.0`, proxy: `${proxy}:1.2.0` }, { proxy: 'proxy:1.3.0' }],
  'stays where the own image stays': [{ web: `${own}:1.9.0`, proxy: `${proxy}:1.2.0` }, {}],
  'keeps all where it would be set back': [{ web: `${own}:1.2.0`, proxy: `${proxy}:1.2.0`, logs: `${logs}:1.9.0` }, {}],
  'is set back where that is allowed': [
    { web: `${own}:1.2.0`, logs: `${logs}:1.9.0` },
    { web: 'web:1.3.0', logs: 'logs:1.3.0' },
    { allowDowngrade: true },
  ],
  'stays where somebody has replaced what we wrote': [
    { web: { image: `${own}:1.3.0`, imageOwner: 'image-watcher', ...record(written) }, proxy: `${proxy}:debug` },
    {},
  ],
  'stays where somebody has set it before a rollback, which left it': [
    {
      web: { image: `${own}:1.3.0`, imageOwner: 'image-watcher', ...rolledBack },
      proxy: { image: `${proxy}:debug`, imageOwner: 'kubectl-set', imageSetAt: '2026-03-01T12:00:00Z' },
    },
    {},
  ],
  'is changed where it has run since before what was rolled back': [
    {
      web: { image: `${own}:1.3.0`, imageOwner: 'image-watcher', ...rolledBack },
      proxy: { image: `${proxy}:1.2.0`, imageOwner: 'helm', imageSetAt: '2026-03-01T11:59:59Z' },
    },
    { proxy: 'proxy:1.3.0' },
  ],
  'is changed where the set is another since': [
    {
      web: {
        image: `${own}:1.3.0`,
        imageOwner: 'image-watcher',
        ...record([{ container: 'proxy', from: `${proxy}:1.1.0`, to: `${proxy}:1.2.0` }]),
      },
      proxy: `${proxy}:1.2.0`,
    },
    { proxy: 'proxy:1.3.0' },
  ],
  'is nothing that another policy has to do with': [{ web: `${own}:1.2.0`, other: `${host}/other/proxy:1.2.0` }, { web: 'web:1.3.0' }],
  'is only in the named container': [
    { web: `${own}:1.2.0`, proxy: `${proxy}:1.2.0`, debug: `${proxy}:1.2.0` },
    { web: 'web:1.3.0', proxy: 'proxy:1.3.0' },
    { alongside: { ...alongside, images: [{ repository: repositoryOf('shop/proxy'), containers: ['proxy'] }] } },
  ],
};

for (const [name, [images, expected, spec]] of Object.entries(rows))
  test(`a companion ${name}`, () => {
    const plan = planOf(workloadOf(images), spec);
    assert.deepEqual(changesOf(plan), expected);
    assert.ok(plan.changes.length <= 1, 'guards decide about all as one change');
  });

test('a companion is written only over an image of its own repository', () => {
  const images = { web: `${own}:1.2.0`, proxy: `${host}/shop/proxy-fork:1.2.0`, logs: `evil.example.com/shop/logs:1.2.0` };
  assert.deepEqual(changesOf(planOf(workloadOf(images))), { web: 'web:1.3.0' });
});

test('companions in init containers are changed with the image, and those in image volumes are not', () => {
  const initContainers = [{ name: 'proxy', image: `${proxy}:1.2.0` }];
  const volumes = [{ name: 'volumes/data', image: `${logs}:1.2.0`, index: 0 }];
  const [change] = planOf(workloadOf({ web: `${own}:1.2.0` }, { initContainers, volumes })).changes;
  assert.deepEqual(change?.alongside, [
    { container: 'proxy', index: 0, list: 'initContainers', from: `${proxy}:1.2.0`, to: `${proxy}:1.3.0` },
  ]);
});

test('a named container that does not run the companion is a problem, and nothing is changed', () => {
  const named = { ...alongside, images: [{ repository: repositoryOf('shop/proxy'), containers: ['sidecar'] }] };
  const plan = planOf(workloadOf({ web: `${own}:1.2.0`, proxy: `${proxy}:1.2.0` }), { alongside: named });
  assert.deepEqual([plan.problem?.reason, plan.changes], ['ContainerNotFound', []]);
  assert.match(plan.problem?.message ?? '', /"sidecar" that runs registry\.example\.com\/shop\/proxy/);
});

test('a set that a user asks for is applied, even over an image that somebody else has set', () => {
  const images = { web: { image: `${own}:1.3.0`, imageOwner: 'image-watcher', ...record(written) }, proxy: `${proxy}:1.9.0` };
  assert.deepEqual(changesOf(planOf(workloadOf(images), {}, true)), { proxy: 'proxy:1.3.0' });
});

test('a target is not changed without its companions: it waits until a known time, or is blocked without one', () => {
  const spec = specOf({ alongside });
  const context = {
    policy: policyOf(),
    spec,
    crossNamespace: 'consent',
    repeatsPerHour: 5,
    now: new Date('2026-03-01T12:00:00Z'),
  } as const;
  const view = { ...allKnown, aliases: noAliases, hasApplied: true, findWorkload: () => workloadOf({ web: `${own}:1.2.0` }) };
  const unknown = { tag: '1.3.0', digest: digestOf('b') };
  const missing = { images: [`${proxy}:1.3.0`], since: '2026-03-01T11:50:00Z', until: '2026-03-01T12:20:00Z' };
  for (const [image, kind] of [
    [unknown, 'blocked'],
    [{ ...unknown, missing }, 'waits'],
  ] as const) {
    const [target] = guardPlan(planUpdate({ ...view, spec, candidate: image }), { ...context, candidate: image }).targets;
    assert.deepEqual([target?.changes, target?.blocked?.map((one) => [one.kind, one.reason])], [[], [[kind, 'CompanionMissing']]]);
  }
});

test('a change makes a set whole and never mixes images that were of one version, whatever runs', () => {
  const tag = fc.constantFrom('1.1.0', '1.2.0', '1.3.0', '1.9.0');
  const arbitrary = fc.record({
    web: tag,
    proxy: tag,
    logs: tag,
    downgrade: fc.boolean(),
    pin: fc.constantFrom('Tag' as const, 'Digest' as const),
  });
  fc.assert(
    fc.property(arbitrary, ({ web, proxy: beside, logs: other, downgrade: allowDowngrade, pin }) => {
      const images = { web: `${own}:${web}`, proxy: `${proxy}:${beside}`, logs: `${logs}:${other}` };
      const plan = planOf(workloadOf(images), { allowDowngrade, pin });
      const changed = changesOf(plan);
      const tags = Object.entries(images).map(([name, image]) => /:([\d.]+)/.exec(changed[name] ?? image.slice(host.length))?.[1]);
      const isChanged = Object.keys(changed).length > 0;
      const wasOne = new Set([web, beside, other]).size === 1;
      if (wasOne || (isChanged && plan.companions?.every(({ state, to }) => state === 'UpToDate' || to !== undefined)))
        assert.equal(new Set(tags).size, 1, JSON.stringify({ images, changed }));
    }),
  );
});
