import { findControlPlane, findHelm, findRedis, findRegistry, lacksHelm } from './binaries.ts';

/** Makes sure that the servers of the demo are there; returns their paths. */
export async function prepareServers({ controllerManager }: { controllerManager: boolean }): Promise<string[]> {
  const redis = await findRedis();
  const registry = await findRegistry();
  const { etcd, kubeApiServer, kubeControllerManager } = await findControlPlane({ controllerManager });
  return [redis, registry, etcd, kubeApiServer, kubeControllerManager].filter((path) => path !== undefined);
}

/** Makes sure that every program the tests need is there; returns their paths. Once, before they start: parallel test files would each wait for the same build. */
export async function prepare(): Promise<string[]> {
  const servers = await prepareServers({ controllerManager: true });
  const reason = await lacksHelm();
  if (reason !== undefined) process.stderr.write(`the chart is not tested: ${reason}\n`);
  return reason === undefined ? [...servers, await findHelm()] : servers;
}

if (import.meta.main) {
  try {
    process.stdout.write(`${(await prepare()).join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
