import { keepStart } from '../../src/cli/lean-start.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { mainProgram } from './program.ts';
import { startServer, type Server } from './server.ts';
import { tempFolder } from './temp-folder.ts';

/** The program itself, as a process of its own, with a configuration of its own. */
export type Service = Server & {
  readonly publicUrl: string;
  readonly operationsUrl: string;
  /** Where ConversionReviews go, over TLS. */
  readonly conversionUrl: string;
};

export type ServiceOptions = {
  redisUrl: string;
  kubeconfig?: string;
  roles?: string;
  /** More settings of the public listener. */
  listen?: Record<string, unknown>;
  /** Whatever else belongs into the configuration file. */
  config?: Record<string, unknown>;
  /** Resolves as soon as the listeners answer, ready or not. */
  untilReady?: boolean;
  env?: Record<string, string>;
  /** What runs the commands of the program; Node and `mainProgram()`, unless given. The configuration file is there when `args` are asked for. */
  program?: { command: string; args: (configFile: string) => string[] };
};

/** In hand may be what takes 25 s. */
const patienceMs = 60_000;

/** Starts `image-watcher serve` and waits until it is ready; kill9() and restart() keep ports and configuration. */
export async function startService({
  redisUrl,
  kubeconfig,
  roles,
  listen = {},
  config = {},
  untilReady = true,
  env = {},
  program,
}: ServiceOptions): Promise<Service> {
  const { command, args: programArgs } = program ?? (await nodeProgram());
  const file = join(tempFolder('service'), 'config.yaml');
  const server = await startServer({
    name: 'image-watcher',
    command,
    portCount: 3,
    args: ([publicPort, operationsPort, conversionPort]) => {
      const { conversion, operations, ...rest } = config;
      const listeners = {
        listen: { host: '127.0.0.1', port: publicPort, ...listen },
        operations: { host: '127.0.0.1', port: operationsPort, ...(operations as object | undefined) },
        // The namespace exists in every cluster, so that the certificate can be kept there.
        namespace: 'default',
      };
      const ownConversion = { host: '127.0.0.1', port: conversionPort, names: ['127.0.0.1'], ...(conversion as object | undefined) };
      writeFileSync(file, stringify({ ...listeners, redis: { url: redisUrl }, conversion: ownConversion, ...rest }));
      return [...programArgs(file), 'serve', '--config', file, ...(roles === undefined ? [] : ['--roles', roles])];
    },
    // A start of its own is tested once (test/cli/lean-start.test.ts), and costs a second start here.
    env: {
      ...withoutSettings(process.env),
      [keepStart]: '1',
      ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }),
      LOG_LEVEL: 'debug',
      ...env,
    },
    isReady: async ([, operationsPort]) => {
      const answer = await fetch(`http://127.0.0.1:${operationsPort}/readyz?verbose`);
      const text = await answer.text();
      if (!untilReady) return true;
      return answer.ok && !/^\[!\]kubernetes/m.test(text);
    },
  });
  const [publicPort, operationsPort, conversionPort] = server.ports;
  return {
    ...server,
    /** Given as long as Kubernetes gives it, and a slow machine besides. */
    stop: (deadlineMs = patienceMs) => server.stop(deadlineMs),
    async restart() {
      await server.stop(patienceMs);
      await server.restart();
    },
    get pid() {
      return server.pid;
    },
    publicUrl: `http://127.0.0.1:${publicPort}`,
    operationsUrl: `http://127.0.0.1:${operationsPort}`,
    conversionUrl: `https://127.0.0.1:${conversionPort}/convert`,
  };
}

async function nodeProgram(): Promise<NonNullable<ServiceOptions['program']>> {
  const main = await mainProgram();
  return { command: process.execPath, args: () => [main] };
}

/** Settings of whoever runs the tests must not leak into the service. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = new Set([
    'REDIS_URL',
    'KUBECONFIG',
    'LOG_LEVEL',
    'PORT',
    'IMAGE_WATCHER_CONFIG',
    'NODE_TEST_CONTEXT',
    'NODE_OPTIONS',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
