/** What the wing `activity` adds to the product. Each part is imported where it is used. */
import type { Wing } from '../service/compose/wing.ts';
import { summaries } from './commands/summaries.ts';

export const activity: Wing = {
  id: 'activity',
  commands: [{ name: 'history', summary: summaries.history, load: async () => (await import('./commands/history.ts')).history }],
  service: async () => (await import('./service.ts')).service,
};
