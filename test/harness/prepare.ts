import {
  findChromium,
  findControlPlane,
  findHelm,
  findKubectl,
  findKustomize,
  findRedis,
  findRegistry,
  findS3Server,
  lacksChromium,
  lacksHelm,
  lacksKubectl,
  lacksKustomize,
  lacksS3Server,
} from './binaries.ts';

/** Makes sure that the servers of the demo are there; returns their paths. */
export async function prepareServers({ controllerManager }: { controllerManager: boolean }): Promise<string[]> {
  const redis = await findRedis();
  const registry = await findRegistry();
  const { etcd, kubeApiServer, kubeControllerManager } = await findControlPlane({ controllerManager });
  return [redis, registry, etcd, kubeApiServer, kubeControllerManager].filter((path) => path !== undefined);
}

/** Makes sure that every program the tests need is there; returns their paths. Once, before they start: parallel test files would each wait for the same build. */
export async function prepare(): Promise<string[]> {
  const paths = await prepareServers({ controllerManager: true });
  const tools = [
    { what: 'the commands of the tutorial are', lacks: lacksKubectl, find: findKubectl },
    { what: 'the chart is', lacks: lacksHelm, find: findHelm },
    { what: 'the overlays for kustomize are', lacks: lacksKustomize, find: findKustomize },
    { what: 'the record in a bucket is', lacks: lacksS3Server, find: findS3Server },
    { what: 'the dashboard in a browser is', lacks: lacksChromium, find: findChromium },
  ];
  for (const { what, lacks, find } of tools) {
    const reason = await lacks();
    if (reason === undefined) paths.push(await find());
    else process.stderr.write(`${what} not tested: ${reason}\n`);
  }
  return paths;
}

if (import.meta.main) {
  try {
    process.stdout.write(`${(await prepare()).join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
