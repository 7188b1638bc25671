/** A whole small world of real parts: Redis, API server, registry, and the program as a process of its own. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Redis as RedisClient } from 'ioredis';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { Condition, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { readStatus as readStoredStatus } from '../../src/core/model/stored-status.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { resend } from '../harness/resend.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import type { Rule } from '../harness/service-account.ts';
import { startService, type Service, type ServiceOptions } from '../harness/service.ts';
import { kubeconfigAsShipped } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { addedDefinitions, resources } from '../harness/resource-group.ts';

export const secret = 'end-to-end-secret';
/** No poll comes while tests run, whose requests would be counted. */
const rarely = '480000m';
const policyPath = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;
const deploymentPath = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;

export type World = Awaited<ReturnType<typeof startWorld>>;

/** How tags are chosen, in the words of v1alpha1; what v1 has besides is told by `extract`. */
export interface TagPolicy {
  strategy: 'SemVer' | 'Latest' | 'Regex';
  pattern?: string;
  extract?: string;
}

/** The same in the shape of v1. */
export function choiceOf({ strategy, pattern, extract }: TagPolicy): Pick<Spec, 'select' | 'tags'> {
  switch (strategy) {
    case 'SemVer':
      return { select: { semver: pattern === undefined ? {} : { range: pattern } } };
    case 'Latest':
      return { select: { digest: { tag: 'latest' } } };
    case 'Regex':
      return { select: { alphabetical: {} }, tags: { allow: pattern ?? '.*', ...(extract !== undefined && { extract }) } };
  }
}

type Definition = { spec: { versions: readonly { name: string }[] } };

/** A Deployment as far as tests look at it. */
export interface Deployment {
  metadata: { name: string; generation: number; annotations?: Record<string, string> };
  spec: { template: { spec: { containers: { name: string; image: string }[] } } };
}

/**
 * Starts everything but the service. `crd` is the definition that the cluster has, with its versions but no conversion webhook unless given. Nothing rolls out,
 * and policies do not watch for it, unless there are `controllers`. `cluster` is one that the test has started, to disturb it. With `fsync`, Redis waits for the
 * disk. Services get the permissions of the chart, and `extraRules` as its user would add them.
 */
export async function startWorld({
  crd = resources.policyDefinition(undefined),
  controllers = false,
  extraRules = [],
  cluster: own,
  fsync = false,
}: { crd?: Definition; controllers?: boolean; extraRules?: readonly Rule[]; cluster?: ControlPlane; fsync?: boolean } = {}) {
  const [redis, cluster, registry, quiet] = await Promise.all([
    startRedis({ fsync }),
    own ?? borrowControlPlane({ controllerManager: controllers }),
    startRegistry(),
    startRegistry(),
  ]);
  await installCrd(cluster, crd);
  const [namespace, kubeconfig] = await Promise.all([cluster.namespace('world'), kubeconfigAsShipped(cluster, { extraRules })]);
  const services: Service[] = [];
  return {
    redis,
    cluster,
    /** Of the account that services have. */
    kubeconfig,
    /** Announces its pushes once `announce` said where. */
    registry,
    /** Announces nothing: tests deliver what Harbor would. */
    quiet,
    namespace,
    ...kubernetes(cluster, namespace, controllers),
    async start(options: Partial<ServiceOptions> & { registryHosts?: string[] } = {}): Promise<Service> {
      const { registryHosts = [registry.host, quiet.host], config = {}, ...rest } = options;
      const service = await startService({
        redisUrl: redis.url,
        kubeconfig,
        env: { WEBHOOK_SECRET: secret },
        config: { ...configuration(registryHosts), ...config },
        ...rest,
      });
      services.push(service);
      return service;
    },
    /** Waits until no job runs or is due. */
    async waitForIdleWorkers(): Promise<void> {
      const client = new RedisClient(redis.url);
      try {
        await waitFor('no job to run or to be due', async () => {
          const lists = [...(await client.keys('*:active')), ...(await client.keys('*:wait'))];
          const lengths = await Promise.all(lists.map((list) => client.llen(list)));
          return lengths.every((length) => length === 0);
        });
      } finally {
        client.disconnect();
      }
    },
    async stop() {
      await Promise.all(services.map((service) => service.stop()));
      await Promise.all([redis.stop(), cluster.stop(), registry.stop(), quiet.stop()]);
    },
  };
}

