import { randomUUID } from 'node:crypto';
import { flags } from './flags.ts';
import { type Server, startServer } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** Starts a single etcd of its own; without `fsync` it is quicker and loses data in a power cut. */
export async function startEtcd(command: string, { fsync }: { fsync: boolean }): Promise<Server & { url: string }> {
  const dir = tempFolder('etcd');
  const name = randomUUID();
  const server = await startServer({
    name: 'etcd',
    command,
    portCount: 2,
    args: ([client, peer]) => [
      ...flags({ name, 'data-dir': dir, logger: 'zap', 'log-level': 'warn' }),
      ...flags({ 'listen-client-urls': url(client), 'advertise-client-urls': url(client) }),
      ...flags({ 'listen-peer-urls': url(peer), 'initial-advertise-peer-urls': url(peer), 'initial-cluster': `${name}=${url(peer)}` }),
      ...(fsync ? [] : ['--unsafe-no-fsync']),
    ],
    isReady: async ([client]) => {
      const init = { method: 'POST', body: '{}', signal: AbortSignal.timeout(2_000) };
      const health = await fetch(`${url(client)}/health`, { signal: AbortSignal.timeout(2_000) });
      const members = await fetch(`${url(client)}/v3/cluster/member/list`, init);
      return health.ok && (await members.text()).includes(name);
    },
  });
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    url: url(server.ports[0]),
  };
}

const url = (port?: number) => `http://127.0.0.1:${port}`;
