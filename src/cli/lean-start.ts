/** The service with little memory, however it is started: V8 and glibc read these settings only when a process starts. */

import { isSea } from 'node:sea';

/** By itself, Node ends when its heap has reached half of the memory of the container, although the process needs little besides its heap. */
const heapShare = '--max-old-space-size-percentage';
/** By itself, Node lets garbage grow by what it thinks the machine has: a third of the memory, which buys little here (docs/benchmarks.md). The same as in the Dockerfile. */
export const leanOptions = ['--max-semi-space-size=16', '--heap-growing-percent=30', `${heapShare}=70`, '--expose-gc'] as const;
/** glibc otherwise keeps what each thread has freed: 30 MB after a start. */
export const leanEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/** How a process was started. */
export interface Start {
  /** The options of Node, as in process.execArgv. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Keeps the process as it was started. */
export const keepStart = 'IMAGE_WATCHER_KEEP_NODE_OPTIONS';

/** With what it is to be started anew; undefined if nothing is missing. An option or a variable that the user has set is kept. Pure. */
export function leanStart({
  options,
  env,
}: Start): { readonly options: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined {
  if (env[keepStart] !== undefined) return undefined;
  const given = new Set([...options, ...(env['NODE_OPTIONS'] ?? '').split(/\s+/)].map(nameOf));
  const isGiven = (name: string) => given.has(name) || (name === heapShare && given.has('--max-old-space-size'));
  const missing = leanOptions.filter((option) => !isGiven(nameOf(option)));
  if (missing.length === 0) return undefined;
  const known = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return { options: [...options, ...missing], env: { ...leanEnvironment, ...Object.fromEntries(known) } };
}

/**
 * Replaces the process by one that has the settings: its id, its files and its arguments stay the same. Returns if it has them, or where that is not possible: on
 * Windows, and in the executable of a release, which contains its options.
 */
export function startLean(env: Start['env']): void {
  const { execve, execPath, argv, execArgv, platform } = process;
  const script = argv[1];
  if (typeof execve !== 'function' || platform === 'win32' || script === undefined || isSea()) return;
  const start = leanStart({ options: execArgv, env });
  if (start !== undefined) execve.call(process, execPath, [execPath, ...start.options, ...argv.slice(1)], start.env);
}

/** V8 takes both spellings. */
function nameOf(option: string): string {
  return (option.split('=')[0] ?? '').replaceAll('_', '-');
}