/** Receivers for both providers, and the registries over plain http. */
function configuration(registryHosts: readonly string[]): Record<string, unknown> {
  const secrets = [{ env: 'WEBHOOK_SECRET' }];
  return {
    receivers: [
      { name: 'registry', provider: 'distribution', secrets },
      { name: 'harbor', provider: 'harbor', secrets },
    ],
    registries: registryHosts.map((host) => ({ host, insecure: true, concurrency: 64 })),
  };
}

/** Lets the registry itself announce its pushes to the service. */
export async function announce(registry: Registry, service: Service): Promise<void> {
  await registry.notify({ url: `${service.publicUrl}/webhooks/registry`, headers: { Authorization: `Bearer ${secret}` } });
}

/** What Harbor would send for these pushes, in one delivery. */
export function harborBody(host: string, repository: string, resources: readonly { tag: string; digest?: string }[]): string {
  const [namespace = '', ...name] = repository.split('/');
  return JSON.stringify({
    type: 'PUSH_ARTIFACT',
    occur_at: Math.floor(Date.now() / 1000),
    operator: 'ci',
    event_data: {
      resources: resources.map(({ tag, digest }) => ({ tag, ...(digest && { digest }), resource_url: `${host}/${repository}:${tag}` })),
      repository: { name: name.join('/'), namespace, repo_full_name: repository, repo_type: 'private' },
    },
  });
}

/** Status and body of what a delivery was answered. */
interface Delivered {
  readonly status: number;
  readonly accepted: { id: string }[];
  readonly ignored: { reason: string }[];
}

/** Delivers a body as Harbor does, with its retries where there is no room. */
export function deliver(service: Service, body: string): Promise<Delivered> {
  return resend(() => deliverOnce(service, body));
}

/** One attempt of it. */
export async function deliverOnce(service: Service, body: string): Promise<Delivered> {
  const response = await fetch(`${service.publicUrl}/webhooks/harbor`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: secret },
    body,
  });
  const answer = (await response.json()) as { accepted?: { id: string }[]; ignored?: { reason: string }[] };
  return { status: response.status, accepted: answer.accepted ?? [], ignored: answer.ignored ?? [] };
}

/** Delivers to one after the other until one of them accepts. */
export async function deliverUntilAccepted(body: string, ...services: Service[]): Promise<void> {
  const isAccepted = async (service: Service) => (await deliverOnce(service, body)).status === 202;
  const tryEach = async () => {
    for (const service of services) if (await isAccepted(service).catch(() => false)) return true;
    return false;
  };
  await waitFor('the delivery to be accepted', tryEach, { intervalMs: 100 });
}

interface WorldEvent {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
}

