/** Pipelines whose image waits, or rolls out, when something else decides about it: each of them ends, with what is true. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { startDeliveryWorld, type DeliveryWorld } from './delivery-world.ts';

let world: DeliveryWorld;

before(async () => void (world = await startDeliveryWorld()));
after(() => world?.stop());

const limit = { timeout: 300_000 };
const isApproval = /waiting: ApprovalRequired: /;

/** Another receiver is told of an image, as it is of the registry's own webhook. */
async function announceElsewhere(name: string, tag: string, receiver: 'ci' | 'other' = 'ci') {
  const { code, err } = await world.announceTo(receiver, world.image(name, tag), []);
  assert.equal(code, 0, err);
}

/** A policy whose image 1.0.1 waits for approval, and the pipeline that waits for it. */
async function waitForApproval(name: string) {
  await world.create(name);
  await world.world.patchPolicy(name, { update: { mode: 'Approval' } });
  const digest = await world.push(name, '1.0.1');
  const pipeline = world.startPipeline(world.image(name, '1.0.1'));
  await pipeline.said(isApproval);
  return { digest, pipeline };
}

it('announce --wait fails for an image that waited for approval when a newer image was selected', limit, async () => {
  const { pipeline } = await waitForApproval('newer');
  await world.push('newer', '1.0.2');
  await announceElsewhere('newer', '1.0.2');
  const { code, out } = await pipeline.end;
  assert.equal(code, 1);
  assert.match(out, /newer: superseded: Superseded: 1\.0\.2 is selected instead of 1\.0\.1, which had to wait/);
  assert.match(out, /1\.0\.1: it does not run\n$/);
});

it('announce --wait succeeds for an image that a poll had found before its push, when it is approved and runs', limit, async () => {
  const name = 'found';
  await world.create(name);
  await world.world.patchPolicy(name, { update: { mode: 'Approval' } });
  const digest = await world.push(name, '1.0.1');
  await world.world.annotate(world.world.policyPath(name), { 'operator.technomad.dev/requested-at': new Date().toISOString() });
  await waitFor('the image to be found', async () => (await world.world.readStatus(name)).latest?.tag === '1.0.1');
  const pipeline = world.startPipeline(world.image(name, '1.0.1'));
  await pipeline.said(isApproval);
  await world.world.annotate(world.world.policyPath(name), { 'operator.technomad.dev/approve': `1.0.1@${digest}` });
  await world.kubelet.becomesReady(name, world.image(name, '1.0.1'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 0, out);
});

it('announce --wait fails for an image that a person rejects while it waits', limit, async () => {
  const { pipeline, digest } = await waitForApproval('rejected');
  await world.world.annotate(world.world.policyPath('rejected'), { 'operator.technomad.dev/reject': `1.0.1@${digest}` });
  const { code, out } = await pipeline.end;
  assert.equal(code, 1);
  assert.match(out, /rejected: failed: RejectedDigest: .*rejected/);
});

it('announce --wait fails for an image whose policy is deleted while it waits', limit, async () => {
  const { pipeline } = await waitForApproval('deleted');
  await world.world.cluster.request('DELETE', world.world.policyPath('deleted'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 1);
  assert.match(out, /deleted: \w+: PolicyGone: /);
});

it('announce --wait succeeds for an image that a person sets manually while it waits', limit, async () => {
  const { pipeline } = await waitForApproval('by-hand');
  await world.world.setImage('by-hand', world.image('by-hand', '1.0.1'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 0, out);
});

it('announce --wait fails for an image that was still rolling out when a newer image was applied', limit, async () => {
  await world.create('quick');
  await world.push('quick', '1.0.1');
  const pipeline = world.startPipeline(world.image('quick', '1.0.1'));
  await pipeline.said(/quick: changed: Updated: /);
  await world.push('quick', '1.0.2');
  await announceElsewhere('quick', '1.0.2');
  const { code, out } = await pipeline.end;
  assert.equal(code, 1);
  assert.match(out, /quick: superseded: Superseded: 1\.0\.2 has replaced 1\.0\.1/);
});

it('announce --wait reports the failed rollout of an image that another receiver has announced before', limit, async () => {
  await world.create('twice');
  await world.push('twice', '1.0.1');
  await announceElsewhere('twice', '1.0.1');
  await world.world.waitForImage('twice', world.image('twice', '1.0.1'));
  const pipeline = world.startPipeline(world.image('twice', '1.0.1'), { receiver: 'other' });
  await pipeline.said(/twice: changed: Updated: /);
  await world.kubelet.crashes('twice', world.image('twice', '1.0.1'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 1);
  assert.match(out, /twice: failed: (?:RolledBack|RolloutFailed): /);
});

it('announce --wait fails for an image of a policy that watches no rollouts', limit, async () => {
  await world.create('unwatched', { watch: false });
  await world.push('unwatched', '1.0.1');
  const { code, out } = await world.startPipeline(world.image('unwatched', '1.0.1')).end;
  assert.equal(code, 1);
  assert.match(out, /1\.0\.1: workloads are changed, and whether it runs is not watched: --until changed waits for no more\n$/);
});

it('announce --wait fails for an announced digest that the registry does not have', limit, async () => {
  await world.create('wrong');
  await world.push('wrong', '1.0.1');
  const claimed = `sha256:${'a'.repeat(64)}`;
  const pipeline = world.startPipeline(`${world.image('wrong', '1.0.1')}@${claimed}`);
  await world.kubelet.becomesReady('wrong', world.image('wrong', '1.0.1'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 1, out);
});

it('announce --wait succeeds for an image that waits for its age, when it runs', limit, async () => {
  await world.create('young');
  await world.world.patchPolicy('young', { minAge: '8s' });
  await world.push('young', '1.0.1');
  const pipeline = world.startPipeline(world.image('young', '1.0.1'));
  await pipeline.said(/young: waiting: MinAge: /);
  await world.kubelet.becomesReady('young', world.image('young', '1.0.1'));
  const { code, out } = await pipeline.end;
  assert.equal(code, 0, out);
});
