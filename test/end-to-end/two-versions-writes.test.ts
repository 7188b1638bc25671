/** A policy that is written in one version and then in the other, in each way that kubectl has. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../src/core/model/untyped.ts';
import { isHidden } from '../service/resources/objects.ts';
import { apply, fileOf, patch, replace, replaceWhatWasRead, serverSideApply } from './kubectl-writes.ts';
import { nameOf, namespace, startTwoVersions, type TwoVersions } from './two-versions-world.ts';

const ways = { patch, apply, 'server-side apply': serverSideApply, 'replace of what was read': replaceWhatWasRead };

const olderSpec = {
  repository: 'harbor.example.com/shop/web',
  tagPolicy: { strategy: 'SemVer', pattern: '1.x' },
  updateTarget: { kind: 'Deployment', name: 'web', namespace },
  pollIntervalMinutes: 5,
};
const olderEdited = { ...olderSpec, tagPolicy: { strategy: 'SemVer', pattern: '2.x' }, pollIntervalMinutes: 9 };
/** The same in v1. */
const newer = {
  image: olderSpec.repository,
  select: { semver: { range: '1.x', prereleases: false } },
  targets: [{ kind: 'Deployment', name: 'web', initContainers: false }],
  poll: { interval: '5m' },
  suspend: false,
};
const newerEdited = { ...newer, select: { semver: { range: '2.x', prereleases: false } }, poll: { interval: '9m' } };

