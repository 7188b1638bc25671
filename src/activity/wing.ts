/** What the wing `activity` adds to the product. Each part is imported where it is used. */
import type { Wing } from '../service/compose/wing.ts';

export const activity: Wing = {
  id: 'activity',
  service: async () => (await import('./service.ts')).service,
};
