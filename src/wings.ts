/** The list of wings. A product without one of them is this tree without its folder and its line here. */
import { commands as basesCommands } from './bases/commands/index.ts';
import { commands as conversionCommands } from './conversion/commands/index.ts';
import { commands as notifyCommands } from './notify/commands/index.ts';
import type { Wing } from './service/compose/wing.ts';

export const wings: readonly Wing[] = [
  {
    id: 'bases',
    commands: basesCommands,
    kinds: async () => ({ kinds: [(await import('./bases/resource/kind.ts')).baseImagePolicy] }),
    service: async () => (await import('./bases/service.ts')).service,
  },
  {
    id: 'conversion',
    commands: conversionCommands,
    kinds: async () => (await import('./conversion/older-version.ts')).kinds,
    service: async () => (await import('./conversion/service.ts')).service,
  },
  {
    id: 'notify',
    commands: notifyCommands,
    kinds: async () => ({ kinds: [(await import('./notify/resource/kind.ts')).notificationTarget] }),
    service: async () => (await import('./notify/service.ts')).service,
  },
  { id: 'dashboard', service: async () => (await import('./dashboard/service.ts')).service },
];
