/** Who may write ImagePolicies but not their status puts nothing into it, whatever he sends; and what is in it stays. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { group, kind } from '../../src/service/resources/group.ts';
import type { JsonObject } from '../../src/core/model/untyped.ts';
import type { Policy } from '../service/resources/objects.ts';
import { type KubeRequest, KubeRequestError, kubeRequest } from '../harness/kube-request.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { nameOf, namespace, startTwoVersions, type TwoVersions, type Version } from './two-versions-world.ts';

const versions = ['v1', 'v1alpha1'] as const;
const mergePatch = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const applyPatch = 'application/apply-patch+yaml';

const specs: Record<Version, JsonObject> = {
  v1: { image: 'shop/web', select: { semver: { range: '1.x' } }, targets: [{ kind: 'Deployment', name: 'web' }] },
  v1alpha1: {
    repository: 'shop/web',
    tagPolicy: { strategy: 'SemVer', pattern: '1.x' },
    updateTarget: { kind: 'Deployment', name: 'web', namespace },
  },
};
/** An edit of the spec, so that a write is one. */
const edits: Record<Version, (minutes: number) => JsonObject> = {
  v1: (minutes) => ({ poll: { interval: `${minutes}m` } }),
  v1alpha1: (minutes) => ({ pollIntervalMinutes: minutes }),
};

const at = '2026-11-21T10:00:00Z';
const change = { kind: 'Deployment', namespace, name: 'web', container: 'web', trigger: 'Webhook', at, result: 'Applied' };
/** As the service writes it. */
const written = {
  observedGeneration: 1,
  lastCheckTime: at,
  lastAppliedTag: '1.4.2',
  conditions: [{ type: 'Ready', status: 'True', reason: 'UpToDate', message: 'runs 1.4.2', lastTransitionTime: at }],
  latest: { tag: '1.4.2', selectedAt: at },
  history: [{ ...change, from: 'shop/web:1.4.1', to: 'shop/web:1.4.2', tag: '1.4.2' }],
  rejected: [{ digest: 'sha256:bad', tag: '1.4.1', reason: 'RolloutFailed', at }],
};
const evil = 'attacker.example/miner:1';
const forgedHistory = [{ ...change, namespace: 'kube-system', name: 'dns', from: evil, to: 'dns:1', tag: '1', result: 'Failed' }];
/** In the words of each version: a server-side apply takes no others. */
const forged: Record<Version, JsonObject> = {
  v1: { ...written, history: forgedHistory },
  v1alpha1: { lastAppliedTag: '6.6.6', v1: { ...written, history: forgedHistory } },
};
/** Everything in the metadata that could be taken for a status. */
const forgedMetadata = {
  annotations: {
    'operator.technomad.dev/v1': JSON.stringify({ spec: specs.v1, status: forged.v1 }),
    'operator.technomad.dev/v1alpha1': JSON.stringify({ status: forged.v1 }),
  },
  labels: { status: 'forged' },
};

const isInvalid = (error: unknown) => assert.ok(error instanceof KubeRequestError && error.status === 422, String(error));

