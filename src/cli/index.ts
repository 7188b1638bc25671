/** The list of commands. Each is loaded when it is used: all of them together take more than half a second of a processor. */
import type { CommandEntry } from '../service/command-line/command.ts';
import { summaries, type CommandName } from './summaries.ts';

const loaders: Readonly<Record<CommandName, CommandEntry['load']>> = {
  serve: async () => (await import('./serve.ts')).serve,
  crd: async () => (await import('./crd.ts')).crd,
  doctor: async () => (await import('./doctor.ts')).doctor,
  init: async () => (await import('./init.ts')).init,
  lint: async () => (await import('./lint.ts')).lint,
  simulate: async () => (await import('./simulate.ts')).simulate,
  get: async () => (await import('./get.ts')).get,
  explain: async () => (await import('./explain.ts')).explain,
  diff: async () => (await import('./diff.ts')).diff,
  run: async () => (await import('./run.ts')).run,
  bases: async () => (await import('../bases/commands/bases.ts')).bases,
  rebase: async () => (await import('../bases/commands/rebase.ts')).rebase,
  events: async () => (await import('./events.ts')).events,
  replay: async () => (await import('./replay.ts')).replay,
  notify: async () => (await import('../notify/commands/notify.ts')).notify,
  consents: async () => (await import('./consents.ts')).consents,
  check: async () => (await import('./policy-commands.ts')).check,
  approve: async () => (await import('./policy-commands.ts')).approve,
  rollback: async () => (await import('./policy-commands.ts')).rollback,
  suspend: async () => (await import('./policy-commands.ts')).suspend,
  resume: async () => (await import('./policy-commands.ts')).resume,
  release: async () => (await import('./policy-commands.ts')).release,
  import: async () => (await import('./import.ts')).importCommand,
  'generate-password': async () => (await import('./generate-password.ts')).generatePassword,
  completion: async () => (await import('./completion.ts')).completion,
  version: async () => (await import('./version.ts')).version,
};

export const commands: readonly CommandEntry[] = Object.entries(loaders).map(([name, load]) => ({
  name,
  summary: summaries[name as CommandName],
  load,
}));
