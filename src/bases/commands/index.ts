/** The commands of the wing. */
import type { WingCommand } from '../../service/compose/wing.ts';
import { summaries } from './summaries.ts';

export const commands: readonly WingCommand[] = [
  { name: 'bases', summary: summaries.bases, load: async () => (await import('./bases.ts')).bases },
  { name: 'rebase', summary: summaries.rebase, load: async () => (await import('./rebase.ts')).rebase },
];