describe('the status of a policy, for a user who may not write it,', () => {
  let world: TwoVersions;
  let user: KubeRequest;
  before(async () => {
    world = await startTwoVersions();
    const account = { name: 'author', namespace };
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
    await createAccount(world.cluster, account, [{ namespace, rules: [{ apiGroups: [group], resources: ['imagepolicies'], verbs }] }]);
    user = kubeRequest({ ...world.cluster, token: await tokenOf(world.cluster, account) });
  });
  after(() => world.stop());

  const manifest = (version: Version, name: string, more: JsonObject = {}) => ({
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, ...forgedMetadata },
    spec: specs[version],
    status: forged[version],
    ...more,
  });
  const writeStatus = (version: Version, name: string, status: object) => world.patch(version, `${name}/status`, { status });
  const statusOf = async (name: string) => (await world.read('v1', name)).status;
  const withStatus = async (version: Version): Promise<string> => {
    const name = nameOf(await world.create(version, specs[version]));
    await writeStatus('v1', name, written);
    return name;
  };
  const assertNothingForged = async (name: string) => {
    for (const version of versions)
      assert.doesNotMatch(JSON.stringify((await world.read(version, name)).status ?? {}), /attacker|kube-system/);
  };

  const creations: Record<string, (version: Version, name: string) => Promise<Policy>> = {
    create: (version, name) => user('POST', world.pathOf(version), manifest(version, name)),
    'server-side apply': (version, name) =>
      user('PATCH', `${world.pathOf(version, name)}?fieldManager=me&force=true`, manifest(version, name), applyPatch),
  };
  /** All ways to write a policy that exists; `minutes` makes each a change of the spec. */
  const writes: Record<string, (version: Version, name: string, minutes: number) => Promise<Policy>> = {
    annotate: (version, name) => user('PATCH', world.pathOf(version, name), { metadata: forgedMetadata }, mergePatch),
    'merge patch': (version, name, minutes) =>
      user(
        'PATCH',
        world.pathOf(version, name),
        { metadata: forgedMetadata, spec: edits[version](minutes), status: forged[version] },
        mergePatch,
      ),
    'JSON patch': (version, name) =>
      user(
        'PATCH',
        world.pathOf(version, name),
        [
          { op: 'add', path: '/metadata/annotations', value: forgedMetadata.annotations },
          { op: 'add', path: '/status/history', value: forgedHistory },
          { op: 'add', path: '/status/v1', value: forged.v1 },
        ],
        jsonPatch,
      ),
    'server-side apply': (version, name, minutes) =>
      user(
        'PATCH',
        `${world.pathOf(version, name)}?fieldManager=me&force=true`,
        manifest(version, name, { spec: { ...specs[version], ...edits[version](minutes) } }),
        applyPatch,
      ),
    replace: async (version, name, minutes) => {
      const live = await user<Policy>('GET', world.pathOf(version, name));
      const { managedFields } = live.metadata;
      const metadata = { name, resourceVersion: live.metadata['resourceVersion'], managedFields, ...forgedMetadata };
      const spec = { ...specs[version], ...edits[version](minutes) };
      return user('PUT', world.pathOf(version, name), manifest(version, name, { metadata, spec }));
    },
    'replace that claims to own the status': async (version, name) => {
      const live = await user<Policy>('GET', world.pathOf(version, name));
      const fieldsV1 = { 'f:status': { '.': {}, 'f:history': {}, 'f:v1': {} } };
      const managedFields = [
        { manager: 'image-watcher', operation: 'Update', apiVersion: `${group}/v1`, fieldsType: 'FieldsV1', fieldsV1 },
      ];
      const metadata = { ...live.metadata, ...forgedMetadata, managedFields };
      return user('PUT', world.pathOf(version, name), { ...live, metadata, status: forged[version] });
    },
  };

  for (const version of versions) {
    for (const [how, create] of Object.entries(creations)) {
      it(`stays empty for a new policy with ${how} in ${version}`, async () => {
        const name = `new-${version}-${how.replaceAll(' ', '-')}`;
        await create(version, name);
        assert.equal(await statusOf(name), undefined);
        // Nor does a later write find one.
        await user('PATCH', world.pathOf('v1alpha1', name), { spec: edits.v1alpha1(7) }, mergePatch);
        assert.equal(await statusOf(name), undefined);
      });
    }

    for (const [how, write] of Object.entries(writes)) {
      it(`does not change with ${how} in ${version}`, async () => {
        for (const origin of versions) {
          const name = await withStatus(origin);
          await write(version, name, 11);
          // Who applies the annotation of the view himself may be refused, because the API server takes it for his.
          await write(version, name, 12).catch(isInvalid);
          await assertNothingForged(name);
          assert.deepEqual(await statusOf(name), written, `created as ${origin}`);
        }
      });

      it(`stays empty with ${how} in ${version} before the first status is written, and unchanged after it`, async () => {
        const name = nameOf(await world.create(version, specs[version]));
        await (how === 'JSON patch' ? writes['annotate'] : write)?.(version, name, 11);
        await assertNothingForged(name);
        await writeStatus('v1alpha1', name, { lastAppliedTag: '1.0.0' });
        await write(version, name, 12);
        assert.deepEqual(await statusOf(name), { lastAppliedTag: '1.0.0' });
      });
    }

    it(`cannot be written through imagepolicies/status in ${version} either`, async () => {
      const name = await withStatus(version);
      await assert.rejects(user('PATCH', `${world.pathOf(version, name)}/status`, { status: forged[version] }, mergePatch), {
        status: 403,
      });
    });
  }

  it('is carried below the status of v1alpha1, while the annotation carries only the spec', async () => {
    const view = await world.read('v1alpha1', await withStatus('v1'));
    const { lastCheckTime, observedGeneration, lastAppliedTag, conditions } = written;
    assert.deepEqual(view.status, { observedGeneration, lastAppliedTag, conditions, lastCheckedTime: lastCheckTime, v1: written });
    assert.deepEqual(Object.keys(JSON.parse(view.metadata.annotations?.['operator.technomad.dev/v1'] ?? '')), ['spec']);
  });
});
