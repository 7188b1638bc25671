import { findControlPlane, findRedis, findRegistry } from './binaries.ts';

/** Makes sure that every program the tests and the demo need is there. Once, before they start: parallel test files would each wait for the same build. */
export async function prepare(): Promise<void> {
  const redis = await findRedis();
  const registry = await findRegistry();
  const { etcd, kubeApiServer, kubeControllerManager } = await findControlPlane({ controllerManager: true });
  process.stderr.write(`using ${[redis, registry, etcd, kubeApiServer, kubeControllerManager].join(', ')}\n`);
}

if (import.meta.main) {
  try {
    await prepare();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
