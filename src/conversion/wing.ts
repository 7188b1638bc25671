/** What the wing `conversion` adds to the product. Each part is imported where it is used. */
import type { Wing } from '../service/compose/wing.ts';
import { summaries } from './commands/summaries.ts';

export const conversion: Wing = {
  id: 'conversion',
  commands: [
    { name: 'crd', summary: summaries.crd, load: async (readGroup) => (await import('./commands/crd.ts')).createCrd(await readGroup()) },
  ],
  kinds: async () => (await import('./older-version.ts')).kinds,
  service: async () => (await import('./service.ts')).service,
};
