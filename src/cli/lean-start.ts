/** Restarts a process with settings that save memory. V8 and glibc read them only when a process starts. */

import { isSea } from 'node:sea';

/** The share of the container's memory that the heap may use. The default is half, although the process needs little besides its heap. */
const heapShare = '--max-old-space-size-percentage';
/** The options of Node, as in the Dockerfile. By default, garbage may take a third of the memory, with little benefit (docs/benchmarks.md). */
export const leanOptions = ['--max-semi-space-size=16', '--heap-growing-percent=30', `${heapShare}=70`, '--expose-gc'] as const;
/** Makes glibc return freed memory, which each thread keeps by default: 30 MB after a start. */
export const leanEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/** The options and the environment with which a process was started. */
export interface Start {
  /** The options of Node in process.execArgv. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The environment variable that prevents the restart. */
export const keepStart = 'IMAGE_WATCHER_KEEP_NODE_OPTIONS';

/** The options and environment for a restart; undefined if none is missing. An option or a variable that the user has set is kept. Pure. */
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
 * Replaces the process by one with the settings, which keeps its id, files and arguments. Returns if it has them, or where this is not possible: on Windows,
 * and in the executable of a release, which contains its options.
 */
export function startLean(env: Start['env']): void {
  const { execve, execPath, argv, execArgv, platform } = process;
  const script = argv[1];
  if (typeof execve !== 'function' || platform === 'win32' || script === undefined || isSea()) return;
  const start = leanStart({ options: execArgv, env });
  if (start !== undefined) execve.call(process, execPath, [execPath, ...start.options, ...argv.slice(1)], start.env);
}

/** The name of an option. V8 accepts both spellings, with hyphens and underscores. */
function nameOf(option: string): string {
  return (option.split('=')[0] ?? '').replaceAll('_', '-');
}
