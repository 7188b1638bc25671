/** A machine of somebody who follows a page: an empty cluster, a registry, and a terminal in a checkout. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findHelm, findKubectl } from '../harness/binaries.ts';
import { startControlPlane } from '../harness/control-plane.ts';
import { startRedis } from '../harness/redis.ts';
import { startRegistry } from '../harness/registry.ts';
import { tokenOf } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { runPods } from '../demo/kubelet.ts';
import { root } from './markdown.ts';
import { playNode } from './played-node.ts';

export type NewUser = Awaited<ReturnType<typeof startNewUser>>;

const namespace = 'image-watcher';

/** Starts everything that the pages take for granted. */
export async function startNewUser() {
  const [cluster, redis, registry, helm, kubectl] = await Promise.all([
    // No controller here would take back the protection of volumes, and no namespace with one could be deleted.
    startControlPlane({ controllerManager: true, fsync: false, moreFlags: ['--disable-admission-plugins=StorageObjectInUseProtection'] }),
    startRedis({ fsync: true, args: ['--maxmemory', '64mb'] }),
    startRegistry(),
    findHelm(),
    findKubectl(),
  ]);
  const folder = tempFolder('new-user');
  const insecure = { registries: [{ host: registry.host, insecure: true }] };
  const node = playNode(cluster, { namespace, redisUrl: redis.url, config: insecure });
  const pods = runPods(cluster, 'default');
  for (const name of ['charts', 'src', 'package.json']) symlinkSync(join(root, name), join(folder, name));
  const tokenFile = join(folder, 'token');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const program = (name: string, script: string) => {
    write(name, `#!/bin/sh\n${script}`);
    chmodSync(join(folder, name), 0o755);
  };
  // There are no nodes through which kubectl could reach a container.
  program(
    'kubectl',
    `case " $* " in
*' port-forward '*) exec '${kubectl}' "$1" "$2" get "$4" ;;
*' exec '*) while [ "$1" != dist/main.js ]; do shift; done; shift; exec image-watcher "$@" ;;
esac
exec '${kubectl}' "$@"
`,
  );
  program('helm', `exec '${helm}' "$@"\n`);
  program(
    'image-watcher',
    `case $1 in events|doctor) set -- "$@" --server "$SERVER" --insecure ;; esac\nexec '${process.execPath}' '${join(root, 'bin/image-watcher.mjs')}' "$@"\n`,
  );
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder, KUBECONFIG: cluster.kubeconfigPath };
  const saved = join(folder, 'environment');
  return {
    cluster,
    registry,
    node,
    folder,
    /** Writes a file that a page shows. */
    write,
    /** Puts the token of an account there where its pod has it. */
    async mountToken(name: string) {
      write('token', await tokenOf(cluster, { namespace, name }));
    },
    /** Runs a block of a page as a terminal does, with the variables of the blocks before; fails where one of its commands does. */
    async run(block: string, { server = '', replaced = {} }: { server?: string; replaced?: Readonly<Record<string, string>> } = {}) {
      const here = Object.entries({
        'ghcr.io/stefanprodan': `${registry.host}/stefanprodan`,
        '/var/run/secrets/kubernetes.io/serviceaccount/token': tokenFile,
        ...replaced,
      });
      const script = here.reduce((text, [from, to]) => text.replaceAll(from, to), block);
      const before = existsSync(saved) ? readFileSync(saved, 'utf8') : '';
      write('block', `${before}\nexport SERVER='${server}'\nset -eo pipefail\nexec 2>&1\n${script}\nwait\nexport -p > '${saved}'\n`);
      return new Promise<string>((resolve, reject) => {
        execFile('bash', [join(folder, 'block')], { env, cwd: folder, timeout: 300_000 }, (error, output) => {
          if (error) reject(new Error(`${script}\n${output}\n${node.problems.join('\n')}`, { cause: error }));
          else resolve(output);
        });
      });
    },
    async stop() {
      await Promise.all([pods.stop(), node.stop()]);
      await Promise.all([cluster.stop(), redis.stop(), registry.stop()]);
    },
  };
}
