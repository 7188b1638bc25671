import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { VerificationResult } from '../../../src/core/model/verification.ts';
import { digestOf } from '../../core/model/samples.ts';
import { startTime } from '../../service/reconcile/world.ts';
import { createReplica, jobOf } from './replica.ts';

const verify = { cosign: { keys: [{ secretRef: { name: 'base', key: 'cosign.pub' } }] } };
const longAgo = { receivedAt: new Date(startTime - 600_000).toISOString() };

/** A policy that restarts, and whose base has the signatures that this says of its digest. */
function start(resultOf: (digest: string) => VerificationResult, settings: object = { verify }) {
  const asked: { digest: string; namespace: string }[] = [];
  const replica = createReplica({
    settings: { onNewBase: [{ restart: { images: ['*'] } }], ...settings },
    // The application is built on the base, and its pods run the image before: without verification they would be restarted.
    layers: { a: ['os'], e: ['os', 'app'] },
    signatures: {
      verify: async ({ digest, namespace }) => {
        asked.push({ digest, namespace });
        return resultOf(digest);
      },
    },
  });
  const ready = () => replica.status().conditions?.find(({ type }) => type === 'Ready');
  return { replica, asked, ready };
}

describe('a base whose signatures are demanded', () => {
  it('is waited for if it is not signed, and is not selected', async () => {
    const { replica, asked, ready } = start(() => ({ kind: 'unsigned', why: 'a signature by k is required' }));
    await assert.rejects(replica.process(jobOf('Poll')), (error) => error instanceof WaitError && error.reason === 'NotSigned');
    assert.deepEqual(asked, [{ digest: digestOf('a'), namespace: 'shop' }]);
    assert.equal(ready()?.reason, 'NotSigned');
    assert.match(ready()?.message ?? '', /java:1\.2\.3 \(sha256:a+\) is not signed: a signature by k is required/);
    assert.equal(replica.status().latest, undefined);
    assert.equal(replica.status().images, undefined);
  });

  it('stalls the policy if it is not signed after some minutes, and is verified again by the next poll', async () => {
    let isSigned = false;
    const { replica, ready } = start(() => (isSigned ? { kind: 'verified', by: 'k' } : { kind: 'unsigned', why: 'no signature' }), {
      verify,
      onNewBase: [{ report: {} }],
    });
    await replica.process(jobOf('Poll', longAgo));
    assert.deepEqual([ready()?.status, ready()?.reason], ['False', 'NotSigned']);
    assert.ok(replica.status().conditions?.some(({ type, status }) => type === 'Stalled' && status === 'True'));
    assert.ok(replica.events.some(({ type, reason }) => type === 'Warning' && reason === 'NotSigned'));
    // A later cause does not begin the wait anew.
    await replica.process(jobOf('TargetChange'));
    assert.equal(ready()?.reason, 'NotSigned');
    isSigned = true;
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('a'));
    assert.ok(!replica.status().conditions?.some(({ type }) => type === 'Stalled'));
  });

  it('is refused immediately if somebody else has signed it, and the former base stays selected', async () => {
    const { replica, ready } = start(
      (digest) => (digest === digestOf('a') ? { kind: 'verified', by: 'k' } : { kind: 'invalid', why: 'another key' }),
      { verify, onNewBase: [{ report: {} }] },
    );
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('a'));
    replica.tags.set('1.2.3', digestOf('c'));
    await replica.process(jobOf('Webhook', { eventId: 'push-2', hint: { tag: '1.2.3', digest: digestOf('c') } }));
    assert.equal(ready()?.reason, 'SignatureInvalid');
    assert.match(ready()?.message ?? '', /\(sha256:c+\) is not used: another key/);
    assert.equal(replica.status().latest?.digest, digestOf('a'));
    assert.deepEqual(
      [...replica.results.values()].map(({ kind, reason }) => [kind, reason]),
      [['stalled', 'SignatureInvalid']],
    );
  });

  it('is not verified by a policy without spec.verify', async () => {
    const { replica, asked } = start(() => ({ kind: 'unsigned', why: 'no signature' }), { onNewBase: [{ report: {} }] });
    await replica.process(jobOf('Poll'));
    assert.deepEqual(asked, []);
    assert.equal(replica.status().latest?.digest, digestOf('a'));
  });
});
