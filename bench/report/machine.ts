import { cpus, release, totalmem, type } from 'node:os';
import { findControlPlane, findRedis, findRegistry } from '../../test/harness/binaries.ts';
import { runCommand } from '../../test/harness/run-command.ts';

/** What was measured on, with what. */
export async function describeMachine(): Promise<Record<string, string>> {
  const [processor] = cpus();
  const { etcd, kubeApiServer } = await findControlPlane({ controllerManager: false });
  const version = async (command: string, pattern: RegExp) => pattern.exec(await runCommand(command, ['--version']))?.[1] ?? 'unknown';
  return {
    Machine: `${cpus().length} × ${processor?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`,
    Node: process.versions.node,
    Redis: await version(await findRedis(), /v=(\S+)/),
    etcd: await version(etcd, /etcd Version: (\S+)/),
    'kube-apiserver': await version(kubeApiServer, /(v\S+)/),
    registry: await version(await findRegistry(), /(v?\d+\.\d+\S*)/),
  };
}
