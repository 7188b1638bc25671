/** A cluster, registries and the service, with all views open: where policies are put into states, and what happens to them. */
import assert from 'node:assert/strict';
import type { Spec } from '../../src/service/resources/v1.ts';
import { playKubelet } from '../end-to-end/pods.ts';
import { startChartWorld } from '../end-to-end/chart-world.ts';
import { announce, type World } from '../end-to-end/world.ts';
import { pushChart, pushImage } from '../harness/push-image.ts';
import { startRegistry, type Registry } from '../harness/registry.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { playInstallers, pushArtifact, specFor, type Installs } from './installers.ts';
import type { Known } from './truth.ts';
import type { Viewer } from './views.ts';

export type Scene = Awaited<ReturnType<typeof startScene>>;

/** A policy of the scene. Its repository, and its Deployments or what installs its charts, have its name. */
export interface Subject {
  readonly name: string;
  /** The state in which it was put first. */
  readonly state: string;
  readonly host: string;
  /** What its artifacts are where they are no images, and what installs them. */
  readonly installs?: Installs;
  /** All that its repository holds. */
  readonly tags: string[];
  known: Known;
  /** The tag of its last push, while nothing else has happened to it. */
  pushed?: string | undefined;
  /** Whether it can never select anything by what happens here. */
  blind?: boolean;
  suspended?: boolean;
  /** Whether its spec cannot be used. */
  broken?: boolean;
}

/** Starts it, without policies. */
export async function startScene() {
  const world = await startChartWorld(['application', 'ocirepository', 'helmrelease', 'helmrepository'], { controllers: true });
  const kubelet = playKubelet(world.cluster, world.namespace);
  const installers = playInstallers(world);
  const denied = await startRegistry({ htpasswd: { user: 'robot', password: 'secret' } });
  const hosts = [world.registry.host, world.quiet.host, denied.host, '127.0.0.1:1'];
  const service = await world.start({
    env: { WEBHOOK_SECRET: 'end-to-end-secret', SESSION_SECRET: 'for the sessions of this scene' },
    registryHosts: hosts,
    config: {
      operations: { actions: true },
      metrics: { policies: 1_000 },
      dashboard: { webhookUrl: 'https://hooks.example.com', sessionSecret: { env: 'SESSION_SECRET' } },
    },
  });
  await announce(world.registry, service);
  const viewer = await openViews(world, service.operationsUrl);
  return {
    world,
    viewer,
    denied,
    service,
    kubelet,
    installers,
    /** Whether the registry that announces is down. */
    isDown: false,
    /** Whether it has been down: some attempts are repeated only minutes later. */
    wasDown: false,
    ...actionsOn(world, denied, installers),
    async stop() {
      await Promise.all([world.stop(), denied.stop()]);
    },
  };
}

