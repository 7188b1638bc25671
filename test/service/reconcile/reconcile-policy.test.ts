import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { reconcilePolicy } from '../../../src/service/reconcile/reconcile-policy.ts';
import type { Ports } from '../../../src/service/reconcile/ports.ts';
import type { ReconcileRequest } from '../../../src/service/reconcile/attempt.ts';
import { digestOf, latestSpec, policyOf, specOf, thisDeployment, webDeployment, workloadOf } from '../../core/model/samples.ts';
import { change } from './patched.ts';
import { createWorld, image, setWorkload, type World, withPorts, type PortOverrides } from './world.ts';

const signal = new AbortController().signal;
const unknownKind = { problem: { reason: 'TargetKindUnknown', message: 'no' } } as const;

function reconcile(world: World, request: Partial<ReconcileRequest> = {}, ports: PortOverrides = {}) {
  return reconcilePolicy({ policy: policyOf(), announced: false, ...request }, withPorts(world.ports, ports), signal);
}

test('a reconcile without a hint selects the best of all tags', async () => {
  const world = createWorld();
  const outcome = await reconcile(world);
  assert.equal(outcome.kind, 'updated');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual(world.requests, ['LIST shop/web', 'HEAD 1.3.0', 'PATCH web']);
});

test('a reconcile with a hint sends one request and one patch', async () => {
  const world = createWorld();
  const outcome = await reconcile(world, { hint: { tag: '1.3.0', digest: digestOf('b') }, announced: true });
  assert.deepEqual([outcome.kind, outcome.tag, outcome.digest], ['updated', '1.3.0', digestOf('b')]);
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
});

test('a hint that the policy does not select costs no request', async () => {
  const world = createWorld();
  for (const tag of ['main', '2.0.0-rc.1', 'latest']) {
    const outcome = await reconcile(world, { hint: { tag }, announced: true });
    assert.deepEqual([outcome.kind, outcome.reason, outcome.tag], ['ignored', 'NotSelected', tag]);
  }
  assert.deepEqual(world.requests, []);
});

test('a hint that changes nothing costs no request', async () => {
  const world = createWorld();
  world.put(policyOf({ status: { latest: { tag: '1.2.3', digest: digestOf('a'), selectedAt: '2026-01-01T00:00:00Z' } } }));
  for (const [tag, reason] of [
    ['1.2.3', 'UpToDate'],
    ['1.0.0', 'OlderThanRunning'],
  ] as const) {
    const outcome = await reconcile(world, { hint: { tag }, announced: true });
    assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', reason]);
  }
  assert.deepEqual(world.requests, []);
});

