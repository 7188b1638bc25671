import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { VerificationResult, Verification } from '../../../src/core/model/verification.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, setWorkload, startTime, type World, withPorts } from './world.ts';

const verification: Verification = { keys: [{ secret: 'cosign', key: 'cosign.pub' }], signers: [] };
const { namespace, name, uid } = policyOf();
const [a, b, c] = [digestOf('a'), digestOf('b'), digestOf('c')];

/** A world whose images have these results, by digest; others are not signed. */
function createVerifying(
  results: Record<string, VerificationResult>,
  spec: Partial<PolicySpec> = {},
  overrides: Parameters<typeof createWorld>[0] = {},
) {
  const time = { now: startTime };
  const world: World = createWorld({
    ...overrides,
    cluster: { now: () => time.now, ...overrides.cluster },
    signatures: {
      async verify({ digest }) {
        world.requests.push(`VERIFY ${digest.slice(7, 8)}`);
        return results[digest] ?? { kind: 'unsigned', why: 'a signature by us is required' };
      },
      ...overrides.signatures,
    },
  });
  world.put(policyOf({ spec: specOf({ verification, pin: 'Digest', ...spec }) }));
  return { world, results, time };
}

const jobOf = (job: Partial<PolicyJob> = {}): PolicyJob => ({
  schema: 1,
  policy: { namespace, name, uid },
  source: 'Webhook',
  cause: 'push:1',
  receivedAt: new Date(startTime).toISOString(),
  hint: { tag: '1.3.0', digest: b },
  ...job,
});
const reconcile = (world: World, job: Partial<PolicyJob> = {}) => processTask(jobOf(job), contextOf(), world.ports);
const conditions = (world: World) =>
  world.statusOf('web').conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`) ?? [];
const verified: VerificationResult = { kind: 'verified', by: 'us' };
const minutes = (count: number) => count * 60_000;

describe('a signed image', () => {
  test('is deployed by the digest that was verified', async () => {
    const { world } = createVerifying({ [b]: verified });
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0@${b}`]);
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'VERIFY b', 'PATCH web']);
  });

  test('is deployed by its tag with pin: Tag, if the tag still points to it', async () => {
    const { world } = createVerifying({ [b]: verified }, { pin: 'Tag' });
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'VERIFY b', 'HEAD 1.3.0', 'PATCH web']);
  });

  test('is not deployed by its tag if the tag has moved during the verification', async () => {
    const { world } = createVerifying(
      {},
      { pin: 'Tag' },
      {
        signatures: {
          async verify() {
            world.tags.set('1.3.0', c);
            return verified;
          },
        },
      },
    );
    await assert.rejects(reconcile(world), /1\.3\.0 moved from sha256:b+, which was verified, to sha256:c+$/);
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  });

  test('is not verified if it already runs', async () => {
    const { world } = createVerifying({});
    setWorkload(world, { web: `${image}:1.3.0@${b}` });
    await reconcile(world);
    assert.deepEqual(world.requests, ['HEAD 1.3.0']);
    assert.deepEqual(conditions(world), ['Ready True UpToDate']);
  });

  test('is not verified if the policy has no verification', async () => {
    const { world } = createVerifying({});
    world.put(policyOf());
    await reconcile(world);
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
  });
});

