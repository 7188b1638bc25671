/** What `image-watcher run --once` works with: a registry with images, and Deployments that run some of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '../../../src/cli/once/reconcile.ts';
import { lastUpdateOf } from '../../../src/core/model/last-update.ts';
import { projectWorkload } from '../../../src/service/kube/project-workload.ts';
import { findTarget } from '../../../src/service/kube/targets.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';
import { pushImage } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { runCommand, type Ran } from '../run-command.ts';

export interface Deployment {
  readonly metadata: { readonly resourceVersion: string; readonly generation: number; readonly annotations?: Record<string, string> };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
}

/** A printed result. */
export type Printed = { readonly dryRun: boolean; readonly policies: readonly (RunResult & { readonly left: readonly string[] })[] };

export interface RunWorld {
  readonly registry: Registry;
  /** `shop/web:1.0.0` with the registry's host. */
  readonly image: (name: string) => string;
  readonly push: (repository: string, ...tags: string[]) => Promise<void>;
  readonly deploy: (name: string, image: string) => Promise<void>;
  readonly read: (name: string) => Promise<Deployment>;
  readonly imageOf: (name: string) => Promise<string>;
  /** The record of the last change on a Deployment. */
  readonly recordOf: (name: string) => Promise<ReturnType<typeof lastUpdateOf>>;
  /** With the configuration that the registry needs, and without the user's own credentials; options of the test come last, and win. */
  readonly run: (...args: string[]) => Promise<Ran>;
  /** `lint --cluster`, in the same way. */
  readonly lint: (...args: string[]) => Promise<Ran>;
  readonly stop: () => Promise<void>;
}

/** Starts the registry. */
export async function startRunWorld(cluster: ControlPlane, namespace: string, kubeconfig: string): Promise<RunWorld> {
  const registry = await startRegistry();
  const config = join(tempFolder('run'), 'config.yaml');
  writeFileSync(config, JSON.stringify({ registries: [{ host: registry.host, insecure: true }] }));
  const usual = ['--kubeconfig', kubeconfig, '--config', config, '--docker-config', '/dev/null'];
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const read = (name: string) => cluster.request<Deployment>('GET', `${path}/${name}`);
  const image = (name: string) => `${registry.host}/${name}`;
  return {
    registry,
    image,
    async push(repository, ...tags) {
      for (const tag of tags) await pushImage({ host: registry.host, repository, tag, content: `${repository}:${tag}` });
    },
    async deploy(name, of) {
      const labels = { app: name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(of) }] } };
      await cluster.request('POST', path, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } });
    },
    read,
    imageOf: async (name) => (await read(name)).spec.template.spec.containers.map((one) => one.image).join(' '),
    recordOf: async (name) => lastUpdateOf(projectWorkload(findTarget({ kind: 'Deployment' }), await read(name)), 'c0'),
    run: (...args) => runCommand('run', [...usual, '--once', ...args]),
    lint: (...args) => runCommand('lint', [...usual, '--cluster', ...args]),
    stop: () => registry.stop(),
  };
}

/** The printed results by policy. */
export function resultsIn({ out }: Ran): Readonly<Record<string, Printed['policies'][number]>> {
  const { policies } = JSON.parse(out) as Printed;
  return Object.fromEntries(policies.map((one) => [one.policy.split('/')[1], one]));
}
