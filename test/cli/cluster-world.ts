/** A real API server with the definition, and policies whose status a test writes in the place of the service. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Condition, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { installCrd, policiesPath } from '../service/resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { tempFolder } from '../harness/temp-folder.ts';

export interface CliWorld {
  readonly cluster: ControlPlane;
  readonly namespace: string;
  /** Its context's namespace is `namespace`. */
  readonly kubeconfig: string;
  readonly pathOf: (name: string) => string;
  /** A policy of shop/NAME with one target, the Deployment of its name. */
  readonly create: (name: string, spec?: object) => Promise<void>;
  readonly report: (name: string, status: PolicyStatus) => Promise<void>;
  /** Deployment NAME, whose container c0 runs an image. */
  readonly deploy: (name: string, image: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts it. */
export async function startCliWorld(): Promise<CliWorld> {
  const cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  const namespace = await cluster.namespace('shop');
  const pathOf = (name: string) => `${policiesPath(namespace, 'v1')}/${name}`;
  return {
    cluster,
    namespace,
    kubeconfig: withNamespace(cluster.kubeconfigPath, namespace),
    pathOf,
    async create(name, spec = {}) {
      await cluster.request('POST', policiesPath(namespace, 'v1'), {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'ImagePolicy',
        metadata: { name },
        spec: { image: `harbor.example.com/shop/${name}`, select: { semver: {} }, targets: [{ kind: 'Deployment', name }], ...spec },
      });
    },
    async report(name, status) {
      await cluster.request('PATCH', `${pathOf(name)}/status`, { status });
    },
    async deploy(name, image) {
      const labels = { app: name };
      await cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
        metadata: { name },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c0', image }] } } },
      });
    },
    stop: () => cluster.stop(),
  };
}

/** The same kubeconfig, with another namespace in its contexts. */
export function withNamespace(kubeconfig: string, namespace: string): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { contexts: { context: object }[] };
  const contexts = config.contexts.map((entry) => ({ ...entry, context: { ...entry.context, namespace } }));
  const path = join(tempFolder('kubeconfig'), 'config');
  writeFileSync(path, stringify({ ...config, contexts }));
  return path;
}

/** When all conditions began. */
export const at = '2026-03-01T12:00:00Z';

/** A condition since `at`. */
export function condition(type: string, status: Condition['status'], reason: string, message = 'why'): Condition {
  return { type, status, reason, message, lastTransitionTime: at };
}

/** A status with what one container runs. */
export function statusOf(world: CliWorld, name: string, tags: { runs: string; latest: string }, ...conditions: Condition[]): PolicyStatus {
  const image = `harbor.example.com/shop/${name}:${tags.runs}`;
  return {
    latest: { tag: tags.latest, selectedAt: at },
    running: tags.runs,
    targets: [{ kind: 'Deployment', namespace: world.namespace, name, container: 'c0', image, state: 'UpToDate' }],
    conditions,
  };
}

/** The policies web, which is in order, held, which is Held, and api, which was never reconciled. */
export async function createPolicies(world: CliWorld): Promise<void> {
  await Promise.all(['web', 'api', 'held'].map((name) => world.create(name)));
  await Promise.all([
    world.report('web', statusOf(world, 'web', { runs: '1.4.0', latest: '1.4.0' }, condition('Ready', 'True', 'UpToDate'))),
    world.report(
      'held',
      statusOf(
        world,
        'held',
        { runs: '1.3.0', latest: '1.4.0' },
        condition('Ready', 'True', 'Held', 'kubectl changed \u001B[31mc0'),
        condition('Held', 'True', 'Held', 'kubectl changed \u001B[31mc0'),
      ),
    ),
  ]);
}
