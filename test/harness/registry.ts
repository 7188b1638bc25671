import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { stringify } from 'yaml';
import { findRegistry } from './binaries.ts';
import { type Faults, startServer } from './server.ts';
import { tempFolder } from './temp-folder.ts';
import type { TokenServer } from './token-server.ts';

/** A real container registry of its own, over plain HTTP. */
export type Registry = Faults & {
  /** Address and port, as in an image reference. */
  readonly host: string;
  readonly pid: number;
  /** Announces pushes there from now on (which takes a restart): for listeners that must know this registry's port first. */
  notify(target: NonNullable<RegistryOptions['notify']>): Promise<void>;
  logTail(lines?: number): string;
  stop(): Promise<void>;
};

export type RegistryOptions = {
  /** Where each event is posted, as the registry itself does it. */
  notify?: { url: string; headers?: Record<string, string>; timeout?: string };
  /** Asks everybody for this name and password. */
  htpasswd?: { user: string; password: string };
  /** Believes the tokens of a token server. */
  token?: TokenServer['auth'];
};

/** Starts the Distribution registry on a free loopback port; its content survives kill9() and restart(). */
export async function startRegistry({ notify, htpasswd, token }: RegistryOptions = {}): Promise<Registry> {
  const dir = tempFolder('registry');
  let notified = notify;
  const configFile = join(dir, 'config.yml');
  const identity = randomUUID();
  const auth = htpasswd ? { htpasswd: { realm: 'test', path: join(dir, 'htpasswd') } } : token && { token };
  if (htpasswd) writeFileSync(join(dir, 'htpasswd'), `${htpasswd.user}:${hashSync(htpasswd.password, 4)}\n`);
  const server = await startServer({
    name: 'registry',
    command: await findRegistry(),
    portCount: 1,
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
    args: ([port]) => {
      writeFileSync(configFile, stringify(configuration({ port, dir, identity, auth, notify: notified })));
      return ['serve', configFile];
    },
    isReady: async ([port]) => {
      const response = await fetch(`http://127.0.0.1:${port}/v2/`, { signal: AbortSignal.timeout(2_000) });
      await response.arrayBuffer();
      return response.headers.get('x-test-registry') === identity;
    },
  });
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    host: `127.0.0.1:${server.ports[0]}`,
    async notify(target) {
      notified = target;
      await server.restart();
    },
  };
}

type Needs = { port: number | undefined; dir: string; identity: string; auth: object | undefined; notify: RegistryOptions['notify'] };

function configuration({ port, dir, identity, auth, notify }: Needs): object {
  return {
    version: '0.1',
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, 'data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, secret: identity, headers: { 'X-Test-Registry': [identity] } },
    ...(auth && { auth }),
    ...(notify && { notifications: { endpoints: [endpoint(notify)] } }),
  };
}

// One failed attempt, then a pause: the registry keeps an event in memory until it is accepted.
function endpoint({ url, headers = {}, timeout = '1s' }: NonNullable<RegistryOptions['notify']>): object {
  const headerLists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return { name: 'test', url, headers: headerLists, timeout, threshold: 1, backoff: '200ms' };
}
