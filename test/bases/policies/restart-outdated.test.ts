import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { digestFor } from '../recognize/samples.ts';
import { base, complete, former, incomplete, now, pods, rebuilt, run, unavailable, web, workloadOf } from './restart-run.ts';

describe('restartOutdated', () => {
  it('does not restart a workload that was recreated with other labels under the name of a selected one', async () => {
    const { restarted } = await run(web(['a']), { a: pods(former, { labels: { unselected: 'yes' } }) });
    assert.deepEqual(restarted, []);
  });

  it('restarts nothing after the consent of the Namespace was withdrawn, and reads this consent only if it decides', async () => {
    const elsewhere = web(['a'], {}, 'shop');
    const allowed = pods(former, { allowPoliciesFrom: 'platform' });
    assert.deepEqual((await run(elsewhere, { a: allowed })).restarted, ['a']);
    const granted = { cachedConsent: 'platform', namespaceConsent: 'platform' };
    assert.deepEqual((await run(elsewhere, { a: pods(former) }, granted)).restarted, ['a']);
    const withdrawn = await run(elsewhere, { a: pods(former) }, { ...granted, namespaceConsent: null });
    assert.deepEqual(withdrawn.restarted, []);
    assert.match(withdrawn.state?.message ?? '', /its owners have withdrawn their consent/);
  });

  it('restarts nothing when the policy cannot be confirmed', async () => {
    const confirm = () => Promise.reject(new Error('the policy has changed meanwhile'));
    assert.deepEqual((await run(web(['a', 'b']), { a: pods(former), b: pods(former) }, { confirm })).restarted, []);
  });

  it('restarts a workload that still runs the image on the former base', async () => {
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
    ['a paused workload', web(['a']), pods(former, { rollout: { ...complete, haltedBecause: 'it is paused' } })],
    [
      'a workload that was restarted for this digest already',
      web(['a']),
      pods(former, { restartedFor: [rebuilt], restartedAt: '2026-11-23T11:59:00Z' }),
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
    const begun = pods(former, { restartedFor: [rebuilt], restartedAt: '2026-11-23T11:59:00Z' });
    const second = await run(web(['a', 'b', 'c']), { a: begun, b: pods(rebuilt, { restartedFor: [rebuilt] }), c: pods(former) }, { waves });
    assert.deepEqual([second.restarted, second.state?.state], [[], 'Updating']);
  });

  for (const before of [0, 3])
    it(`pauses after a wave, also where ${before} rebased images were rolled out before`, async () => {
      const begun = pods(rebuilt, { restartedFor: [rebuilt], restartedAt: '2026-11-23T11:59:00Z' });
      const status = {
        waves: { base: base.digest, pending: 1, progressing: 1, done: before, failed: 0, lastDoneAt: '2026-11-23T10:00:00Z' },
      };
      const waves = { maxParallel: 1, pause: '10m' };
      const { restarted, status: next } = await run(web(['a', 'b']), { a: begun, b: pods(former) }, { waves, status });
      assert.deepEqual([restarted, next.waves?.lastDoneAt], [[], '2026-11-23T12:00:00Z']);
      const later = { waves: { ...next.waves, done: before + 1, lastDoneAt: '2026-11-23T11:50:00Z' } };
      const second = await run(web(['a', 'b']), { a: begun, b: pods(former) }, { waves, status: later });
      assert.deepEqual(second.restarted, ['b']);
    });

  it('begins nothing while the pods of a workload cannot be read, which may be starting', async () => {
    const unread = { a: new Error('GET pods: the API server does not answer') };
    const { restarted, status, until } = await run(web(['a', 'b']), { b: pods(former) }, { waves: { maxParallel: 1 }, unread });
    assert.deepEqual([restarted, status.waves?.progressing, status.waves?.pending, until], [[], 1, 1, new Date(now + 10_000)]);
  });

  it('retries to read the image of pods when the registry does not answer, and still counts their workload', async () => {
    const unreadImage = new Error('GET manifests: the registry does not answer');
    const { restarted, status, until } = await run(web(['a']), { a: pods(former) }, { unreadImage });
    assert.deepEqual([restarted, status.waves?.progressing, until], [[], 1, new Date(now + 10_000)]);
    const gone = new PermanentError('RegistryDenied', 'no access to what pods run');
    assert.deepEqual((await run(web(['a']), { a: pods(former) }, { unreadImage: gone })).until, undefined);
  });

  it('does not wait for a workload whose pods may not be read', async () => {
    const unread = { a: new PermanentError('TargetKindForbidden', 'the service may not list pods') };
    const { restarted } = await run(web(['a', 'b']), { b: pods(former) }, { waves: { maxParallel: 1 }, unread });
    assert.deepEqual(restarted, ['b']);
  });

  it('waits for the next window', async () => {
    const { restarted, until } = await run(web(['a']), { a: pods(former) }, { windows: [{ from: '13:00', to: '14:00' }] });
    assert.deepEqual([restarted, until], [[], new Date('2026-11-23T13:00:00Z')]);
  });

  it('rejects the base when pods do not come up, and restarts nothing more', async () => {
    const late = pods(former, { restartedFor: [rebuilt], restartedAt: '2026-11-23T11:44:00Z', rollout: incomplete });
    const { restarted, state, status } = await run(web(['a', 'b']), { a: late, b: pods(former) });
    assert.deepEqual([restarted, state?.state, status.rejected?.[0]?.digest], [[], 'Failed', base.digest]);
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment platform\/a took longer than 900 s: .*push a better one/);
    const rejected = [{ ...base, at: '2026-11-23T11:59:30Z', message: 'it crashes' }];
    assert.deepEqual((await run(web(['b']), { b: pods(former) }, { status: { rejected } })).restarted, []);
  });

  it('tries again when the workload has changed since it was read', async () => {
    const { until, restarted } = await run(web(['a']), { a: pods(former) }, { isUnchanged: false });
    assert.deepEqual([restarted, until], [[], new Date(now + 10_000)]);
  });

  const sidecar = digestFor('sidecar');
  const two = [
    web(['a']),
    web(['a'], {
      source: { registry: 'harbor.example.com', path: 'shop/proxy' },
      digest: sidecar,
      workloads: [{ workload: workloadOf('a'), containers: ['proxy'], hasInitContainers: false }],
    }),
  ];
  const both = {
    pullsAlways: ['app', 'proxy'],
    digests: new Map([
      ['app', new Set([former])],
      ['proxy', new Set([former])],
    ]),
  };

  it('restarts a workload once for all of its images, also when its pods never run them', async () => {
    const first = await run(two, { a: pods(former, both) });
    assert.deepEqual([first.restarted, first.digests], [['a'], [rebuilt, sidecar]]);
    const second = await run(two, { a: pods(former, { ...both, restartedFor: first.digests, restartedAt: '2026-11-23T11:59:00Z' }) });
    assert.deepEqual(second.restarted, []);
  });

  it('keeps the digest for which another policy restarted the workload', async () => {
    const { digests } = await run(web(['a']), { a: pods(former, { restartedFor: [sidecar] }) });
    assert.deepEqual(digests, [rebuilt, sidecar]);
  });

  const weeksAgo = { restartedFor: [rebuilt], restartedAt: '2026-11-01T12:00:00Z' };
  for (const [what, running] of [
    ['pods that are not available weeks after a restart', pods(rebuilt, { ...weeksAgo, rollout: { ...complete, available: 0 } })],
    ['pods of a DaemonSet that are not available weeks after a restart', pods(rebuilt, { ...weeksAgo, rollout: unavailable })],
    ['a change that is rolled out weeks after a restart', pods(rebuilt, { ...weeksAgo, rollout: incomplete })],
    ['a workload that was scaled to zero', pods(rebuilt, { ...weeksAgo, rollout: { ...complete, wanted: 0 }, digests: new Map() })],
    [
      'a workload that was paused after its restart',
      pods(former, { ...weeksAgo, rollout: { ...incomplete, haltedBecause: 'it is paused' } }),
    ],
    ['pods that run a former image again, weeks after a restart', pods(former, weeksAgo)],
    [
      'a StatefulSet whose partition keeps some pods',
      pods(former, {
        restartedFor: [rebuilt],
        restartedAt: '2026-11-23T11:40:00Z',
        rollout: { ...complete, wanted: 3, toUpdate: 2, updated: 2, available: 3, wasComplete: false },
      }),
    ],
    ['a restart whose time was removed', pods(former, { restartedFor: [rebuilt] })],
    ['a restart whose time is in the future', pods(former, { restartedFor: [rebuilt], restartedAt: '2099-01-01T00:00:00Z' })],
  ] as const)
    it(`does not reject the base for ${what}, and continues with other workloads`, async () => {
      const waves = { base: base.digest, pending: 1, progressing: 0, done: 1, failed: 0, lastDoneAt: '2026-11-01T12:00:00Z' };
      const { status, restarted } = await run(web(['a', 'b']), { a: running, b: pods(former) }, { status: { waves } });
      assert.deepEqual([status.rejected, status.waves?.failed, restarted], [undefined, 0, ['b']]);
    });

  it('does not restart a workload that would not replace its pods, and says why', async () => {
    const onDelete = { ...complete, haltedBecause: 'its update strategy is OnDelete' };
    const { restarted, state } = await run(web(['a']), { a: pods(former, { rollout: onDelete }) });
    assert.deepEqual([restarted, state?.state], [[], 'Behind']);
    assert.match(state?.message ?? '', /its update strategy is OnDelete/);
  });

  it('restarts a failed workload again after a release, without rejecting the base again immediately', async () => {
    const failed = pods(former, { restartedFor: [rebuilt], restartedAt: '2026-11-23T11:40:00Z', rollout: incomplete });
    const { restarted, status } = await run(web(['a']), { a: failed }, { actions: { release: '2026-11-23T11:59:00Z' } });
    assert.deepEqual([restarted, status.rejected], [['a'], undefined]);
  });

  it('continues with the next workload when a restart is refused, and reports the refusal', async () => {
    const { restarted, status, state, until } = await run(web(['a', 'b']), { a: pods(former), b: pods(former) }, { refused: ['a'] });
    assert.deepEqual([restarted, status.waves?.progressing, status.waves?.pending], [['b'], 1, 0]);
    assert.equal(state?.state, 'Updating');
    assert.equal(until?.getTime(), now + 10_000);
    const alone = await run(web(['a']), { a: pods(former) }, { refused: ['a'] });
    assert.deepEqual([alone.state?.state, alone.status.waves?.progressing, alone.until?.getTime()], ['Behind', 0, now + 60_000]);
    assert.match(alone.state?.message ?? '', /denied by a webhook/);
  });

  it('waits for a workload that a replica whose clock is ahead has just restarted', async () => {
    const ahead = pods(former, { restartedFor: [rebuilt], restartedAt: '2026-11-23T12:00:30Z', rollout: incomplete });
    const { status, state } = await run(web(['a']), { a: ahead });
    assert.deepEqual([status.rejected, state?.state], [undefined, 'Updating']);
  });

  it('does not reject the base because the time of a restart was overwritten', async () => {
    for (const restartedAt of ['2099-01-01T00:00:00Z', 'yesterday']) {
      const { status } = await run(web(['a']), { a: pods(former, { restartedFor: [rebuilt], restartedAt, rollout: incomplete }) });
      assert.equal(status.rejected, undefined);
    }
  });
});