/** What is added in v1 to a policy of v1alpha1, and what the choice is after its range was edited as v1alpha1. */
const additions: [what: string, added: JsonObject, editedChoice?: JsonObject][] = [
  [
    'fields that v1alpha1 does not show',
    { rollout: { watch: true, timeout: '5m', onFailure: 'Hold', maxParallel: 3 }, pullSecrets: [{ name: 'harbor' }] },
  ],
  [
    'fields that hide the policy',
    {
      tags: { ignore: ['-debug$'] },
      minAge: '30m',
      platforms: ['linux/amd64'],
      update: { mode: 'Automatic', allowDowngrade: false, windows: [{ from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' }] },
    },
  ],
  [
    'more about the choice',
    { select: { semver: { range: '1.x', prereleases: true } }, tags: { allow: '^v(.*)$', extract: '$1', ignore: ['-debug$'] } },
    { select: { semver: { range: '2.x', prereleases: true } } },
  ],
];

describe('a policy that is written in both versions', () => {
  let world: TwoVersions;
  before(async () => {
    world = await startTwoVersions();
  });
  after(() => world.stop());
  let count = 0;
  const freshName = () => `web-${(count += 1)}`;

  for (const [how, { create, write }] of Object.entries(ways)) {
    for (const [what, added, editedChoice] of additions) {
      it(`created in v1alpha1, then ${what} in v1, then ${how} of v1alpha1: the file wins, and fields that only v1 has stay`, async () => {
        const name = freshName();
        const file = fileOf('v1alpha1', name, olderSpec);
        await create(world, file);
        assert.deepEqual((await world.read('v1', name)).spec, newer);
        const { spec } = await world.patch('v1', name, { spec: added });
        assert.deepEqual(spec, { ...newer, ...added });

        await write(world, file);
        assert.deepEqual((await world.read('v1', name)).spec, spec, 'the file of before says nothing new');

        await write(world, fileOf('v1alpha1', name, olderEdited));
        assert.deepEqual((await world.read('v1', name)).spec, { ...newerEdited, ...added, ...editedChoice });
      });
    }

    it(`created in v1alpha1 without a range, then a range and more in v1, then ${how} of v1alpha1: the range stays`, async () => {
      const name = freshName();
      const file = fileOf('v1alpha1', name, { ...olderSpec, tagPolicy: { strategy: 'SemVer' } });
      await create(world, file);
      const { spec } = await world.patch('v1', name, { spec: { select: { semver: { range: '1.x' } }, minAge: '30m' } });
      await write(world, file);
      assert.deepEqual((await world.read('v1', name)).spec, spec);
    });

    it(`created in v1alpha1 for another namespace, then ${how} of v1: the file wins, and the namespace stays known`, async () => {
      const name = freshName();
      const updateTarget = { ...olderSpec.updateTarget, namespace: 'ops' };
      const targets = [{ kind: 'Deployment', name: 'web', namespace: 'ops' }];
      await create(world, fileOf('v1alpha1', name, { ...olderSpec, updateTarget }));
      const { spec: before = {} } = await world.read('v1alpha1', name);

      const wanted = { image: newer.image, select: { semver: { range: '2.x' } }, targets, poll: { interval: '9m' } };
      await write(world, fileOf('v1', name, wanted));
      const visible = await world.read('v1alpha1', name);
      assert.deepEqual(visible.spec, { ...before, ...olderEdited, updateTarget });

      await write(world, fileOf('v1', name, { ...wanted, minAge: '1h' }));
      const hidden = await world.read('v1alpha1', name);
      assert.ok(isHidden(hidden));
      assert.deepEqual({ ...hidden.spec, tagPolicy: olderEdited.tagPolicy }, visible.spec);
    });

    it(`created in v1, then ${how} of v1alpha1 by a client that never saw v1: fields that only v1 has stay`, async () => {
      const { metadata } = await world.create('v1', { ...newer, minAge: '30m', suspend: true });
      const name = String(metadata['name']);
      await write(world, fileOf('v1alpha1', name, olderEdited));
      assert.deepEqual((await world.read('v1', name)).spec, { ...newerEdited, minAge: '30m', suspend: true });
    });
  }

  it('replaced with a file of v1alpha1 without the annotation: only the file counts', async () => {
    const name = freshName();
    await replace.create(world, fileOf('v1alpha1', name, olderSpec));
    await world.patch('v1', name, { spec: { minAge: '30m', rollout: { watch: true } } });
    await replace.write(world, fileOf('v1alpha1', name, olderEdited));
    assert.deepEqual((await world.read('v1', name)).spec, newerEdited);
  });

  it('refuses a write that is based on an outdated state, across versions', async () => {
    const name = nameOf(await world.create('v1', newer));
    const view = await world.read('v1alpha1', name);
    await world.patch('v1', name, { spec: { suspend: true } });
    await assert.rejects(world.replace('v1alpha1', name, view), { status: 409 });
  });
});

const at = '2026-11-21T10:00:00Z';
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'UpToDate',
  message: 'runs 1.4.2',
  lastTransitionTime: at,
  observedGeneration: 1,
};
const change = {
  kind: 'Deployment',
  namespace,
  name: 'web',
  container: 'web',
  from: 'a:1',
  to: 'a:2',
  trigger: 'Webhook',
  at,
  result: 'Applied',
};
/** What only v1 has words for. */
const onlyNewer = {
  latest: { tag: '1.4.2', digest: 'sha256:abc', selectedAt: at },
  trigger: { source: 'Webhook', receiver: 'harbor', event: 'e1', receivedAt: at, handledAt: at },
  lastHandledRequest: 'r1',
  targets: [{ kind: 'Deployment', namespace, name: 'web', container: 'web', image: 'a:2', state: 'UpToDate' }],
  history: [{ ...change, tag: '1.4.2' }],
  rejected: [{ digest: 'sha256:bad', tag: '1.4.1', reason: 'RolloutFailed', at }],
};

describe('the status in both versions', () => {
  let world: TwoVersions;
  let name: string;
  before(async () => {
    world = await startTwoVersions();
    name = nameOf(await world.create('v1', newer));
  });
  after(() => world.stop());
  const patchStatus = (version: 'v1' | 'v1alpha1', status: object) => world.patch(version, `${name}/status`, { status });
  const statusOf = async (version: 'v1' | 'v1alpha1') => (await world.read(version, name)).status;

  it('is shown in v1alpha1 when it was written in v1', async () => {
    const status = { observedGeneration: 1, lastCheckTime: at, lastAppliedTag: '1.4.2', conditions: [condition], ...onlyNewer };
    await patchStatus('v1', status);
    assert.deepEqual(await statusOf('v1'), status);
    assert.deepEqual(await statusOf('v1alpha1'), {
      observedGeneration: 1,
      lastCheckedTime: at,
      lastAppliedTag: '1.4.2',
      conditions: [condition],
      v1: status,
    });
  });

  it('keeps fields that only v1 has when an older service patches or replaces it', async () => {
    const laterTime = '2026-11-21T11:00:00Z';
    const stalled = { ...condition, type: 'Stalled', reason: 'NoMatchingTag', message: 'none', lastTransitionTime: laterTime };
    await patchStatus('v1alpha1', { lastAppliedTag: '1.5.0', lastCheckedTime: laterTime, conditions: [condition, stalled] });
    const status = {
      observedGeneration: 1,
      lastCheckTime: laterTime,
      lastAppliedTag: '1.5.0',
      conditions: [condition, stalled],
      ...onlyNewer,
    };
    assert.deepEqual(await statusOf('v1'), status);

    const view = await world.read('v1alpha1', name);
    const carried = view.status?.['v1'];
    await world.replace('v1alpha1', `${name}/status`, { ...view, status: { lastAppliedTag: '1.6.0', v1: carried } });
    assert.deepEqual(await statusOf('v1'), { ...onlyNewer, lastAppliedTag: '1.6.0' });
    const { annotations: _, ...metadata } = (await world.read('v1alpha1', name)).metadata;
    await world.replace('v1alpha1', `${name}/status`, { ...view, metadata, status: { lastAppliedTag: '1.7.0', v1: carried } });
    const changedStatus = { ...onlyNewer, lastAppliedTag: '1.7.0' };
    assert.deepEqual(await statusOf('v1'), changedStatus, 'also without the annotation');
    assert.deepEqual(await statusOf('v1alpha1'), { lastAppliedTag: '1.7.0', v1: changedStatus });
  });

  it('loses fields that only v1 has when it is replaced without the field in which v1alpha1 carries them', async () => {
    const otherPolicy = nameOf(await world.create('v1', newer));
    await world.patch('v1', `${otherPolicy}/status`, { status: onlyNewer });
    const view = await world.read('v1alpha1', otherPolicy);
    await world.replace('v1alpha1', `${otherPolicy}/status`, { ...view, status: { lastAppliedTag: '1.6.0' } });
    assert.deepEqual((await world.read('v1', otherPolicy)).status, { lastAppliedTag: '1.6.0' });
  });

  it('does not change with a write of the spec, whatever the write contains', async () => {
    const before = await world.read('v1', name);
    assert.equal(before.metadata['generation'], 1, 'a write of the status counts for nothing');
    const view = await world.read('v1alpha1', name);
    const edited = { ...view, spec: { ...view.spec, pollIntervalMinutes: 11 }, status: { lastAppliedTag: '0.0.1' } };
    await world.replace('v1alpha1', name, edited);
    assert.deepEqual(await statusOf('v1'), before.status);
    for (const { write } of [...Object.values(ways), replace]) {
      await write(world, fileOf('v1alpha1', name, olderEdited));
      assert.deepEqual(await statusOf('v1'), before.status);
      await write(world, fileOf('v1alpha1', name, olderSpec));
      assert.deepEqual(await statusOf('v1'), before.status);
    }
  });
});
