/** Reads what runs: the processes of the service, and what they depend on. */
import { defined } from '../../core/model/defined.ts';
import { textOrEmpty } from '../../core/model/untyped.ts';
import type { RunningService } from '../api/ports.ts';
import type { KubeClient } from '../kube/client.ts';
import type { RedisConnection } from '../queue/connection.ts';
import { readProcesses } from '../queue/process-list.ts';
import { readServer } from '../queue/read-server.ts';

/** Reads the processes of the service, and the versions of Redis and of the API server (`cluster`). A version that is not said in time is left out. */
export async function readRunning(redis: RedisConnection, prefix: string, cluster: KubeClient | undefined): Promise<RunningService> {
  const versionOf = cluster?.request<{ gitVersion?: unknown }>({ method: 'GET', path: '/version', timeoutMs: 2_000 });
  const [processes, info, version] = await Promise.all([
    readProcesses(redis, prefix, Date.now()),
    readServer(redis, prefix, Date.now).then(
      ({ info }) => info['redis_version'],
      () => undefined,
    ),
    versionOf?.then(
      ({ gitVersion }) => textOrEmpty(gitVersion) || undefined,
      () => undefined,
    ),
  ]);
  return { processes, ...defined({ redis: info, kubernetes: version }) };
}
