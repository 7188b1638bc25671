/** What a rollback may do is said by the policy, its targets' owners and signatures as they are now, whatever the history says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { VerificationResult, Verification } from '../../../src/core/model/verification.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, webDeployment } from '../../core/model/samples.ts';
import { changedWorkload, entryOf, stuckRollout, image, withLastUpdate, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { changeTime, changedWorld, jobOf, reconcile, historyLines, eventLines } from './changed-world.ts';
import { withPorts, contextOf, type World } from './world.ts';

test('a target in another namespace is neither rolled back nor mentioned without consent, even one withdrawn a moment ago', async () => {
  const ops = { namespace: 'ops' };
  const world = changedWorld(changedWorkload(stuckRollout), { status: { history: [entryOf({ at: changeTime, ...ops })] } });
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  world.put({ ...policy, spec: watchedSpec('Rollback', { targets: [{ ...webDeployment, ...ops }] }) });
  world.workloads.set('Deployment/ops/web', withLastUpdate(changedWorkload(stuckRollout, ops), { at: changeTime }));
  await reconcile(world);
  assert.deepEqual([world.requests, world.events], [[], []]);
  const stale = withPorts(world.ports, { cluster: { namespaceConsent: () => 'shop' } });
  for (let twice = 0; twice < 2; twice++) {
    await processTask({ ...jobOf(world), cause: 'again' }, contextOf(), stale);
    assert.deepEqual(patchRequests(world), []);
    assert.deepEqual(eventLines(world), ['RolloutFailed ImagePolicy', 'RolloutFailed Deployment', 'RollbackRefused ImagePolicy']);
  }
  assert.match(world.events.at(-1)?.message ?? '', /another namespace/);
  assert.equal(world.statusOf('web').history?.[0]?.rollbackRefused?.reason, 'RollbackRefused');
  assert.match(world.statusOf('web').conditions?.[0]?.message ?? '', /it is not rolled back: .*another namespace/);
  world.namespaces.set('ops', 'shop');
  await reconcile(world);
  assert.deepEqual(historyLines(world), ['Rollback Applied', 'Webhook RolledBack']);
  assert.equal(world.statusOf('web').history?.[1]?.rollbackRefused, undefined);
});

const patchRequests = (world: World) => world.requests.filter((request) => request.startsWith('PATCH'));

test('a policy that changes before the rollback prevents it, and the reconcile of the change decides', async () => {
  for (const spec of [watchedSpec('Hold'), watchedSpec('Rollback', { suspended: true }), undefined]) {
    const world = changedWorld(changedWorkload(stuckRollout));
    const job = jobOf(world);
    const { writeStatus } = world.ports.policies;
    const change: World['ports']['policies']['writeStatus'] = async (...args) => {
      await writeStatus(...args);
      const policy = world.policies.get('shop/web');
      if (spec === undefined) world.policies.delete('shop/web');
      else if (policy !== undefined) world.put({ ...policy, generation: 2, spec });
    };
    await processTask(job, contextOf(), withPorts(world.ports, { policies: { writeStatus: change } }));
    assert.deepEqual(patchRequests(world), []);
  }
});

const keys: Verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };

test('a digest that only a workload claims is not rejected, but the one to which its tag points in the registry', async () => {
  const [known, claimed] = [digestOf('b'), digestOf('f')];
  const pinned = (workload: Workload) => ({
    ...workload,
    containers: workload.containers.map((one) => ({ ...one, image: `${image}:1.3.0@${claimed}` })),
  });
  const rows: [workload: Workload, status: PolicyStatus, rejected: string][] = [
    [changedWorkload(stuckRollout), {}, known],
    [changedWorkload(stuckRollout), { latest: { tag: '1.3.0', digest: claimed, selectedAt: changeTime } }, claimed],
    [pinned(changedWorkload(stuckRollout)), {}, claimed],
  ];
  for (const [workload, status, rejected] of rows) {
    const world = changedWorld(withLastUpdate(workload, { at: changeTime, digest: claimed }), { status: { history: [], ...status } });
    await reconcile(world);
    assert.deepEqual(
      world.statusOf('web').rejected?.map(({ digest }) => digest),
      [rejected],
    );
  }
});

test('a change by policy or owners while signatures are verified prevents a rollback', async () => {
  const ops = { namespace: 'ops' };
  const start = (happens: (world: World) => void) => {
    const world: World = changedWorld(
      changedWorkload(stuckRollout),
      { status: { history: [entryOf({ at: changeTime, ...ops })] } },
      {
        signatures: {
          async verify() {
            happens(world);
            return { kind: 'verified', by: 'us' };
          },
        },
      },
    );
    const policy = world.policies.get('shop/web');
    assert.ok(policy);
    world.put({ ...policy, spec: watchedSpec('Rollback', { targets: [{ ...webDeployment, ...ops }], verification: keys }) });
    world.workloads.set('Deployment/ops/web', withLastUpdate(changedWorkload(stuckRollout, ops), { at: changeTime }));
    world.namespaces.set('ops', 'shop');
    return world;
  };
  const suspend = (world: World) => {
    const policy = world.policies.get('shop/web');
    assert.ok(policy);
    world.put({ ...policy, generation: 2, spec: watchedSpec('Rollback', { suspended: true }) });
  };
  const rows: [(world: World) => void, number][] = [
    [() => undefined, 1],
    [(world) => void world.namespaces.delete('ops'), 0],
    [suspend, 0],
  ];
  for (const [happens, patches] of rows) {
    const world = start(happens);
    await reconcile(world);
    assert.equal(patchRequests(world).length, patches);
  }
});

test('with verify the image to roll back to must be signed, by its digest or by what its tag points to now', async () => {
  const verified: string[] = [];
  const answers: Record<string, VerificationResult> = {
    [digestOf('a')]: { kind: 'verified', by: 'ours' },
    [digestOf('c')]: { kind: 'invalid', why: 'signed by somebody else' },
    [digestOf('d')]: { kind: 'unsigned', why: 'nothing is there' },
  };
  const verifyImage: World['ports']['signatures']['verify'] = async ({ digest }) => {
    verified.push(digest);
    return answers[digest] ?? { kind: 'unsigned', why: 'unknown' };
  };
  const rows: [from: string, tagged: string | undefined, why: RegExp | undefined][] = [
    [`${image}:1.2.3`, digestOf('a'), undefined],
    [`${image}:1.2.3@${digestOf('a')}`, undefined, undefined],
    [`${image}:1.2.3`, digestOf('c'), /1\.2\.3 \(sha256:c+\) is not used: signed by somebody else/],
    [`${image}:1.2.3`, digestOf('d'), /1\.2\.3 \(sha256:d+\) is not signed: nothing is there/],
    [`${image}:1.2.3@${digestOf('d')}`, digestOf('a'), /is not signed: nothing is there/],
    [`${image}:1.2.3`, undefined, /1\.2\.3 is not in the registry any more/],
  ];
  for (const [from, tagged, why] of rows) {
    const world = changedWorld(
      changedWorkload(stuckRollout),
      { status: { history: [entryOf({ at: changeTime, from })] } },
      { signatures: { verify: verifyImage } },
    );
    const policy = world.policies.get('shop/web');
    assert.ok(policy);
    world.put({ ...policy, spec: watchedSpec('Rollback', { verification: keys }) });
    if (tagged === undefined) world.tags.delete('1.2.3');
    else world.tags.set('1.2.3', tagged);
    await reconcile(world);
    const refusal = world.statusOf('web').history?.find(({ trigger }) => trigger !== 'Rollback')?.rollbackRefused;
    if (why === undefined) {
      assert.deepEqual([world.images(), refusal], [[from], undefined], from);
    } else {
      assert.deepEqual([world.images(), refusal?.reason], [[`${image}:1.3.0`], 'RollbackRefused'], from);
      assert.match(refusal?.message ?? '', why);
    }
  }
  assert.equal(verified.length, 5, 'what is gone has no digest to ask for');
});

test('with verify there is no rollback to a tag that moves while its signature is read', async () => {
  const world = changedWorld(changedWorkload(stuckRollout));
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  world.put({ ...policy, spec: watchedSpec('Rollback', { verification: keys }) });
  const verifyImage: World['ports']['signatures']['verify'] = async () => {
    world.tags.set('1.2.3', digestOf('e'));
    return { kind: 'verified', by: 'ours' };
  };
  await assert.rejects(
    processTask(jobOf(world), contextOf(), withPorts(world.ports, { signatures: { verify: verifyImage } })),
    /moved from/,
  );
  assert.deepEqual(patchRequests(world), []);
});
