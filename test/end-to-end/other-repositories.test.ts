/** A tenant's policies that name the repository of somebody else: the tenant learns of no push to it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { resend } from '../harness/resend.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const robot = { user: 'robot', password: 'geheim-1' };
interface Events {
  readonly events: readonly {
    readonly tag: string;
    readonly policies: readonly { readonly namespace: string; readonly outcome: string }[];
  }[];
}

const group = '/apis/operator.technomad.dev/v1/namespaces';

describe('policies that name a private repository of another tenant', () => {
  let world: World;
  let service: Service;
  let registry: Registry;
  let spies: string;
  let tokens: Record<'owner' | 'spy' | 'operator', string>;
  before(async () => {
    [world, registry] = await Promise.all([startWorld(), startRegistry({ htpasswd: robot })]);
    service = await world.start({ registryHosts: [registry.host] });
    spies = await world.cluster.namespace('spies');
    const tokenWith = async (name: string, namespace?: string) => {
      const account = { name, namespace: world.namespace };
      const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] }];
      await createAccount(world.cluster, account, [{ ...(namespace !== undefined && { namespace }), rules }]);
      return tokenOf(world.cluster, account);
    };
    tokens = {
      owner: await tokenWith('owner', world.namespace),
      spy: await tokenWith('spy', spies),
      operator: await tokenWith('operator'),
    };
    await push('1.0.0');
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      metadata: { name: 'pull' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: {
        '.dockerconfigjson': JSON.stringify({ auths: { [registry.host]: { username: robot.user, password: robot.password } } }),
      },
    });
    await world.createDeployment('web', image('1.0.0'));
    await world.createPolicy('web', `${registry.host}/shop/web`, { strategy: 'SemVer' }, { pullSecrets: [{ name: 'pull' }] });
    await world.waitForCondition('web', 'Ready', 'UpToDate');
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${spies}/deployments`, deploymentOf(image('9.0.0')));
    // A push of an older version changes nothing for `older`, and one of `none` selects nothing: no request is needed to say so.
    const policies = {
      hinted: {},
      none: { tags: { allow: '^never$' } },
      suspended: { suspend: true },
      dry: { update: { mode: 'DryRun' } },
    };
    for (const [name, spec] of Object.entries(policies))
      await create('imagepolicies', 'ImagePolicy', name, {
        image: `${registry.host}/shop/web`,
        select: { semver: {} },
        targets: [{ kind: 'Deployment', name: name === 'hinted' ? 'absent' : 'web' }],
        poll: { interval: '480m' },
        ...spec,
      });
    await create('baseimagepolicies', 'BaseImagePolicy', 'base', {
      image: `${registry.host}/shop/web`,
      select: { semver: {} },
      workloads: [{}],
      onNewBase: [{ report: {} }],
    });
    await waitFor('the policies of the spy to be looked at', async () =>
      (await statuses()).every(({ status }) => status?.observedGeneration === 1),
    );
  });
  after(async () => {
    await world.stop();
    await registry.stop();
  });

  const image = (tag: string) => `${registry.host}/shop/web:${tag}`;
  const push = (tag: string) => pushImage({ host: registry.host, repository: 'shop/web', tag, auth: robot, content: tag });
  const create = (plural: string, kind: string, name: string, spec: object) =>
    world.cluster.request('POST', `${group}/${spies}/${plural}`, {
      apiVersion: 'operator.technomad.dev/v1',
      kind,
      metadata: { name },
      spec,
    });
  interface Stored {
    readonly status?: { readonly observedGeneration?: number };
  }
  const statuses = async () => {
    const lists = ['imagepolicies', 'baseimagepolicies'].map((plural) =>
      world.cluster.request<{ items: Stored[] }>('GET', `${group}/${spies}/${plural}`),
    );
    return (await Promise.all(lists)).flatMap(({ items }) => items);
  };
  const eventsFor = async (who: keyof typeof tokens) => {
    const { body } = await resend(async () => {
      const response = await fetch(`${service.operationsUrl}/api/v1/events`, { headers: { authorization: `Bearer ${tokens[who]}` } });
      return { status: response.status, body: (await response.json()) as Events };
    });
    return body;
  };

  it('do not show it in events, statuses and Events to users who are limited to their namespace', async () => {
    await push('1.4.7');
    await deliver(service, harborBody(registry.host, 'shop/web', [{ tag: '1.4.7' }]));
    await world.waitForImage('web', image('1.4.7'));
    const all = await waitFor('the results of all policies', async () => {
      const { events } = await eventsFor('operator');
      const policies = events.find(({ tag }) => tag === '1.4.7')?.policies ?? [];
      return policies.length === 6 && policies.every(({ outcome }) => outcome !== 'working') && policies;
    });
    assert.equal(all.filter(({ namespace }) => namespace === spies).length, 5);
    assert.deepEqual((await eventsFor('spy')).events, []);
    const { events } = await eventsFor('owner');
    assert.deepEqual(
      events.map(({ tag, policies }) => [tag, policies.map(({ namespace }) => namespace)]),
      [['1.4.7', [world.namespace]]],
    );
    const about = await world.cluster.request<{ items: unknown[] }>('GET', `/api/v1/namespaces/${spies}/events`);
    const said = JSON.stringify([await statuses(), about.items]);
    assert.ok(said.includes('RegistryDenied') && !said.includes('1.4.7'), said);
  });

  it('show it once their own credentials have read the repository', async () => {
    await world.cluster.request('POST', `/api/v1/namespaces/${spies}/secrets`, {
      metadata: { name: 'pull' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: {
        '.dockerconfigjson': JSON.stringify({ auths: { [registry.host]: { username: robot.user, password: robot.password } } }),
      },
    });
    const path = `${group}/${spies}/imagepolicies/none`;
    await world.cluster.request('PATCH', path, { spec: { tags: null, pullSecrets: [{ name: 'pull' }] } }, 'application/merge-patch+json');
    await waitFor('the policy to have read it', async () => JSON.stringify(await world.cluster.request('GET', path)).includes('1.4.7'));
    await deliver(service, harborBody(registry.host, 'shop/web', [{ tag: '1.0.0' }]));
    const shown = await waitFor('the event', async () => {
      const { events } = await eventsFor('spy');
      return events.length > 0 && events;
    });
    assert.deepEqual(
      shown.map(({ tag }) => tag),
      ['1.0.0'],
    );
  });
});

function deploymentOf(image: string): object {
  const labels = { app: 'web' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c0', image }] } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
}
