/** The list of commands. Each is imported when it is used, because all together take more than half a second of CPU time. */
import type { CommandEntry } from '../service/command-line/command.ts';
import { wings } from '../wings.ts';
import { readGroup } from './resource-group.ts';
import { summaries, type CommandName } from './summaries.ts';

const loaders: Readonly<Record<CommandName, CommandEntry['load']>> = {
  serve: async () => (await import('./serve.ts')).serve,
  doctor: async () => (await import('./doctor.ts')).doctor,
  init: async () => (await import('./init.ts')).init,
  lint: async () => (await import('./lint.ts')).lint,
  test: async () => (await import('./test.ts')).test,
  backtest: async () => (await import('./backtest.ts')).backtest,
  simulate: async () => (await import('./simulate.ts')).simulate,
  get: async () => (await import('./get.ts')).get,
  explain: async () => (await import('./explain.ts')).explain,
  diff: async () => (await import('./diff.ts')).diff,
  run: async () => (await import('./run.ts')).run,
  events: async () => (await import('./events.ts')).events,
  replay: async () => (await import('./replay.ts')).replay,
  announce: async () => (await import('./announce.ts')).announce,
  consents: async () => (await import('./consents.ts')).consents,
  check: async () => (await import('./policy-commands.ts')).check,
  approve: async () => (await import('./approval-commands.ts')).approve,
  reject: async () => (await import('./approval-commands.ts')).reject,
  promote: async () => (await import('./decision-commands.ts')).promote,
  hold: async () => (await import('./decision-commands.ts')).hold,
  rollback: async () => (await import('./policy-commands.ts')).rollback,
  suspend: async () => (await import('./policy-commands.ts')).suspend,
  resume: async () => (await import('./policy-commands.ts')).resume,
  release: async () => (await import('./release.ts')).release,
  import: async () => (await import('./import.ts')).importCommand,
  'generate-password': async () => (await import('./generate-password.ts')).generatePassword,
  completion: async () => (await import('./completion.ts')).completion,
  version: async () => (await import('./version.ts')).version,
};

const own = Object.entries(loaders).map(([name, load]): CommandEntry => ({ name, summary: summaries[name as CommandName], load }));
const ofWings = wings.flatMap(({ commands: added = [] }) =>
  added.map(({ load, ...entry }): CommandEntry => ({ ...entry, load: () => load(readGroup) })),
);
/** Commands of wings are listed after the commands about policies, pushes and running images. */
const place = own.findIndex(({ name }) => name === 'replay') + 1;

export const commands: readonly CommandEntry[] = [...own.slice(0, place), ...ofWings, ...own.slice(place)];
