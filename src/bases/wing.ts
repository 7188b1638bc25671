/** What the wing adds to the product. Each part is loaded where it is used. */
import type { Wing } from '../service/compose/wing.ts';
import { summaries } from './commands/summaries.ts';

export const bases: Wing = {
  id: 'bases',
  commands: [
    { name: 'bases', summary: summaries.bases, load: async () => (await import('./commands/bases.ts')).bases },
    { name: 'rebase', summary: summaries.rebase, load: async () => (await import('./commands/rebase.ts')).rebase },
  ],
  kinds: async () => ({ kinds: [(await import('./resource/kind.ts')).baseImagePolicy] }),
  service: async () => (await import('./service.ts')).service,
};
