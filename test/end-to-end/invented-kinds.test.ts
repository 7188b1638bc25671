/** Policies that name kinds which do not exist, as many as they can: what that costs the API server, and that nobody else notices. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { maxKindsPerNamespace } from '../../src/service/cluster/kind-quota.ts';
import type { Condition, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { installKind, known, pathOf, type CustomKind } from '../service/kube/targets/custom-definition.ts';
import { eachOf } from './fleet.ts';
import { startWorld, type World } from './world.ts';

const machine: CustomKind = { group: 'example.com', version: 'v1', kind: 'Machine', plural: 'machinery' };
const [policies, targets] = [50, 64];
const patience = { timeoutMs: 90_000 };

interface Policy {
  readonly metadata: { readonly name: string };
  readonly status?: PolicyStatus;
}

describe('3,200 kinds that are not installed', () => {
  let world: World;
  let proxy: KubeProxy;
  let neighbour: string;
  let startedAt: number;
  before(async () => {
    const rules = [known.rollout, machine].map(({ group, plural }) => ({
      apiGroups: [group],
      resources: [plural],
      verbs: ['get', 'list', 'watch', 'patch'],
    }));
    world = await startWorld({ extraRules: rules });
    await installKind(world.cluster, known.rollout);
    neighbour = await world.cluster.namespace('neighbour');
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'first');
    proxy.tokens.add('first');
    startedAt = performance.now();
    await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }) });
    await pushImage({ host: world.quiet.host, repository: 'shop/web', tag: '1.0.0', content: '1.0.0' });
    await eachOf(names, (name) => create(world.namespace, name, kindsOf(name)));
  });
  after(async () => {
    await world.stop();
    await proxy.stop();
  });

  const names = Array.from({ length: policies }, (_, index) => `greedy-${String(index).padStart(2, '0')}`);
  const path = (namespace: string, name = '') =>
    `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies${name && `/${name}`}`;
  /** Half of them in group versions that are served, half in invented ones. */
  const kindsOf = (name: string) =>
    Array.from({ length: targets }, (_, index) => ({
      apiVersion: index % 2 === 0 ? 'argoproj.io/v1alpha1' : `group-${index}.${name}.example.net/v1`,
      kind: `Invented${name.replace('-', '')}x${index}`,
      name: 'web',
    }));
  const create = async (namespace: string, name: string, written: object[]) => {
    const spec = { image: `${world.quiet.host}/shop/web`, select: { semver: {} }, targets: written, poll: { interval: '8h' } };
    await world.cluster.request('POST', path(namespace), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec,
    });
  };
  const stalledOf = (status: PolicyStatus | undefined): Condition | undefined => status?.conditions?.find(({ type }) => type === 'Stalled');
  const waitForStalled = (namespace: string, name: string, reason: string) =>
    waitFor(
      `${namespace}/${name} to be Stalled with ${reason}`,
      async () => {
        const stalled = stalledOf((await world.cluster.request<Policy>('GET', path(namespace, name))).status);
        return stalled?.reason === reason && stalled;
      },
      patience,
    );
  /** What was asked to find out where kinds are. */
  const discoveries = () => proxy.requests.filter((request) => /^GET \/apis(?:\/[^/?]+\/[^/?]+)?(?:\?|$)/.test(request));

  it('exceed the limit of their namespace, which the policies over the limit report, and the others report an unknown kind', async () => {
    const stalledConditions = await waitFor(
      'all policies to be Stalled',
      async () => {
        const { items } = await world.cluster.request<{ items: Policy[] }>('GET', path(world.namespace));
        const reasons = items.map(({ status }) => stalledOf(status)?.reason);
        return reasons.every((reason) => reason !== undefined) && items.map(({ status }) => stalledOf(status));
      },
      patience,
    );
    const tooMany = stalledConditions.filter(
      (stalled) => /TooManyKinds/.test(`${stalled?.reason} ${stalled?.message}`) || /more than 32 kinds/.test(stalled?.message ?? ''),
    );
    assert.ok(tooMany.length >= policies - 1, `${tooMany.length} policies show it`);
    assert.equal(stalledConditions.filter((stalled) => stalled?.reason === 'TargetKindUnknown').length >= 1, true);
  });

  it('do not prevent a policy in another namespace from using a kind that exists or is installed later', async () => {
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web' };
    const image = `${world.quiet.host}/shop/web`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: `${image}:0.9.0` }] } };
    await world.cluster.request('POST', pathOf(known.rollout, neighbour), { ...rollout, metadata: { name: 'web' }, spec: { template } });
    await create(neighbour, 'web', [rollout]);
    await waitFor(
      'the Rollout to be updated',
      async () => JSON.stringify(await world.cluster.request('GET', `${pathOf(known.rollout, neighbour)}/web`)).includes(`${image}:1.0.0`),
      patience,
    );
    const { group, version, kind } = machine;
    await create(neighbour, 'machine', [{ apiVersion: `${group}/${version}`, kind, name: 'web' }]);
    await waitForStalled(neighbour, 'machine', 'TargetKindUnknown');
    await installKind(world.cluster, machine);
    await waitForStalled(neighbour, 'machine', 'TargetNotFound');
  });

  it('cost the API server only a handful of requests', () => {
    // Two documents concern kinds that are named here: argoproj.io/v1alpha1, and example.com/v1 when it is there. Each is asked for every 10 s at most, and for some
    // seconds after a definition of its group has changed.
    const rounds = Math.ceil((performance.now() - startedAt) / 10_000) + 1;
    const afterChange = 14;
    const asked = discoveries();
    assert.ok(
      asked.length <= 3 * rounds + afterChange,
      `${asked.length} discoveries in ${rounds} rounds of 10 s: ${[...new Set(asked)].slice(0, 10).join(', ')}`,
    );
    assert.equal(asked.filter((request) => request.includes('example.net')).length, 0);
    const lists = proxy.requests.filter((request) => request.includes('Invented') || request.includes('invented'));
    assert.deepEqual(lists, []);
  });

  it('are counted again when policies are deleted', async () => {
    const [last = ''] = names.slice(-1);
    const status = (await world.cluster.request<Policy>('GET', path(world.namespace, last))).status;
    assert.match(stalledOf(status)?.message ?? '', new RegExp(`more than ${maxKindsPerNamespace} kinds`));
    await eachOf(names.slice(0, -1), (name) => world.cluster.request('DELETE', path(world.namespace, name)).then(() => undefined));
    await world.cluster.request(
      'PATCH',
      path(world.namespace, last),
      { spec: { targets: kindsOf(last).slice(0, 3) } },
      'application/merge-patch+json',
    );
    const { message } = await waitForStalled(world.namespace, last, 'TargetKindUnknown');
    assert.doesNotMatch(message, /more than/);
  });
});
