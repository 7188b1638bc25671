import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';

// A shell that reads, over a pipe only we hold, what belongs to us, and removes it when the pipe closes. The kernel closes the pipe however we end,
// SIGKILL included, on every Unix; signal handlers and "exit" events do not cover that, and PR_SET_PDEATHSIG exists on Linux only.
const script = `
PATH="$PATH:/usr/bin:/bin"; pids=' '; folders=''
while read -r what value; do
  case $what in
    +pid) pids="$pids$value " ;;
    -pid) pids="\${pids%% $value *} \${pids#* $value }" ;;
    +folder) folders="$folders$value
" ;;
  esac
done
for pid in $pids; do kill -9 "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null; done
printf %s "$folders" | while read -r folder; do rm -rf "$folder"; done
`;

const pids = new Set<number>();
const folders = new Set<string>();
let pipe: Socket | undefined;

/** From now on the process group of `pid` is killed when this process ends, in whatever way. */
export function guardProcess(pid: number): void {
  pids.add(pid);
  sendLine(`+pid ${pid}`);
}

/** The process has ended: its id may soon belong to somebody else. */
export function releaseProcess(pid: number): void {
  pids.delete(pid);
  sendLine(`-pid ${pid}`);
}

/** From now on the folder is removed when this process ends, in whatever way. */
export function guardFolder(folder: string): void {
  folders.add(folder);
  sendLine(`+folder ${folder}`);
}

function sendLine(line: string): void {
  pipe ??= startWatchdog();
  pipe.write(`${line}\n`);
}

function startWatchdog(): Socket {
  // Detached, so that Ctrl-C in the terminal does not end it before its work is done.
  const watchdog = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Where there is no such shell, the orderly endings below are still covered.
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  const socket = watchdog.stdin as unknown as Socket;
  socket.unref();
  process.once('exit', endAll);
  return socket;
}

// On orderly endings nothing is left even for the moment that the watchdog needs.
function endAll(): void {
  for (const pid of pids) killGroup(pid, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Sends a signal to a process group that we started; one that has ended is fine. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