test('the digest of the registry is used, not that of the hint', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  world.tags.set('latest', digestOf('d'));
  const outcome = await reconcile(world, { hint: { tag: 'latest', digest: digestOf('e') } });
  assert.equal(outcome.digest, digestOf('d'));
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('d')}`]);
});

test('a tag that the registry does not hold is not applied', async () => {
  const world = createWorld();
  const hinted = await reconcile(world, { hint: { tag: '9.9.9' } });
  assert.deepEqual([hinted.kind, hinted.reason], ['ignored', 'TagNotFound']);
  world.tags.set('1.3.0', '');
  const listed = await reconcile(world, {}, { registry: { headManifest: async () => undefined } });
  assert.deepEqual([listed.kind, listed.tag], ['unchanged', '1.2.3']);
  assert.match(listed.message, /passed over: the registry holds no registry\.example\.com\/shop\/web:1\.3\.0/);
  world.tags.delete('1.2.3');
  const none = await reconcile(world, {}, { registry: { headManifest: async () => undefined } });
  assert.deepEqual([none.kind, none.reason], ['stalled', 'NoMatchingTag']);
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('a problem that the user must fix stalls the policy with its reason', async () => {
  const cases: [reason: string, prepare: (world: World) => void, ports?: PortOverrides][] = [
    ['InvalidPolicy', (world) => world.put(policyOf({ spec: { problem: { reason: 'InvalidPolicy', message: 'broken' } } }))],
    ['RepositoryNotFound', () => undefined, { registry: { listTags: async () => undefined } }],
    ['NoMatchingTag', (world) => world.tags.clear()],
    ['RegistryDenied', () => undefined, { registry: { listTags: () => Promise.reject(new PermanentError('RegistryDenied', '401')) } }],
    ['RegistryDenied', () => undefined, { registry: { headManifest: () => Promise.reject(new PermanentError('RegistryDenied', '403')) } }],
    ['PatchRejected', () => undefined, { workloads: { patchImages: () => Promise.reject(new PermanentError('PatchRejected', 'no')) } }],
    ['TargetNotFound', (world) => world.workloads.clear()],
    ['ContainerNotFound', (world) => setWorkload(world, { web: 'nginx:1.2.3' })],
    ['TargetKindUnknown', () => undefined, { cluster: { targetState: () => unknownKind } }],
    [
      'CrossNamespaceDenied',
      (world) => world.put(policyOf({ spec: specOf({ targets: [{ ...webDeployment, namespace: 'ops' }] }) })),
      { cluster: { crossNamespace: 'deny', findWorkload: () => workloadOf({ web: `${image}:1.2.3` }, { namespace: 'ops' }) } },
    ],
  ];
  for (const [reason, prepare, ports] of cases) {
    const world = createWorld();
    prepare(world);
    const outcome = await reconcile(world, {}, ports);
    assert.deepEqual([outcome.kind, outcome.reason], ['stalled', reason]);
    assert.ok(!world.requests.includes('PATCH web'));
  }
});

test('a temporary error of a reconcile is thrown', async () => {
  const later = new WaitError('RegistryThrottled', new Date(0), 'later');
  await assert.rejects(reconcile(createWorld(), {}, { registry: { listTags: () => Promise.reject(later) } }), later);
  const broken = new Error('socket hang up');
  await assert.rejects(reconcile(createWorld(), {}, { workloads: { patchImages: () => Promise.reject(broken) } }), broken);
});

test('a reconcile for a policy that was deleted or recreated changes nothing', async () => {
  const world = createWorld();
  world.put(policyOf({ uid: 'created-anew' }));
  assert.equal((await reconcile(world)).reason, 'PolicyGone');
  world.policies.clear();
  assert.equal((await reconcile(world)).reason, 'PolicyGone');
  assert.deepEqual(world.requests, []);
});

for (const [what, meanwhile, reason] of [
  [
    'changed, and does not want the tag any more,',
    policyOf({ generation: 2, spec: specOf({ strategy: strategies.semver({ range: '1.2.x' }) }) }),
    'NotSelected',
  ],
  ['deleted', undefined, 'PolicyGone'],
  ['created anew', policyOf({ uid: 'created-anew' }), 'PolicyGone'],
] as const) {
  test(`a policy that is ${what} while the registry is asked changes nothing`, async () => {
    const world = createWorld();
    const outcome = await reconcile(
      world,
      { hint: { tag: '1.3.0' } },
      {
        registry: {
          headManifest: async () => {
            world.policies.clear();
            if (meanwhile !== undefined) world.put(meanwhile);
            return { digest: digestOf('b') };
          },
        },
      },
    );
    assert.deepEqual([outcome.kind, outcome.reason], ['ignored', reason]);
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  });
}

test('a policy that is changed while the registry is asked, and still selects the tag, is applied', async () => {
  const world = createWorld();
  let asked = 0;
  const headManifest = async () => {
    if (asked++ === 0) world.put(policyOf({ generation: 2, spec: specOf({ strategy: strategies.semver({ range: '1.x' }) }) }));
    return { digest: digestOf('b') };
  };
  assert.equal((await reconcile(world, { hint: { tag: '1.3.0' } }, { registry: { headManifest } })).kind, 'updated');
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a policy that changes during each of five attempts is retried later', async () => {
  const world = createWorld();
  let generation = 1;
  const headManifest = async () => {
    world.put(policyOf({ generation: ++generation }));
    return { digest: digestOf('b') };
  };
  const again = reconcile(world, { hint: { tag: '1.3.0' } }, { registry: { headManifest } });
  await assert.rejects(again, /changed during 5 attempts in a row: its spec/);
});

test('conflict: the workload is read and planned again, and a higher version that somebody else has set stays', async () => {
  const world = createWorld();
  const outcome = await reconcile(
    world,
    {},
    {
      workloads: {
        patchImages: async () => {
          world.requests.push('PATCH web');
          setWorkload(world, { web: `${image}:1.4.0` });
          return { kind: 'conflict' };
        },
      },
    },
  );
  assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', 'OlderThanRunning']);
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  assert.deepEqual(world.requests, ['LIST shop/web', 'HEAD 1.3.0', 'PATCH web', 'GET web']);
});

test('conflict: the plan uses the object that was read, not the cache', async () => {
  const world = createWorld();
  const cached = workloadOf({ web: `${image}:1.2.3` });
  const outcome = await reconcile(
    world,
    {},
    {
      cluster: { findWorkload: () => cached },
      workloads: {
        patchImages: async (workload, changes, ...rest) => {
          if (workload === cached) {
            setWorkload(world, { sidecar: 'nginx:1', web: `${image}:1.2.4` }, { resourceVersion: '7' });
            return { kind: 'conflict' };
          }
          return world.ports.workloads.patchImages(workload, changes, ...rest);
        },
      },
    },
  );
  assert.partialDeepStrictEqual(outcome.changes, [
    { workload: thisDeployment, container: 'web', index: 1, from: `${image}:1.2.4`, to: `${image}:1.3.0`, at: '2026-03-01T12:00:00Z' },
  ]);
  assert.deepEqual(world.images(), ['nginx:1', `${image}:1.3.0`]);
});

test('conflict: a workload that was deleted is reported as missing', async () => {
  const world = createWorld();
  const outcome = await reconcile(
    world,
    {},
    {
      cluster: { findWorkload: () => workloadOf({ web: `${image}:1.2.3` }) },
      workloads: { read: async () => undefined, patchImages: async () => ({ kind: 'conflict' }) },
    },
  );
  assert.deepEqual([outcome.kind, outcome.reason], ['stalled', 'TargetNotFound']);
});

test('conflict: five conflicts in a row are a failure', async () => {
  const world = createWorld();
  let conflicts = 0;
  const patchImages = async () => ({ kind: 'conflict', count: ++conflicts }) as const;
  await assert.rejects(reconcile(world, {}, { workloads: { patchImages } }), /shop\/web changed during 5 attempts in a row: its targets/);
  assert.equal(conflicts, 5);
});

test('conflict: a conflict at one target neither undoes nor repeats the change of another', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: specOf({ targets: [webDeployment, { ...webDeployment, name: 'worker' }] }) }));
  setWorkload(world, { worker: `${image}:1.2.3` }, { name: 'worker' });
  let conflicts = 1;
  const outcome = await reconcile(
    world,
    {},
    {
      workloads: {
        patchImages: async (workload, ...rest) =>
          workload.name === 'worker' && conflicts-- > 0 ? { kind: 'conflict' } : world.ports.workloads.patchImages(workload, ...rest),
      },
    },
  );
  assert.deepEqual(
    outcome.changes?.map(({ workload, to }) => [workload.name, to]),
    [
      ['web', `${image}:1.3.0`],
      ['worker', `${image}:1.3.0`],
    ],
  );
  assert.equal(world.requests.filter((request) => request === 'PATCH web').length, 1);
});

test('simultaneous pushes of one policy lead to the highest version, whichever answer arrives first', async () => {
  const world = createWorld();
  const versions = ['1.3.0', '1.5.0', '1.4.0', '1.10.0', '1.9.0'];
  for (const version of versions) world.tags.set(version, digestOf('f'));
  await Promise.all(versions.map((tag) => reconcile(world, { hint: { tag }, announced: true })));
  assert.deepEqual(world.images(), [`${image}:1.10.0`]);
});

test('a cache that lags behind our own patch causes no second change', async () => {
  const world = createWorld();
  const stale = workloadOf({ web: `${image}:1.2.3` });
  await reconcile(world, { hint: { tag: '1.3.0' } });
  const patchImages: Ports['workloads']['patchImages'] = async (workload, changes) => {
    const real = world.workloads.get('Deployment/shop/web');
    // The API server's `test` operations.
    if (real?.containers[0]?.image !== changes[0]?.from) return { kind: 'conflict' };
    return { kind: 'patched', workload: change(workload, changes) };
  };
  const outcome = await reconcile(
    world,
    { hint: { tag: '1.2.9' } },
    {
      cluster: { findWorkload: () => stale },
      workloads: { patchImages },
      registry: { headManifest: async () => ({ digest: digestOf('c') }) },
    },
  );
  assert.deepEqual([outcome.kind, outcome.reason], ['unchanged', 'OlderThanRunning']);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a mutable tag is requested again after a conflict, because another replica may have had the newer answer', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  world.tags.set('latest', digestOf('d'));
  let conflicts = 1;
  const patchImages: Ports['workloads']['patchImages'] = async (...patch) => {
    if (conflicts-- <= 0) return world.ports.workloads.patchImages(...patch);
    world.tags.set('latest', digestOf('e'));
    setWorkload(world, { web: `${image}:latest@${digestOf('e')}` });
    return { kind: 'conflict' };
  };
  const outcome = await reconcile(world, { hint: { tag: 'latest' } }, { workloads: { patchImages } });
  assert.deepEqual([outcome.kind, outcome.digest], ['unchanged', digestOf('e')]);
  assert.deepEqual(world.images(), [`${image}:latest@${digestOf('e')}`]);
  assert.deepEqual(world.requests, ['HEAD latest', 'GET web', 'HEAD latest']);
});

test('a mutable tag that nobody else changes costs one request', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  world.tags.set('latest', digestOf('d'));
  await reconcile(world, { hint: { tag: 'latest' } });
  assert.deepEqual(world.requests, ['HEAD latest', 'PATCH web']);
});
