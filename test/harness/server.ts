import { freePort } from './free-port.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { GiveUp, waitFor } from './wait-for.ts';

/** What a test may do to a server: the ways in which real ones fail. */
export type Faults = {
  /** SIGKILL, as a power cut; resolves when the process is gone. */
  kill9(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Starts it again on the same ports with the same data, stopping it first if it runs; resolves when it is ready. */
  restart(): Promise<void>;
};

/** A server on loopback ports, ready to be used. */
export type Server = Faults & {
  readonly pid: number;
  readonly ports: readonly number[];
  logTail(lines?: number): string;
  /** SIGTERM, and SIGKILL after the deadline: 10 s unless given. */
  stop(deadlineMs?: number): Promise<void>;
};

export type ServerRecipe = {
  name: string;
  command: string;
  portCount: number;
  /** Written anew for each attempt, because another program may take a port first. */
  args: (ports: number[]) => string[];
  env?: NodeJS.ProcessEnv;
  /** True when it answers; must not be fooled by another server on the same port. */
  isReady: (ports: number[], pid: number) => Promise<boolean>;
};

const attempts = 5;

/** Starts a server on free ports and waits until it is ready; if it loses a port to another program it tries others. */
export async function startServer(recipe: ServerRecipe): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const ports = await Promise.all(Array.from({ length: recipe.portCount }, freePort));
    try {
      return server(recipe, ports, await startOn(recipe, ports));
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === attempts) throw error;
    }
  }
}

function server(recipe: ServerRecipe, ports: number[], first: RunningProcess): Server {
  let running = first;
  return {
    get pid() {
      return running.pid;
    },
    ports,
    logTail: (lines) => running.logTail(lines),
    freeze: () => running.kill('SIGSTOP'),
    thaw: () => running.kill('SIGCONT'),
    async kill9() {
      running.kill('SIGKILL');
      await running.exited;
    },
    async restart() {
      await running.stop();
      running = await startOn(recipe, ports, running.log);
    },
    async stop(deadlineMs) {
      await running.stop(deadlineMs);
    },
  };
}

async function startOn(recipe: ServerRecipe, ports: number[], log?: string): Promise<RunningProcess> {
  const { name, command, env } = recipe;
  const child = await startProcess(command, recipe.args(ports), { name, ...(env && { env }), ...(log && { log }) });
  try {
    const isReady = async () => {
      if (child.exit()) throw died(child);
      return recipe.isReady(ports, child.pid);
    };
    await waitFor(`${name} to be ready`, isReady, { intervalMs: 25 });
    return child;
  } catch (error) {
    await child.stop(0);
    if (error instanceof GiveUp) throw error;
    throw new Error(`${(error as Error).message}\n${child.logTail()}`, { cause: error });
  }
}

function died(child: RunningProcess): Error {
  const tail = child.logTail();
  const { code, signal } = child.exit() ?? {};
  const message = `${child.name} ended (${signal ?? `code ${code}`}) before it was ready:\n${tail}`;
  return /address already in use|EADDRINUSE/i.test(tail) ? new PortTaken(message) : new GiveUp(message);
}

class PortTaken extends GiveUp {}
