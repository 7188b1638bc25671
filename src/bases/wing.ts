/** What the wing `bases` adds to the product. Each part is imported where it is used. */
import type { Wing } from '../service/compose/wing.ts';
import { summaries } from './commands/summaries.ts';

export const bases: Wing = {
  id: 'bases',
  commands: [
    { name: 'bases', summary: summaries.bases, load: async () => (await import('./commands/bases.ts')).bases },
    { name: 'rebase', summary: summaries.rebase, load: async () => (await import('./commands/rebase.ts')).rebase },
  ],
  kinds: async () => {
    const { baseImagePolicy, baseImageRecord } = await import('./resource/kind.ts');
    return { kinds: [baseImagePolicy, baseImageRecord] };
  },
  service: async () => (await import('./service.ts')).service,
};