describe('an image that is not signed', () => {
  test('waits, and is deployed once it is signed', async () => {
    const { world, results, time } = createVerifying({});
    await assert.rejects(reconcile(world), { name: 'WaitError', reason: 'NotSigned', until: new Date(startTime + 1_000) });
    assert.deepEqual(conditions(world), ['Ready False NotSigned', 'Reconciling True NotSigned']);
    assert.deepEqual(world.statusOf('web').waiting, { tag: '1.3.0', digest: b, until: '2026-03-01T12:00:01Z', reason: 'NotSigned' });
    time.now += 1_000;
    results[b] = verified;
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0@${b}`]);
    assert.deepEqual([conditions(world), world.statusOf('web').waiting], [['Ready True UpToDate'], undefined]);
  });

  test('is given up after some minutes, with one Event, and not waited for again', async () => {
    const { world, time } = createVerifying({});
    await assert.rejects(reconcile(world), { reason: 'NotSigned' });
    time.now += minutes(5);
    await reconcile(world);
    assert.deepEqual(conditions(world), ['Ready False NotSigned', 'Stalled True NotSigned']);
    const status = world.statusOf('web');
    await reconcile(world, { source: 'Poll', receivedAt: new Date(time.now).toISOString() });
    assert.equal(world.statusOf('web'), status, 'nothing to write');
    assert.equal(world.events.length, 1);
    assert.match(world.events[0]?.message ?? '', /shop\/web:1\.3\.0 \(sha256:b+\) is not signed: a signature by us is required$/);
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  });

  test('is deployed after it was given up when a later reconcile finds it signed', async () => {
    const { world, results, time } = createVerifying({});
    time.now += minutes(6);
    await reconcile(world);
    results[b] = verified;
    await reconcile(world, { source: 'Poll', receivedAt: new Date(time.now).toISOString() });
    assert.deepEqual([world.images(), conditions(world)], [[`${image}:1.3.0@${b}`], ['Ready True UpToDate']]);
  });

  test('is waited for although another image was given up', async () => {
    const { world, time } = createVerifying({});
    time.now += minutes(6);
    await reconcile(world);
    world.tags.set('1.4.0', c);
    await assert.rejects(reconcile(world, { hint: { tag: '1.4.0' }, receivedAt: new Date(time.now).toISOString() }), {
      reason: 'NotSigned',
    });
  });
});

test('an image is not verified before it has reached its minimum age', async () => {
  const { world, time, results } = createVerifying({}, { minAgeMs: minutes(30) });
  await reconcile(world);
  assert.deepEqual(world.requests, ['HEAD 1.3.0']);
  assert.equal(world.statusOf('web').waiting?.reason, 'MinAge');
  time.now += minutes(30);
  const due = { source: 'WaitOver', receivedAt: new Date(time.now).toISOString() } as const;
  await assert.rejects(reconcile(world, due), { name: 'WaitError', reason: 'NotSigned' });
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  time.now += 1_000;
  results[b] = verified;
  await reconcile(world, due);
  assert.deepEqual(world.images(), [`${image}:1.3.0@${b}`]);
});

describe('a policy is stalled at once by', () => {
  test('signatures of another key', async () => {
    const { world } = createVerifying({ [b]: { kind: 'invalid', why: 'a signature was made with another key' } });
    await reconcile(world);
    assert.deepEqual(conditions(world), ['Ready False SignatureInvalid', 'Stalled True SignatureInvalid']);
    assert.match(world.events[0]?.message ?? '', /1\.3\.0 \(sha256:b+\) is not used: a signature was made with another key/);
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  });

  test('keys that cannot be read', async () => {
    const verifyImage = async () => Promise.reject(new PermanentError('VerificationKeyInvalid', 'Secret shop/cosign does not exist'));
    const { world } = createVerifying({}, {}, { signatures: { verify: verifyImage } });
    await reconcile(world);
    assert.deepEqual(conditions(world), ['Ready False VerificationKeyInvalid', 'Stalled True VerificationKeyInvalid']);
  });
});

describe('without verification, nothing is deployed:', () => {
  test('another image that is planned because the workload changed is verified, too', async () => {
    const { world, results } = createVerifying(
      { [b]: verified, [c]: { kind: 'invalid', why: 'forged' } },
      {},
      {
        workloads: {
          async patchImages(workload) {
            // Somebody else changed the workload, and the tag moves to an image that is forged.
            world.requests.push('CONFLICT');
            world.tags.set('1.3.0', c);
            setWorkload(world, { web: `${image}:1.2.4` }, { generation: workload.generation + 1 });
            return { kind: 'conflict' };
          },
        },
      },
    );
    await reconcile(world);
    assert.deepEqual(Object.keys(results), [b, c]);
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'VERIFY b', 'CONFLICT', 'GET web', 'HEAD 1.3.0', 'VERIFY c']);
    assert.deepEqual(conditions(world), ['Ready False SignatureInvalid', 'Stalled True SignatureInvalid']);
  });

  test('an image that seemed to run already, and no longer does, is requested and verified', async () => {
    // With pin: Tag a tag that runs is not asked for; while the policy waits for its turn, the workload is set back.
    const { world } = createVerifying({ [b]: { kind: 'invalid', why: 'forged' } }, { pin: 'Tag' });
    setWorkload(world, { web: `${image}:1.3.0` });
    const old = workloadOf({ web: `${image}:1.2.3` }, { generation: 2 });
    const run = world.ports.policies.mutex.run.bind(world.ports.policies.mutex);
    const mutex: typeof world.ports.policies.mutex = {
      run(key, work) {
        world.workloads.set('Deployment/shop/web', old);
        return run(key, work);
      },
    };
    await processTask(jobOf(), contextOf(), withPorts(world.ports, { policies: { mutex } }));
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'VERIFY b']);
    assert.deepEqual([world.images(), conditions(world)[1]], [[`${image}:1.2.3`], 'Stalled True SignatureInvalid']);
  });

  test('a tag that the registry no longer holds is not deployed unverified', async () => {
    const { world } = createVerifying({ [b]: verified }, { pin: 'Tag' });
    setWorkload(world, { web: `${image}:1.3.0` });
    world.tags.delete('1.3.0');
    const mutex: typeof world.ports.policies.mutex = {
      run(_, work) {
        setWorkload(world, { web: `${image}:1.2.3` }, { generation: 2 });
        return work();
      },
    };
    await assert.rejects(processTask(jobOf(), contextOf(), withPorts(world.ports, { policies: { mutex } })), /has to be verified/);
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
  });

  test('the digest of the plan is verified, not that of the running image', async () => {
    const { world } = createVerifying({ [a]: verified, [b]: verified });
    await reconcile(world, { hint: { tag: '1.2.3' } });
    assert.deepEqual(world.images(), [`${image}:1.2.3@${a}`]);
    await reconcile(world);
    assert.deepEqual(world.images(), [`${image}:1.3.0@${b}`]);
  });
});

describe('a policy that replaces a tag', () => {
  const rebased = '1.2.3-base.20261123';
  const child = policyOf({ namespace: 'platform', name: 'java-1' });

  /** The child of a policy in another namespace, beside the policy of the application, which demands signatures. */
  async function run(result: VerificationResult, { demander = policyOf() } = {}) {
    const asked: string[] = [];
    const verify: World['ports']['signatures']['verify'] = async ({ digest, namespace }) => {
      asked.push(`${namespace} ${digest.slice(7, 8)}`);
      return result;
    };
    const { world } = createVerifying({}, {}, { signatures: { verify } });
    world.policies.clear();
    world.namespaces.set('shop', child.namespace);
    world.tags.set(rebased, c);
    const strategy = strategies.replace({ from: '1.2.3', to: rebased });
    world.put({ ...demander, spec: specOf({ verification, pin: 'Digest' }) }, { ...child, spec: specOf({ strategy }) });
    const job = { schema: 1, policy: child, source: 'PolicyChange', cause: 'c', receivedAt: new Date(startTime).toISOString() } as const;
    await processTask(job, contextOf(), world.ports).catch((error: unknown) => assert.match(String(error), /is not signed/));
    return {
      images: world.images(),
      asked,
      ready: world.policies.get('platform/java-1')?.status.conditions?.find(({ type }) => type === 'Ready'),
    };
  }

  test('needs the signatures that the policy of its target demands, by keys in the namespace of that policy', async () => {
    const unsigned = await run({ kind: 'unsigned', why: 'nobody has signed it' });
    assert.deepEqual([unsigned.images, unsigned.asked], [[`${image}:1.2.3`], ['shop c']]);
    const signed = await run(verified);
    assert.deepEqual([signed.images, signed.asked], [[`${image}:${rebased}`], ['shop c']]);
  });

  test('names the policy that demands the wrong signature', async () => {
    const { images, ready } = await run({ kind: 'invalid', why: 'signed by somebody else' });
    assert.deepEqual([images, ready?.reason], [[`${image}:1.2.3`], 'SignatureInvalid']);
    assert.match(ready?.message ?? '', /ImagePolicy shop\/web has the same target and demands signatures: signed by somebody else$/);
  });

  test('needs no signatures that a policy without access to the target demands', async () => {
    const { images, asked } = await run({ kind: 'invalid', why: '' }, { demander: policyOf({ namespace: 'elsewhere' }) });
    assert.deepEqual([images, asked], [[`${image}:${rebased}`], []]);
  });
});
