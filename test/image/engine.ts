import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flags } from '../harness/flags.ts';
import { installDebianPackage } from '../harness/install-debian-package.ts';
import { findOnPath, runCommand } from '../harness/run-command.ts';
import { startServer, type Server } from '../harness/server.ts';
import { tempFolder } from '../harness/temp-folder.ts';

/** A Docker engine that answers. */
export interface Engine {
  readonly client: string;
  /** What comes before the command: which engine is meant. */
  readonly host: readonly string[];
  /** Runs `docker ARGS…` to its end; what it wrote, or an Error with the end of that. */
  docker(args: readonly string[], timeoutMs?: number): Promise<string>;
  /** Ends the engine if it is ours. */
  stop(): Promise<void>;
}

/** The engine of this machine or, as root on Debian, one of our own; otherwise the reason why there is none. */
export async function findEngine(): Promise<Engine | string> {
  const client = findOnPath(['docker']);
  if (client !== undefined) {
    const engine = engineOf(client, [], async () => undefined);
    const version = await versionOf(engine).catch(() => undefined);
    if (version !== undefined) {
      say(`using the Docker engine ${version} of this machine`);
      return engine;
    }
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'no Docker engine answers, and only root on Linux can start one';
  try {
    if (daemon() === undefined) await installDebianPackage('docker.io');
    return await startEngine();
  } catch (error) {
    return `no Docker engine answers, and none can be started: ${(error as Error).message}`;
  }
}

const daemon = () => findOnPath(['dockerd'], ['/usr/sbin', '/usr/local/sbin']);
const versionOf = async (engine: Engine) => (await engine.docker(['version', '--format', '{{.Server.Version}}'], 20_000)).trim();
const say = (message: string) => process.stderr.write(`${message}\n`);

/** With data, socket and containers of its own, and no network but the host's: it changes nothing of this machine. */
async function startEngine(): Promise<Engine> {
  const command = daemon();
  // The client beside the daemon builds with BuildKit alone; a newer one may want a plugin for that.
  const client = ['/usr/bin/docker'].find(existsSync) ?? findOnPath(['docker']);
  if (command === undefined || client === undefined) throw new Error('the package docker.io has brought no dockerd or no docker');
  const folder = tempFolder('engine');
  const socket = `unix://${join(folder, 'docker.sock')}`;
  let server: Server | undefined;
  const engine = engineOf(client, ['--host', socket], async () => {
    await server?.stop();
    endContainersOf(folder);
    await unmountBelow(folder);
  });
  server = await startServer({
    name: 'dockerd',
    command,
    portCount: 0,
    args: () => [
      ...flags({ host: socket, pidfile: join(folder, 'pid'), bridge: 'none' }),
      ...flags({ 'data-root': join(folder, 'data'), 'exec-root': join(folder, 'exec') }),
      '--ip-forward=false',
      '--iptables=false',
      '--ip6tables=false',
    ],
    isReady: async () => (await versionOf(engine)) !== '',
  });
  say(`started a Docker engine of our own, ${await versionOf(engine)}, in ${folder}`);
  return engine;
}

function engineOf(client: string, host: readonly string[], stop: () => Promise<void>): Engine {
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  return {
    client,
    host,
    docker: (args, timeoutMs = 600_000) => runCommand(client, [...host, ...args], { env, timeoutMs }),
    stop,
  };
}

/** A build that is interrupted goes on without its engine: what has its root in the folder is ours. */
function endContainersOf(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
      const root = mounts.find((line) => line.split(' ')[4] === '/');
      if (root?.includes(`${folder}/`)) process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      // It has ended meanwhile.
      if (!['ENOENT', 'ESRCH', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** The engine leaves its network namespace mounted, and what is mounted cannot be removed. */
async function unmountBelow(folder: string): Promise<void> {
  const mounted = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const below = mounted.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) await runCommand('umount', ['--lazy', path]);
}
