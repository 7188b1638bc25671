/** What the wing `notify` adds to the product. Each part is imported where it is used. */
import type { Wing } from '../service/compose/wing.ts';
import { summaries } from './commands/summaries.ts';

export const notify: Wing = {
  id: 'notify',
  commands: [{ name: 'notify', summary: summaries.notify, load: async () => (await import('./commands/notify.ts')).notify }],
  kinds: async () => ({ kinds: [(await import('./resource/kind.ts')).notificationTarget] }),
  service: async () => (await import('./service.ts')).service,
};
