/** What the status says when several pushes of a policy are refused, or wait for their signature: it is about the newest one, whoever is tried last. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { Verification, VerificationResult } from '../../../src/core/model/verification.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { another, critical, minute, scanOf, startVulnerable } from './vulnerable-world.ts';
import { contextOf, createWorld, image, startTime } from './world.ts';

const verification: Verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };
const { namespace, name, uid } = policyOf();
const [b, c] = [digestOf('b'), digestOf('c')];
const verified: VerificationResult = { kind: 'verified', by: 'us' };
const forged: VerificationResult = { kind: 'invalid', why: 'a signature was made with another key' };
const minutes = (count: number) => count * 60_000;

/** shop/web demands signatures, and runs 1.2.3; the registry holds 1.3.0 (b) and 1.4.0 (c), which are not signed unless the test says otherwise. */
function start(spec: Partial<PolicySpec> = {}) {
  const clock = { now: startTime };
  const results: Record<string, VerificationResult> = {};
  const world = createWorld({
    cluster: { now: () => clock.now },
    signatures: { verify: async ({ digest }) => results[digest] ?? { kind: 'unsigned', why: 'a signature by us is required' } },
  });
  world.tags.set('1.4.0', c);
  world.put(policyOf({ spec: specOf({ verification, pin: 'Digest', ...spec }) }));
  /** One try of the push of a tag, which was received at the start unless given. */
  const push = async (tag: string, { receivedAt = startTime, failures = 0 } = {}): Promise<'waits' | 'ended'> => {
    const job = { schema: 1, policy: { namespace, name, uid }, source: 'Webhook', cause: `push:${tag}`, hint: { tag } } as const;
    const tried = { ...job, eventId: `push-${tag}`, receivedAt: new Date(receivedAt).toISOString() };
    return processTask(tried, { ...contextOf(), failures }, world.ports).then(
      () => 'ended',
      (error: unknown) => {
        assert.equal(error instanceof Error && error.name, 'WaitError', String(error));
        return 'waits';
      },
    );
  };
  const poll = async () => {
    const receivedAt = new Date(clock.now).toISOString();
    const job = { schema: 1, policy: { namespace, name, uid }, source: 'Poll', cause: `poll:${receivedAt}`, receivedAt } as const;
    await processTask(job, contextOf(), world.ports).catch((error: unknown) => assert.equal((error as Error).name, 'WaitError'));
  };
  /** The decisive condition, and the tag that it names. */
  const says = () => {
    const { conditions = [] } = world.statusOf('web');
    const told = conditions.find(({ type, status }) => type !== 'Ready' && status === 'True') ?? conditions[0];
    return `${told?.type} ${told?.reason} ${/:(\d\.\d\.\d)/.exec(told?.message ?? '')?.[1]}`;
  };
  return { world, clock, results, push, poll, says };
}

