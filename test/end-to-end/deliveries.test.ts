/** A pipeline announces its push, and ends when the image runs, or with the reason why it does not. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { secrets, startDeliveryWorld, type DeliveryWorld } from './delivery-world.ts';

let rollouts: DeliveryWorld;

before(async () => void (rollouts = await startDeliveryWorld()));
after(() => rollouts?.stop());

const announce = (name: string, tag: string, ...args: string[]) => rollouts.announceTo('ci', rollouts.image(name, tag), args);

it('announce --wait in a pipeline succeeds after a rollout, with the results', { timeout: 300_000 }, async () => {
  await rollouts.create('good');
  await rollouts.push('good', '1.0.1');
  const [{ code, out }] = await Promise.all([
    announce('good', '1.0.1', '--wait'),
    rollouts.kubelet.becomesReady('good', rollouts.image('good', '1.0.1')),
  ]);
  assert.equal(code, 0, out);
  const policy = `${rollouts.world.namespace}/good`;
  assert.match(out, new RegExp(`^${policy}: rolledOut: RolledOut: .*: https://watch\\.example\\.com/policies/${policy}$`, 'm'));
  assert.match(out, /1\.0\.1: it runs\n$/);
});

it('announce --wait in a pipeline fails after a failed rollout, with the reason', { timeout: 300_000 }, async () => {
  await rollouts.create('bad');
  await rollouts.push('bad', '1.0.1');
  const [{ code, out }] = await Promise.all([
    announce('bad', '1.0.1', '--wait'),
    rollouts.kubelet.crashes('bad', rollouts.image('bad', '1.0.1')),
  ]);
  assert.equal(code, 1, out);
  assert.match(out, /bad: failed: (?:RolledBack|RolloutFailed): .*crash/i);
  assert.match(out, /1\.0\.1: it does not run\n$/);
});

it('announce --wait in a pipeline fails immediately for an image that no policy selects or watches', { timeout: 300_000 }, async () => {
  await rollouts.create('still');
  await rollouts.push('still', 'feature-x');
  const ignored = await announce('still', 'feature-x', '--wait');
  assert.deepEqual([ignored.code, /still: unchanged: NotSelected: /.test(ignored.out)], [1, true], ignored.out);
  await rollouts.push('nobody', '1.0.0');
  const unwatched = await announce('nobody', '1.0.0', '--wait');
  assert.deepEqual([unwatched.code, /no policy watches it/.test(unwatched.out)], [1, true], unwatched.out);
});

it('announce --wait in a pipeline waits for an approval, and succeeds when the image runs', { timeout: 300_000 }, async () => {
  await rollouts.create('held');
  await rollouts.world.patchPolicy('held', { update: { mode: 'Approval' } });
  const digest = await rollouts.push('held', '1.0.1');
  const pipeline = rollouts.startPipeline(rollouts.image('held', '1.0.1'));
  await pipeline.said(/held: waiting: ApprovalRequired: /);
  await rollouts.world.annotate(rollouts.world.policyPath('held'), { 'operator.technomad.dev/approve': `1.0.1@${digest}` });
  const [{ code, out }] = await Promise.all([pipeline.end, rollouts.kubelet.becomesReady('held', rollouts.image('held', '1.0.1'))]);
  assert.equal(code, 0, out);
  assert.match(out, /held: waiting: ApprovalRequired: [\s\S]*held: rolledOut: RolledOut: /);
});

it('announce --wait --until changed in a pipeline succeeds when the workload is changed', { timeout: 300_000 }, async () => {
  await rollouts.create('soon');
  await rollouts.push('soon', '1.0.1');
  const { code, out } = await announce('soon', '1.0.1', '--wait', '--until', 'changed');
  assert.equal(code, 0, out);
  assert.match(out, /soon: changed: Updated: /);
});

it('another receiver with a valid secret gets no result of a push', { timeout: 300_000 }, async () => {
  await rollouts.push('nobody', '1.0.1');
  const { out } = await announce('nobody', '1.0.1', '--output', 'json');
  const { delivery } = JSON.parse(out) as { delivery: string };
  const ask = async (receiver: 'ci' | 'other', id: string, proof: string) => {
    const url = `${rollouts.service.publicUrl}/webhooks/${receiver}/deliveries/${id}`;
    return (await fetch(url, { headers: { authorization: proof } })).status;
  };
  assert.deepEqual(
    [
      await ask('ci', delivery, secrets.ci),
      await ask('other', delivery, secrets.other),
      await ask('ci', delivery, secrets.other),
      await ask('ci', delivery.slice(0, -41), secrets.ci),
    ],
    [200, 404, 401, 404],
  );
});
