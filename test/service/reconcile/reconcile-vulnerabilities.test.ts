/** Exceptions from waits, and the veto: what a reconcile does with what is known of the vulnerabilities of images. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noEvidence, type Evidence } from '../../../src/core/model/vulnerabilities.ts';
import { evidenceJobs } from '../../../src/service/reconcile/enqueue/evidence-jobs.ts';
import { digestOf } from '../../core/model/samples.ts';
import { another, critical, day, minute, scanOf, startVulnerable, waits } from './vulnerable-world.ts';
import { image, setWorkload, startTime } from './world.ts';

for (const [what, wait, skipped] of [
  ['minAge', waits.minAge, 'spec.minAge'],
  ['a closed window', waits.window, 'a window'],
  ['both', { ...waits.minAge, ...waits.window }, 'spec.minAge'],
] as const)
  describe(`an image that waits for ${what}`, () => {
    test('is applied at once if it fixes what the policy names, and the result and the Event say why', async () => {
      const { world, evidence, push } = startVulnerable(wait);
      evidence.set(digestOf('b'), scanOf([]));
      const result = await push('1.3.0', 'b');
      assert.deepEqual(world.images(), [`${image}:1.3.0`]);
      const why = `it did not wait for ${skipped}: it fixes CVE-2026-1 (Critical)`;
      assert.equal(result?.kind, 'updated');
      assert.ok(result.message?.includes(why), result.message);
      assert.ok(world.events.some(({ message }) => message.includes(why)));
      assert.deepEqual(world.statusOf('web').vulnerabilities, undefined);
      assert.deepEqual(world.statusOf('web').waiting, undefined);
    });

    const nothing: Readonly<Record<string, readonly [Evidence, RegExp]>> = {
      'without evidence': [noEvidence, /nothing reports its vulnerabilities/],
      'whose attestation is not signed': [
        { ...noEvidence, problems: ['an attestation has no signature by an accepted key'] },
        /no signature/,
      ],
      'whose scan is too old': [scanOf([], { ageMs: 8 * day }), /older than 168h/],
      'whose scanners contradict each other': [
        { ...noEvidence, reports: [...scanOf([]).reports, ...scanOf([critical], { scanner: 'grype' }).reports] },
        /fixes no vulnerability/,
      ],
      'that was scanned by another scanner': [scanOf([], { scanner: 'grype' }), /scanned by trivy, and the new image by grype/],
      'that adds another one': [scanOf([another]), /it adds CVE-2026-2/],
      'that fixes nothing': [scanOf([critical]), /fixes no vulnerability that is Critical/],
    };
    for (const [which, [found, why]] of Object.entries(nothing))
      test(`waits if it is an image ${which}, and the message says so`, async () => {
        const { world, evidence, push, message } = startVulnerable(wait);
        evidence.set(digestOf('b'), found);
        const result = await push('1.3.0', 'b');
        assert.deepEqual(world.images(), [`${image}:1.2.3`]);
        assert.equal(result?.kind, 'waiting');
        for (const said of [result.message ?? '', message()]) {
          assert.match(said, /it does not skip that wait: /);
          assert.match(said, why);
        }
        assert.deepEqual(
          world.statusOf('web').vulnerabilities?.map(({ tag }) => tag),
          ['1.3.0'],
        );
      });

    test('is applied when evidence appears, found by a delayed job, and the same evidence is written once', async () => {
      const { world, evidence, push, ring, writes } = startVulnerable(wait);
      await push('1.3.0', 'b');
      const before = writes.length;
      const times = [await ring(), await ring(), await ring()];
      assert.deepEqual(times, [15_000, 30_000, minute]);
      assert.deepEqual(world.images(), [`${image}:1.2.3`]);
      assert.equal(writes.length, before + 1, 'once a minute, for the time of the last check alone');
      evidence.set(digestOf('b'), scanOf([]));
      assert.equal(await ring(), 2 * minute);
      assert.deepEqual(world.images(), [`${image}:1.3.0`]);
    });
  });

test('an image whose report makes it no fix is assessed again for an hour, less and less often, and not afterwards', async () => {
  const { world, evidence, push, ring, policy, now, at } = startVulnerable(waits.minAge);
  evidence.set(digestOf('b'), scanOf([critical]));
  await push('1.3.0', 'b');
  assert.equal(await ring(), 15_000);
  at(60 * minute);
  assert.deepEqual(evidenceJobs(policy(), new Date(now())), []);
  at(30 * minute);
  assert.deepEqual(evidenceJobs(policy(), new Date(now())), [], 'the next look is in two minutes');
  at(31 * minute);
  assert.equal(evidenceJobs(policy(), new Date(now())).length, 1);
  const stated = { ids: [critical.id], status: 'fixed', statedMs: startTime, by: 'a test' } as const;
  evidence.set(digestOf('b'), { ...scanOf([critical]), statements: [stated] });
  assert.equal(await ring(), 32 * minute);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
});

test('a policy without vulnerability rules reads no evidence, and one with them only for images that would change something', async () => {
  const without = startVulnerable({ vulnerabilities: undefined as never });
  await without.push('1.3.0', 'b');
  assert.deepEqual(without.asked, []);
  const { asked, push, world } = startVulnerable(waits.minAge);
  setWorkload(world, { web: `${image}:1.4.0` });
  await push('1.3.0', 'b');
  assert.deepEqual(asked, []);
});

test('the evidence of each digest is read once: by digest, by the recorded digest of a tag, or by what the tag points to', async () => {
  const { asked, push, world, policy } = startVulnerable({});
  setWorkload(world, {
    web: `${image}:1.2.3@${digestOf('c')}`,
    other: `${image}:1.2.2`,
    third: `${image}:1.2.3`,
    fourth: `${image}:1.2.1`,
  });
  world.tags.set('1.2.2', digestOf('d'));
  world.put({
    ...policy(),
    status: { ...policy().status, latest: { tag: '1.2.1', digest: digestOf('e'), selectedAt: '2026-03-01T11:00:00Z' } },
  });
  await push('1.3.0', 'b');
  assert.deepEqual(asked.toSorted(), ['a', 'b', 'c', 'd', 'e'].map(digestOf));
});

test('somebody who may write a workload cannot choose the image with which a new image is compared', async () => {
  const { evidence, asked, push, world } = startVulnerable(waits.minAge);
  const lastUpdate = {
    policy: 'u',
    at: '2026-02-01T00:00:00Z',
    trigger: 'Webhook',
    from: `${image}:1.2.2`,
    to: `${image}:1.2.3`,
    digest: digestOf('d'),
  } as const;
  setWorkload(world, {
    web: { image: `${image}:1.2.3`, lastUpdate: { ...lastUpdate, policy: world.policies.get('shop/web')?.uid ?? '' } },
  });
  evidence.set(digestOf('a'), scanOf([]));
  evidence.set(digestOf('d'), scanOf([critical]));
  evidence.set(digestOf('b'), scanOf([]));
  await push('1.3.0', 'b');
  assert.deepEqual([asked.includes(digestOf('d')), world.images()], [false, [`${image}:1.2.3`]]);
});

test('somebody who may push cannot choose the image of comparison by moving a running tag', async () => {
  for (const [tag, moved] of [
    ['1.2.3', false],
    ['1.2.2', true],
  ] as const) {
    const { evidence, push, world, message, policy } = startVulnerable(waits.minAge);
    setWorkload(world, { web: `${image}:${tag}` });
    evidence.set(digestOf('a'), scanOf([]));
    evidence.set(digestOf('d'), scanOf([critical]));
    evidence.set(digestOf('b'), scanOf([]));
    world.tags.set(tag, digestOf('d'));
    const latest = { tag, digest: digestOf('d'), selectedAt: '2026-03-01T11:00:00Z' };
    world.put({ ...policy(), status: { ...policy().status, latest } });
    await push('1.3.0', 'b');
    assert.deepEqual(world.images(), [`${image}:${tag}`]);
    assert.match(message(), moved ? /CVE-2026-1 \(Critical\) of .*:1\.2\.2, of which only the tag is known/ : /fixes no vulnerability/);
  }
});

test('a fix is applied although an older image is pending, which is superseded then', async () => {
  const { world, evidence, push } = startVulnerable(waits.minAge);
  evidence.set(digestOf('b'), scanOf([critical]));
  await push('1.3.0', 'b');
  assert.equal(world.statusOf('web').waiting?.tag, '1.3.0');
  evidence.set(digestOf('c'), scanOf([]));
  await push('1.4.0', 'c');
  assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  assert.equal(world.statusOf('web').waiting, undefined);
});

test('a pending image that turns out to be a fix is applied, although a newer one without evidence is selected', async () => {
  const { world, evidence, push, ring, policy } = startVulnerable(waits.minAge);
  await push('1.3.0', 'b');
  await push('1.4.0', 'c');
  assert.deepEqual(
    policy().status.vulnerabilities?.map(({ tag, unknown }) => [tag, unknown]),
    ['1.4.0', '1.3.0'].map((tag) => [tag, 'nothing reports its vulnerabilities']),
  );
  evidence.set(digestOf('b'), scanOf([]));
  await ring();
  assert.deepEqual([world.images(), world.statusOf('web').waiting?.tag], [[`${image}:1.3.0`], '1.4.0']);
});

describe('an image with more vulnerabilities than what runs', () => {
  test('is not applied until somebody releases it', async () => {
    const { world, evidence, push, check, conditions, message, release, at } = startVulnerable({}, 'High');
    evidence.set(digestOf('b'), scanOf([critical, another]));
    await push('1.3.0', 'b');
    await check();
    assert.deepEqual(world.images(), [`${image}:1.2.3`]);
    assert.deepEqual(conditions()?.toSorted(), ['Held=True MoreVulnerable', 'Ready=True MoreVulnerable']);
    assert.match(message(), /has 2 vulnerabilities that are Critical.* has 1: it adds CVE-2026-2 \(Critical\)/);
    at(minute);
    await release();
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
    assert.equal(world.statusOf('web').vulnerabilities, undefined);
  });

  test('is assessed again for an hour, because a statement of its maker may follow its scan', async () => {
    const { world, evidence, push, ring } = startVulnerable({}, 'High');
    evidence.set(digestOf('b'), scanOf([critical, another]));
    await push('1.3.0', 'b');
    assert.equal(await ring(), 15_000);
    const stated = { ids: [another.id], status: 'not_affected', statedMs: startTime, by: 'a test' } as const;
    evidence.set(digestOf('b'), { ...scanOf([critical, another]), statements: [stated] });
    assert.equal(await ring(), 30_000);
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  });

  test('is superseded by a better one, and an image with as many vulnerabilities is applied', async () => {
    const { world, evidence, push } = startVulnerable({}, 'High');
    evidence.set(digestOf('b'), scanOf([critical, another]));
    evidence.set(digestOf('c'), scanOf([another]));
    await push('1.3.0', 'b');
    await push('1.4.0', 'c');
    assert.deepEqual(world.images(), [`${image}:1.4.0`]);
  });

  test('is kept from the container whose image has fewer, and replaces the others', async () => {
    const { world, evidence, push } = startVulnerable({}, 'High');
    setWorkload(world, { web: `${image}:1.2.3`, other: `${image}:1.2.2@${digestOf('d')}` });
    evidence.set(digestOf('d'), scanOf([]));
    evidence.set(digestOf('b'), scanOf([critical]));
    await push('1.3.0', 'b');
    assert.deepEqual(world.images(), [`${image}:1.3.0`, `${image}:1.2.2@${digestOf('d')}`]);
  });
});

describe('an image with unknown vulnerabilities, where the policy compares them,', () => {
  test('waits, and is applied when evidence appears', async () => {
    const { world, evidence, push, ring, conditions } = startVulnerable({}, 'High');
    await push('1.3.0', 'b');
    assert.deepEqual(conditions(), ['Ready=False VulnerabilitiesUnknown', 'Reconciling=True VulnerabilitiesUnknown']);
    assert.equal(await ring(), 15_000);
    evidence.set(digestOf('b'), scanOf([critical]));
    assert.equal(await ring(), 30_000);
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  });

  test('is held after an hour, until a poll finds evidence', async () => {
    const { world, evidence, push, ring, check, conditions, policy } = startVulnerable({}, 'High');
    await push('1.3.0', 'b');
    while (policy().status.waiting !== undefined) await ring();
    assert.deepEqual(conditions()?.toSorted(), ['Held=True VulnerabilitiesUnknown', 'Ready=True VulnerabilitiesUnknown']);
    evidence.set(digestOf('b'), scanOf([]));
    await check();
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  });

  test('is applied by a release', async () => {
    const { world, push, release, at } = startVulnerable({}, 'High');
    await push('1.3.0', 'b');
    at(1_000);
    await release();
    assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  });
});

test('evidence that is older than an answer of the registry may be is read again before a change', async () => {
  const { world, evidence, push, at, asked } = startVulnerable({ ...waits.minAge });
  evidence.set(digestOf('b'), scanOf([]));
  const { mutex } = world.ports.policies;
  let pushed: Promise<unknown> = Promise.resolve();
  await mutex.run('shop/web', async () => {
    pushed = push('1.3.0', 'b');
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    evidence.set(digestOf('b'), scanOf([critical]));
    at(minute);
  });
  await pushed;
  assert.deepEqual(world.images(), [`${image}:1.2.3`]);
});

test('a tag that moves while its evidence is read is not applied with the evidence of its former image', async () => {
  // A tag is compared again right before the change; a digest is as old as the answer that named it.
  for (const [pin, lateMs] of [
    ['Tag', 0],
    ['Digest', minute],
  ] as const) {
    const { world, evidence, asked, push, at } = startVulnerable({ ...waits.minAge, pin });
    evidence.set(digestOf('b'), scanOf([]));
    const read = evidence.get.bind(evidence);
    evidence.get = (digest) => {
      if (digest === digestOf('b') && asked.filter((one) => one === digest).length === 1) {
        world.tags.set('1.3.0', digestOf('c'));
        at(lateMs);
      }
      return read(digest);
    };
    await push('1.3.0', 'b').catch(() => undefined);
    assert.deepEqual(world.images(), [`${image}:1.2.3`], pin);
  }
});

test('a fix is not kept waiting behind the digest of the tag that runs, and says why it does not skip its own wait', async () => {
  const { world, evidence, push, message } = startVulnerable({ ...waits.minAge, pin: 'Digest' });
  world.tags.clear();
  setWorkload(world, { web: `${image}:1.3.0` });
  evidence.set(digestOf('d'), scanOf([critical]));
  evidence.set(digestOf('b'), scanOf([]));
  await push('1.3.0', 'd');
  assert.equal(world.statusOf('web').waiting?.tag, '1.3.0');
  await push('1.3.1', 'b');
  assert.equal(world.statusOf('web').waiting?.tag, '1.3.1');
  assert.match(
    message(),
    /^1\.3\.1 waits until .*: it fixes CVE-2026-1 \(Critical\) of .*web:1\.3\.0, of which only the tag is known, which may have moved$/,
  );
});
