import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digestOf } from '../../core/model/samples.ts';
import { startTime } from '../../service/reconcile/world.ts';
import { createReplica, jobOf } from './replica.ts';

const latest = (letter: string) => ({ tag: '1.2.3', digest: digestOf(letter), selectedAt: '2026-03-01T12:00:00Z' });

describe('a replica that did not take the push of the newest base', () => {
  it('asks the registry if another replica has selected another base than it remembers', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('a'));
    replica.tags.set('1.2.3', digestOf('c'));
    replica.write({ ...replica.status(), latest: latest('c') });
    await replica.process(jobOf('TargetChange'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('does not ask the registry if no other base was selected', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.requests.length = 0;
    await replica.process(jobOf('TargetChange'));
    assert.deepEqual(replica.requests, []);
  });

  it('does not overwrite a base that another replica selected while it asked the registry', async () => {
    const replica = createReplica();
    replica.beforeWrite = () => {
      replica.tags.set('1.2.3', digestOf('c'));
      replica.write({ latest: latest('c') });
    };
    await replica.process(jobOf('Poll'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('does not overwrite a base that another replica selected while it compared the images', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.beforeWrite = () => {
      replica.tags.set('1.2.3', digestOf('c'));
      replica.write({ ...replica.status(), latest: latest('c') });
    };
    await replica.process(jobOf('TargetChange'));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('asks for the tags of applications again after a suspension, because it ignored pushes during it', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    const [ready] = replica.status().conditions ?? [];
    replica.write({ ...replica.status(), conditions: [{ ...ready, reason: 'Suspended' }] });
    replica.requests.length = 0;
    await replica.process(jobOf('PolicyChange'));
    assert.deepEqual(replica.requests, ['HEAD main']);
    replica.requests.length = 0;
    await replica.process(jobOf('PolicyChange'));
    assert.deepEqual(replica.requests, []);
  });

  it('asks for the tag of an application if another replica has seen another image under this tag than it remembers', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    replica.requests.length = 0;
    replica.tags.set('main', digestOf('f'));
    const image = { image: 'harbor.example.com/shop/app:main', digest: digestOf('f'), state: 'Current', workloads: 1 };
    replica.write({ ...replica.status(), dependents: [image] });
    await replica.process(jobOf('WaitOver'));
    assert.deepEqual(replica.requests, ['HEAD main']);
  });
});

it('a new base is in the status, without counts and not ready, before the images are compared with it', async () => {
  const seen: unknown[] = [];
  const head = (_: unknown, tag: string) => {
    const { latest, images, conditions = [] } = replica.status();
    const ready = conditions.find(({ type }) => type === 'Ready');
    if (tag === 'main') seen.push([latest?.digest, images, ready?.status, ready?.reason]);
    return Promise.resolve({ digest: replica.tags.get(tag) ?? '' });
  };
  const replica = createReplica({ registry: { headManifest: head, readTag: head } });
  await replica.process(jobOf('Poll'));
  replica.tags.set('1.2.3', digestOf('c'));
  await replica.process(jobOf('Request'));
  assert.deepEqual(seen, [
    [digestOf('a'), undefined, 'False', 'Progressing'],
    [digestOf('c'), undefined, 'False', 'Progressing'],
  ]);
  assert.equal(replica.status().images?.total, 1);
});

describe('a registry that announces an image before it shows it', () => {
  const pushed = { registry: 'harbor.example.com', path: 'shop/app' };

  it('is asked for a base again until it shows the announced image', async () => {
    const replica = createReplica();
    await replica.process(jobOf('Poll'));
    for (const hint of [{ tag: '1.2.3', digest: digestOf('c') }, { tag: '1.2.3' }])
      await assert.rejects(replica.process(jobOf('Webhook', { hint, cause: 'push:1' })), { reason: 'NotShownYet' });
    replica.tags.set('1.2.3', digestOf('c'));
    await replica.process(jobOf('Webhook', { hint: { tag: '1.2.3', digest: digestOf('c') }, cause: 'push:1' }));
    assert.equal(replica.status().latest?.digest, digestOf('c'));
  });

  it('is asked for an application again until it shows the announced image', async () => {
    const replica = createReplica();
    const job = jobOf('TargetChange', { pushed, hint: { tag: 'main', digest: digestOf('f') } });
    await assert.rejects(replica.process(job), { reason: 'NotShownYet' });
    replica.tags.set('main', digestOf('f'));
    await replica.process(job);
  });

  it('is asked again for an application that it failed to show, whose state is Unknown until then', async () => {
    let head = (tag: string): Promise<{ digest: string }> => Promise.resolve({ digest: digestOf(tag === 'main' ? 'd' : 'a') });
    const layers = { a: ['1'], d: ['1', '2'], e: ['1', '3'] };
    const replica = createReplica({ layers, registry: { headManifest: (_, tag) => head(tag), readTag: (_, tag) => head(tag) } });
    await replica.process(jobOf('Poll'));
    let asked = 0;
    const known = head;
    // The push is shown, and the registry fails when the image is compared.
    head = (tag) => (tag === 'main' && ++asked > 1 ? Promise.reject(new Error('503')) : known(tag));
    const hint = { tag: 'main' };
    await assert.rejects(replica.process(jobOf('TargetChange', { pushed, receivedAt: new Date(0).toISOString(), hint })), /503/);
    const main = () => replica.status().dependents?.find(({ image }) => image.endsWith(':main'));
    assert.deepEqual([main()?.state, main()?.digest], ['Unknown', undefined]);
    head = (tag) => Promise.resolve({ digest: digestOf(tag === 'main' ? 'e' : 'a') });
    await replica.process(jobOf('WaitOver'));
    assert.equal(main()?.digest, digestOf('e'));
  });

  it('is not asked again for an announced image when the time for showing it has passed', async () => {
    const replica = createReplica();
    const receivedAt = new Date(startTime - 600_000).toISOString();
    await replica.process(jobOf('TargetChange', { pushed, receivedAt, hint: { tag: 'main', digest: digestOf('f') } }));
    assert.notEqual(replica.status().latest, undefined);
  });
});

describe('a version of the base whose configuration does not show its layers', () => {
  for (const [name, layers, reason] of [
    ['counts as not compared', { a: [] }, 'ImagesUnknown'],
    ['does not count once it shows them', { a: ['1'] }, 'UpToDate'],
  ] as const)
    it(name, async () => {
      const replica = createReplica({ layers });
      replica.tags.set('1.2.3', digestOf('a')).set('main', digestOf('d'));
      await replica.process(jobOf('Poll'));
      const { conditions = [], versions } = replica.status();
      const ready = conditions.find(({ type }) => type === 'Ready');
      assert.deepEqual([ready?.reason, versions?.unread], [reason, reason === 'UpToDate' ? 0 : 1]);
      assert.equal(/1 versions of the base, such as 1\.2\.3, are not compared/.test(ready?.message ?? ''), reason !== 'UpToDate');
    });
});

describe('the record of the versions of a base', () => {
  const layers = { a: ['1'], d: ['1', '2'], e: ['3'] };
  const remember = async (main: string | undefined) => {
    const replica = createReplica({ layers });
    replica.tags.set('1.2.3', digestOf('a'));
    if (main === undefined) replica.tags.delete('main');
    else replica.tags.set('main', digestOf(main));
    await replica.process(jobOf('Poll'));
    return replica;
  };

  it('includes on which versions of the base images ran, so that an image unreadable later keeps its base', async () => {
    const { added, process } = await remember('d');
    const used = () => added.map(({ versions }) => versions.map(({ used = false }) => used).includes(true));
    assert.deepEqual(used(), [true]);
    await process(jobOf('Poll'));
    assert.deepEqual(used(), [true]);
    assert.deepEqual(
      (await remember('e')).added.map(({ versions }) => versions.some((one) => one.used === true)),
      [false],
    );
  });

  it('includes all versions while an image cannot be read', async () => {
    for (const [main, keepsAll] of [
      ['d', false],
      [undefined, true],
    ] as const)
      assert.deepEqual(
        (await remember(main)).added.map((one) => one.keepsAll),
        [keepsAll],
      );
  });
});
