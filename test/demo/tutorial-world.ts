/** The worlds of docs/tutorial.md, docs/tutorial-production.md and docs/tutorial-base-images.md: a cluster whose Deployments roll out, a registry that announces pushes, image-watcher, and a shell that reaches them. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { stringify } from 'yaml';
import { announce, startWorld } from '../end-to-end/world.ts';
import { findKubectl } from '../harness/binaries.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { runJavaPods } from './base.ts';
import { runPods } from './kubelet.ts';

export type TutorialWorld = Awaited<ReturnType<typeof startTutorialWorld>>;

/** Addresses as the page shows them. */
const shown = { registry: '127.0.0.1:5000', server: 'http://127.0.0.1:9090' };
const root = join(import.meta.dirname, '../..');

/** Runs a part of the start, and may show that it runs. */
export type RunPart = <T>(what: string, work: () => Promise<T>) => Promise<T>;

/** The tutorials by their names on the command line. */
export const tutorials = {
  push: { page: 'docs/tutorial.md', program: 'test/demo/push.ts' },
  production: { page: 'docs/tutorial-production.md', program: 'test/demo/push.ts' },
  base: { page: 'docs/tutorial-base-images.md', program: 'test/demo/push-base.ts' },
} as const;
export type Tutorial = keyof typeof tutorials;

/** Starts everything that a tutorial needs; `namespace` is created, and pods run in it. */
export async function startTutorialWorld(namespace = 'shop', part: RunPart = (_what, work) => work(), tutorial: Tutorial = 'push') {
  const isBase = tutorial === 'base';
  const world = await part('Redis, etcd, kube-apiserver, its controllers, registry', () =>
    startWorld({ controllers: true, extraRules: isBase ? shippedRules('work-rebase') : [] }),
  );
  const names = isBase ? [namespace, 'platform'] : [namespace];
  for (const name of names) await world.cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
  const pods = isBase ? runJavaPods(world, namespace) : runPods(world.cluster, namespace);
  const { host } = world.registry;
  const config = isBase ? { consents: [{ policiesFrom: 'platform', namespaces: [namespace], push: [`${host}/shop/*`] }] } : {};
  const service = await part('image-watcher serve', () => world.start({ config }));
  await part('the registry announces pushes to image-watcher', () => announce(world.registry, service));
  const folder = tempFolder('tutorial');
  const settings = join(folder, 'config.yaml');
  writeFileSync(settings, stringify({ registries: [{ host, insecure: true }], ...config }));
  const variables = { KUBECONFIG: world.cluster.kubeconfigPath, REGISTRY: host, SERVER: service.operationsUrl, CONFIG: settings };
  const path = [programsIn(folder, await findKubectl(), tutorials[tutorial].program), process.env['PATH']].join(delimiter);
  const asShown = (text: string) => text.replaceAll(service.operationsUrl, shown.server).replaceAll(host, shown.registry);
  return {
    /** To be sourced by a shell. */
    profile: writeProfile(folder, { ...variables, PATH: path }),
    /** Runs a command as somebody at the terminal would; returns what it prints. */
    run(command: string): Promise<string> {
      const env = { ...variables, PATH: path, HOME: folder };
      return new Promise((resolve) => {
        execFile('bash', ['-c', `exec 2>&1\n${command}`], { env, cwd: folder }, (_error, output) => resolve(asShown(output)));
      });
    },
    async stop() {
      await pods.stop();
      await world.stop();
    },
  };
}

/** The commands of the tutorial that are not those of everybody. */
function programsIn(folder: string, kubectl: string, push: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(kubectl, join(bin, 'kubectl'));
  for (const [name, file] of [
    ['image-watcher', 'bin/image-watcher.mjs'],
    ['push', push],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(join(root, file))} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

function writeProfile(folder: string, variables: Readonly<Record<string, string>>): string {
  const profile = join(folder, 'profile');
  writeFileSync(
    profile,
    Object.entries(variables)
      .map(([name, value]) => `export ${name}=${quote(value)}\n`)
      .join(''),
  );
  return profile;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