async function openViews({ cluster, namespace }: World, operationsUrl: string): Promise<Viewer> {
  const account = { name: 'viewer', namespace };
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] }];
  await createAccount(cluster, account, [{ rules }]);
  const token = await tokenOf(cluster, account);
  const response = await fetch(`${operationsUrl}/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  });
  const cookie = response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  assert.ok(response.status === 303 && cookie !== '', `the sign-in is answered ${response.status}`);
  return { cluster, namespace, operationsUrl, token, cookie };
}

const merge = 'application/merge-patch+json';

/** What people, CI and other tools do. */
function actionsOn(world: World, denied: Registry, installers: ReturnType<typeof playInstallers>) {
  const { cluster, namespace } = world;
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const policies = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;
  return {
    imageOf: ({ host, name }: Subject, tag: string) => `${host}/shop/${name}:${tag}`,
    async push(subject: Subject, tag: string) {
      const auth = subject.host === denied.host ? { auth: { user: 'robot', password: 'secret' } } : {};
      const target = { host: subject.host, repository: `shop/${subject.name}`, tag, ...auth };
      const content = `${subject.name} ${tag}`;
      const { installs } = subject;
      const { digest } = await (installs ? pushArtifact(target, installs.artifact, content) : pushImage({ ...target, content }));
      subject.tags.push(tag);
      return digest;
    },
    /** What its policy passes over: an image among charts, and a chart among images. */
    pushOther({ host, name, installs }: Subject, tag: string) {
      const target = { host, repository: `shop/${name}`, tag };
      return installs ? pushImage(target) : pushChart(target);
    },
    /** One container; `name` is that of the policy unless another is given. */
    async deploy(subject: Subject, image: string, { name = subject.name, ...spec }: { name?: string; paused?: boolean } = {}) {
      if (subject.installs) return installers.deploy(subject, subject.installs.kind, image);
      const labels = { app: subject.name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image }] } };
      return cluster.request('POST', deployments, {
        metadata: { name, labels },
        // A rollout that is to last must also last on a slow machine.
        spec: { progressDeadlineSeconds: 14_400, ...spec, selector: { matchLabels: labels }, template },
      });
    },
    /** What the policy updates, where it has its name. */
    findTarget: (subject: Subject) =>
      subject.installs
        ? installers.find(subject, subject.installs.kind)
        : cluster.request<object>('GET', `${deployments}/${subject.name}`).catch(() => undefined),
    deleteTarget: (subject: Subject) =>
      subject.installs ? installers.delete(subject, subject.installs.kind) : cluster.request('DELETE', `${deployments}/${subject.name}`),
    patchDeployment: ({ name }: Subject, patch: object) => cluster.request('PATCH', `${deployments}/${name}`, patch, merge),
    /** As a tool that writes under its own name. */
    async setImage(subject: Subject, image: string, manager = 'kubectl-set') {
      if (subject.installs) return installers.setVersion(subject, subject.installs.kind, { image, manager });
      const patch = { spec: { template: { spec: { containers: [{ name: 'c0', image }] } } } };
      const path = `${deployments}/${subject.name}?fieldManager=${manager}`;
      return cluster.request('PATCH', path, patch, 'application/strategic-merge-patch+json');
    },
    async createPolicy(subject: Subject, more: Partial<Spec> = {}, metadata: object = {}) {
      const { name, host, installs } = subject;
      const spec = {
        image: `${host}/shop/${name}`,
        select: { semver: {} },
        targets: [{ kind: 'Deployment', name }],
        poll: { interval: '480h' },
        rollout: { watch: false },
        ...(installs && specFor(subject, installs)),
        ...more,
      };
      await cluster.request('POST', policies, {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { ...metadata, name },
        spec,
      });
    },
    /** As somebody who deletes it and applies the same file again. */
    async recreatePolicy({ name }: Subject) {
      const { metadata, spec } = await cluster.request<{ metadata: { ownerReferences?: unknown }; spec: object }>(
        'GET',
        `${policies}/${name}`,
      );
      await cluster.request('DELETE', `${policies}/${name}`);
      const { ownerReferences } = metadata;
      const object = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name, ownerReferences }, spec };
      await cluster.request('POST', policies, object);
    },
    patchPolicy: ({ name }: Subject, spec: object) => cluster.request('PATCH', `${policies}/${name}`, { spec }, merge),
    annotate: ({ name }: Subject, annotations: Readonly<Record<string, string | null>>) =>
      world.annotate(
        `${policies}/${name}`,
        Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`operator.technomad.dev/${key}`, value])),
      ),
    readStatus: ({ name }: Subject) => world.readStatus(name),
    waitForReason: ({ name }: Subject, ...reasons: readonly string[]) =>
      waitFor(`Ready of policy ${name} to be ${reasons.join(' or ')}`, async () => {
        const found = await world.condition(name, 'Ready');
        return found !== undefined && reasons.includes(found.reason);
      }),
    waitForImage: (subject: Subject, image: string) =>
      subject.installs ? installers.waitForImage(subject, subject.installs.kind, image) : world.waitForImage(subject.name, image),
    waitForFirstLook: ({ name }: Subject) => world.waitForFirstLook(name),
  };
}