function kubernetes(cluster: ControlPlane, namespace: string, controllers: boolean) {
  const readDeployment = (name: string) => cluster.request<Deployment>('GET', `${deploymentPath(namespace)}/${name}`);
  const readStatus = async (name: string): Promise<PolicyStatus> => {
    const policy = await cluster.request<{ status?: unknown }>('GET', `${policyPath(namespace)}/${name}`);
    return readStoredStatus(policy.status);
  };
  const condition = async (name: string, type: string): Promise<Condition | undefined> =>
    (await readStatus(name)).conditions?.find((candidate) => candidate.type === type);
  const listEvents = async (kind: string, name: string): Promise<WorldEvent[]> => {
    const { items } = await cluster.request<{ items: (WorldEvent & { involvedObject: { kind: string; name: string } })[] }>(
      'GET',
      `/api/v1/namespaces/${namespace}/events`,
    );
    return items.filter(({ involvedObject: about }) => about.kind === kind && about.name === name);
  };
  return {
    readDeployment,
    readStatus,
    condition,
    async listDeployments(): Promise<Deployment[]> {
      return ((await cluster.request('GET', deploymentPath(namespace))) as { items: Deployment[] }).items;
    },
    async listPolicies(): Promise<{ metadata: { name: string }; status?: PolicyStatus }[]> {
      return ((await cluster.request('GET', policyPath(namespace))) as { items: { metadata: { name: string }; status?: PolicyStatus }[] })
        .items;
    },
    /** One container for each image, named c0, c1 … */
    async createDeployment(name: string, ...images: string[]): Promise<void> {
      const labels = { app: name };
      const containers = images.map((image, index) => ({ name: `c${index}`, image }));
      const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
      await cluster.request('POST', deploymentPath(namespace), { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec });
    },
    async createPolicy(
      name: string,
      repository: string,
      tagPolicy: TagPolicy,
      extra: { target?: string; kind?: string } & Partial<Spec> = {},
    ): Promise<void> {
      const { target = name, kind = 'Deployment', ...more } = extra;
      const spec: Spec = {
        image: repository,
        ...choiceOf(tagPolicy),
        targets: [{ kind, name: target }],
        poll: { interval: rarely },
        ...(!controllers && { rollout: { watch: false } }),
        ...more,
      };
      await cluster.request('POST', policyPath(namespace), {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { name },
        spec,
      });
    },
    async annotate(path: string, annotations: Record<string, string | null>): Promise<void> {
      await cluster.request('PATCH', path, { metadata: { annotations } }, 'application/merge-patch+json');
    },
    policyPath: (name: string) => `${policyPath(namespace)}/${name}`,
    deploymentPath: (name: string) => `${deploymentPath(namespace)}/${name}`,
    /** As somebody with kubectl would. */
    async setImage(name: string, image: string): Promise<void> {
      const patch = { spec: { template: { spec: { containers: [{ name: 'c0', image }] } } } };
      await cluster.request('PATCH', `${deploymentPath(namespace)}/${name}`, patch, 'application/strategic-merge-patch+json');
    },
    async patchPolicy(name: string, spec: Record<string, unknown>): Promise<void> {
      await cluster.request('PATCH', `${policyPath(namespace)}/${name}`, { spec }, 'application/merge-patch+json');
    },
    /** Waits until the first container runs the image; returns the Deployment. */
    async waitForImage(name: string, image: string): Promise<Deployment> {
      const what = `Deployment ${name} to run ${image}`;
      return waitFor(what, async () => {
        const deployment = await readDeployment(name);
        return deployment.spec.template.spec.containers[0]?.image === image && deployment;
      });
    },
    async waitForCondition(name: string, type: string, reason: string): Promise<Condition> {
      return waitFor(`${type} of policy ${name} to be ${reason}`, async () => {
        const found = await condition(name, type);
        return found?.reason === reason && found;
      });
    },
    /**
     * Waits until the policy has been looked at: after that, what is pushed is an update. Where the policy was seen before its target, or before the list of its
     * kind, another look follows at once, and might find what the test pushes next.
     */
    async waitForFirstLook(name: string): Promise<void> {
      const check = async () => {
        const { observedGeneration, conditions = [] } = await readStatus(name);
        const isOver = ({ type, reason }: Condition) => reason !== 'TargetNotFound' && (type !== 'Reconciling' || reason === 'Progressing');
        return observedGeneration !== undefined && conditions.every(isOver);
      };
      await waitFor(`policy ${name} to be looked at`, check);
    },
    listEvents,
    /** The Events about an object, once there is one: they are written after the status, and nothing waits for them. */
    waitForEvents(kind: string, name: string): Promise<WorldEvent[]> {
      return waitFor(`an Event about ${kind} ${name}`, async () => {
        const found = await listEvents(kind, name);
        return found.length > 0 && found;
      });
    },
  };
}

async function installCrd(cluster: ControlPlane, crd: Definition): Promise<void> {
  for (const definition of [crd, ...addedDefinitions.map(({ object }) => object)])
    await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  const [version] = crd.spec.versions;
  for (const resource of [`${version?.name}/imagepolicies`, ...addedDefinitions.map(({ plural }) => `v1/${plural}`)])
    await waitFor(`${resource} to be served`, () => cluster.request('GET', `/apis/operator.technomad.dev/${resource}`));
}

/** A digest that no image has. */
export function someDigest(): string {
  return `sha256:${randomUUID().replaceAll('-', '').repeat(2)}`;
}

/** The generation counts changes: 1 is the creation, so each patch that changed something adds one. */
export function assertPatchedTimes(deployment: Deployment, times: number): void {
  assert.equal(
    deployment.metadata.generation - 1,
    times,
    `${deployment.metadata.name} was changed ${deployment.metadata.generation - 1} times, not ${times}`,
  );
}

export type { Redis, Registry, Service };
