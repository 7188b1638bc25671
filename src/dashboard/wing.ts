/** What the wing `dashboard` adds to the product. */
import type { Wing } from '../service/compose/wing.ts';

export const dashboard: Wing = { id: 'dashboard', service: async () => (await import('./service.ts')).service };
