import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../src/api-versions/base-policy/read-base-policy.ts';
import type { Acting, ImageBehind } from '../../src/base-policies/act.ts';
import { restartOutdated, type RestartPorts } from '../../src/base-policies/restart-outdated.ts';
import { isUsableBase } from '../../src/model/base-policy.ts';
import type { RunningPods } from '../../src/rollout/running-pods.ts';
import { digestFor, image as imageOf } from '../bases/samples.ts';

const platform = 'linux/amd64';
const bases = [
  imageOf({ name: '21.0.2', layers: { [platform]: 'os java2' } }),
  imageOf({ name: '21.0.1', layers: { [platform]: 'os java1' } }),
];
const [selected] = bases;
const base = { tag: '21.0.2', digest: selected?.digest ?? '' };
const now = Date.parse('2026-11-23T12:00:00Z');
const rebuilt = digestFor('rebuilt');
const former = digestFor('former');
const facts = new Map(
  [
    ...bases,
    imageOf({ name: 'rebuilt', layers: { [platform]: 'os java2 web' } }),
    imageOf({ name: 'former', layers: { [platform]: 'os java1 web' } }),
  ].map((one) => [one.digest, one] as const),
);

function actingOf({ waves = {}, windows, status = {} }: { waves?: object; windows?: object[]; status?: object }): Acting {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const spec = {
    image: 'harbor.example.com/library/base-java',
    select: { semver: {} },
    workloads: [{}],
    onNewBase: [{ restart: { images: ['*'] } }],
    waves,
    ...(windows && { windows }),
  };
  const policy = readBasePolicy({ metadata, spec, status }, { aliases: new Map(), customTargets: [] });
  assert.ok(isUsableBase(policy.spec));
  const source = { registry: 'harbor.example.com', path: 'library/base-java' };
  return {
    policy: { ...policy, spec: policy.spec },
    base,
    behind: [],
    current: [],
    versions: { source, versions: bases.map(({ digest }) => ({ digest })) },
    findWorkload: () => undefined,
    now,
    signal: new AbortController().signal,
  };
}

const workloadOf = (name: string, namespace = 'platform') => ({ kind: 'Deployment', namespace, name });
const web = (names: readonly string[], more: Partial<ImageBehind> = {}, namespace?: string): ImageBehind => ({
  source: { registry: 'harbor.example.com', path: 'shop/web' },
  tag: 'main',
  digest: rebuilt,
  isPinned: false,
  base: base.digest,
  workloads: names.map((name) => ({ workload: workloadOf(name, namespace), containers: ['app'], hasInitContainers: false })),
  ...more,
});

const pods = (digest: string, more: Partial<RunningPods> = {}): RunningPods => ({
  uid: 'u',
  resourceVersion: '1',
  isPaused: false,
  pullsAlways: ['app'],
  digests: new Map([['app', new Set([digest])]]),
  areReady: true,
  ...more,
});

interface Options {
  readonly waves?: object;
  readonly windows?: object[];
  readonly status?: object;
  readonly isUnchanged?: boolean;
}

async function run(image: ImageBehind, running: Readonly<Record<string, RunningPods>>, { isUnchanged = true, ...options }: Options = {}) {
  const restarted: string[] = [];
  const ports: RestartPorts = {
    facts: { read: (_, digest) => Promise.resolve(facts.get(digest)) },
    cluster: { crossNamespace: 'consent', namespaceConsent: () => null },
    restarts: {
      read: ({ name }) => Promise.resolve(running[name]),
      restart({ name }, { digest, uid }) {
        assert.deepEqual([digest, uid], [rebuilt, 'u']);
        if (isUnchanged) restarted.push(name);
        return Promise.resolve(isUnchanged);
      },
    },
  };
  const acted = await restartOutdated(actingOf(options), [image], ports);
  return { ...acted, restarted, state: acted.states.get(image) };
}

describe('restartOutdated', () => {
  it('restarts what still runs the image on the former base', async () => {
    const { restarted, state, status } = await run(web(['a']), { a: pods(former) });
    assert.deepEqual([restarted, state?.state, status.waves?.progressing], [['a'], 'Updating', 1]);
  });

  for (const [what, image, running] of [
    ['pods that run the new image', web(['a']), pods(rebuilt)],
    ['an image that is not pulled at each start', web(['a']), pods(former, { pullsAlways: [] })],
    ['pods whose image is not known', web(['a']), pods(former, { digests: new Map() })],
    ['an image of no known base', web(['a']), pods(digestFor('unknown'))],
    ['a workload that names the digest', web(['a'], { isPinned: true }), pods(former)],
    ['a workload of another namespace without consent', web(['a'], {}, 'shop'), pods(former)],
    ['a workload whose owners let others in', web(['a'], {}, 'shop'), pods(former, { allowPoliciesFrom: 'ops' })],
    ['a paused workload', web(['a']), pods(former, { isPaused: true })],
    [
      'a workload that was restarted for this digest already',
      web(['a']),
      pods(former, { restartedFor: rebuilt, restartedAt: '2026-11-23T11:59:00Z' }),
    ],
  ] as const) {
    it(`does not restart ${what}`, async () => assert.deepEqual((await run(image, { a: running })).restarted, []));
  }

  it('restarts a workload of another namespace with consent', async () => {
    const { restarted } = await run(web(['a'], {}, 'shop'), { a: pods(former, { allowPoliciesFrom: 'platform' }) });
    assert.deepEqual(restarted, ['a']);
  });

  it('begins with as many as may roll out at the same time, and waits for them', async () => {
    const waves = { maxParallel: 2, pause: '1m' };
    const first = await run(web(['a', 'b', 'c']), { a: pods(former), b: pods(former), c: pods(former) }, { waves });
    assert.deepEqual(first.restarted, ['a', 'b']);
    const begun = pods(former, { restartedFor: rebuilt, restartedAt: '2026-11-23T11:59:00Z' });
    const second = await run(web(['a', 'b', 'c']), { a: begun, b: pods(rebuilt, { restartedFor: rebuilt }), c: pods(former) }, { waves });
    assert.deepEqual([second.restarted, second.state?.state], [[], 'Updating']);
  });

  it('waits for a window', async () => {
    const { restarted, until } = await run(web(['a']), { a: pods(former) }, { windows: [{ from: '13:00', to: '14:00' }] });
    assert.deepEqual(restarted, []);
    assert.ok(until !== undefined && until.getTime() <= Date.parse('2026-11-23T13:00:00Z'));
  });

  it('rejects the base when pods do not come up, and restarts nothing more', async () => {
    const late = pods(former, { restartedFor: rebuilt, restartedAt: '2026-11-23T11:44:00Z', areReady: false });
    const { restarted, state, status } = await run(web(['a', 'b']), { a: late, b: pods(former) });
    assert.deepEqual([restarted, state?.state, status.rejected?.[0]?.digest], [[], 'Failed', base.digest]);
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment platform\/a: its pods .* not ready 15 minutes after the restart/);
    const rejected = [{ ...base, at: '2026-11-23T11:59:30Z', message: 'it crashes' }];
    assert.deepEqual((await run(web(['b']), { b: pods(former) }, { status: { rejected } })).restarted, []);
  });

  it('tries again when a workload has changed meanwhile', async () => {
    const { until, restarted } = await run(web(['a']), { a: pods(former) }, { isUnchanged: false });
    assert.deepEqual([restarted, until], [[], new Date(now + 10_000)]);
  });
});