describe('the status is about the newest refused push:', () => {
  test('the wait of an older push does not end the refusal of a newer one', async () => {
    const { clock, results, push, says, world } = start();
    assert.equal(await push('1.3.0'), 'waits');
    results[c] = forged;
    assert.equal(await push('1.4.0'), 'ended');
    assert.equal(says(), 'Stalled SignatureInvalid 1.4.0');
    assert.deepEqual(world.statusOf('web').refused, { tag: '1.4.0', digest: c });
    clock.now += 2_000;
    assert.equal(await push('1.3.0', { failures: 3 }), 'waits');
    assert.equal(says(), 'Stalled SignatureInvalid 1.4.0');
    clock.now += minutes(5);
    assert.equal(await push('1.3.0', { failures: 4 }), 'ended');
    assert.equal(says(), 'Stalled SignatureInvalid 1.4.0');
  });

  test('an older push that is given up later does not replace a newer one in the status', async () => {
    const { clock, push, says, world } = start();
    await push('1.4.0');
    clock.now += minutes(4);
    await push('1.3.0', { receivedAt: clock.now });
    assert.equal(says(), 'Reconciling NotSigned 1.4.0', 'both wait');
    assert.equal(world.statusOf('web').waiting?.tag, '1.4.0');
    clock.now += minutes(2);
    assert.equal(await push('1.4.0'), 'ended');
    clock.now += minutes(4);
    assert.equal(await push('1.3.0', { receivedAt: startTime + minutes(4) }), 'ended');
    assert.equal(says(), 'Stalled NotSigned 1.4.0');
    assert.deepEqual(
      ['1.3.0', '1.4.0'].map((tag) => world.results.get(`push-${tag} shop/web`)?.reason),
      ['NotSigned', 'NotSigned'],
      'each push has its own result',
    );
  });

  test('an older push that is given up while a newer one waits is not shown in the status', async () => {
    const { clock, push, says } = start();
    await push('1.3.0');
    clock.now += minutes(4);
    await push('1.4.0', { receivedAt: clock.now });
    clock.now += minutes(2);
    assert.equal(await push('1.3.0'), 'ended');
    assert.equal(says(), 'Reconciling NotSigned 1.4.0');
  });

  test('a newer refused push replaces an older one in the status', async () => {
    const { clock, push, says, world } = start();
    clock.now += minutes(6);
    await push('1.3.0');
    assert.equal(says(), 'Stalled NotSigned 1.3.0');
    await push('1.4.0');
    assert.equal(says(), 'Stalled NotSigned 1.4.0');
    assert.deepEqual(world.statusOf('web').refused, { tag: '1.4.0', digest: c });
  });

  test('a newer push that is selected supersedes the refused one', async () => {
    const { clock, results, push, world } = start();
    clock.now += minutes(6);
    await push('1.3.0');
    assert.deepEqual(world.statusOf('web').announced, { tag: '1.3.0', digest: b, event: 'push-1.3.0' });
    results[c] = verified;
    await push('1.4.0');
    assert.deepEqual(world.images(), [`${image}:1.4.0@${c}`]);
    assert.equal(world.results.get('push-1.3.0 shop/web')?.reason, 'Superseded');
    assert.equal(world.statusOf('web').announced, undefined);
  });

  test('an older push that is applied leaves the refusal of the newer one in the status, as a poll would show it', async () => {
    const { clock, results, push, poll, says, world } = start();
    clock.now += minutes(6);
    await push('1.4.0');
    results[b] = verified;
    await push('1.3.0');
    assert.deepEqual([world.images(), says()], [[`${image}:1.3.0@${b}`], 'Stalled NotSigned 1.4.0']);
    const before = world.statusOf('web');
    await push('1.3.0');
    assert.equal(says(), 'Stalled NotSigned 1.4.0', 'also when it runs already');
    await poll();
    assert.deepEqual([says(), world.statusOf('web').refused, world.statusOf('web').latest], [says(), before.refused, before.latest]);
    assert.equal(says(), 'Stalled NotSigned 1.4.0');
  });

  test('a newer push that is signed in the end is applied, and nothing is shown as refused any more', async () => {
    const { clock, results, push, poll, says, world } = start();
    clock.now += minutes(6);
    await push('1.4.0');
    results[c] = verified;
    await poll();
    assert.deepEqual([world.images(), world.statusOf('web').refused], [[`${image}:1.4.0@${c}`], undefined]);
    assert.match(says(), /^Ready UpToDate/);
  });

  test('a refused push whose tag is gone from the registry is removed from the status by a poll', async () => {
    const { clock, push, poll, says, world } = start();
    clock.now += minutes(6);
    await push('1.4.0');
    world.tags.delete('1.4.0');
    await poll();
    assert.equal(says(), 'Reconciling NotSigned 1.3.0');
    assert.deepEqual(world.statusOf('web').waiting?.tag, '1.3.0', 'a poll says what it waits for, as a push does');
  });

  test('a push that was refused for an earlier generation of the policy does not count', async () => {
    const { clock, push, says, world } = start();
    clock.now += minutes(6);
    await push('1.4.0');
    const policy = world.policies.get('shop/web') ?? policyOf();
    world.put({ ...policy, generation: policy.generation + 1 });
    await push('1.3.0');
    assert.equal(says(), 'Stalled NotSigned 1.3.0', 'the refusal is of an earlier generation');
  });
});

test('an unsigned older push does not end the wait of the selected image for its approval', async () => {
  const { clock, results, push, world } = start({ mode: 'Approval' });
  results[c] = verified;
  await push('1.4.0');
  const before = world.statusOf('web');
  assert.equal(before.pendingApproval?.tag, '1.4.0');
  assert.deepEqual(
    before.conditions?.map(({ type, reason }) => `${type} ${reason}`),
    ['Ready ApprovalRequired', 'ApprovalRequired ApprovalRequired'],
  );
  clock.now += minutes(6);
  assert.equal(await push('1.3.0'), 'ended');
  assert.equal(world.statusOf('web'), before, 'nothing to write');
});

test('an older push without evidence does not replace a newer one with too many vulnerabilities in the status', async () => {
  const { world, evidence, at, push, message, conditions } = startVulnerable({}, 'High');
  evidence.set(c, scanOf([critical, another], { ageMs: minute }));
  await push('1.4.0', 'c');
  assert.deepEqual(conditions(), ['Ready=True MoreVulnerable', 'Held=True MoreVulnerable']);
  const held = message();
  at(minute);
  await push('1.3.0', 'b');
  assert.deepEqual([conditions(), message()], [['Ready=True MoreVulnerable', 'Held=True MoreVulnerable'], held]);
  assert.deepEqual([world.images(), world.statusOf('web').latest?.tag], [[`${image}:1.2.3`], '1.4.0']);
});
