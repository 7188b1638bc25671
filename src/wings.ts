/** The list of wings. A product without one of them is this tree without its folder and its line here. */
import type { Wing } from './service/compose/wing.ts';

export const wings: readonly Wing[] = [
  { id: 'bases', service: async () => (await import('./bases/service.ts')).service },
  { id: 'conversion', service: async () => (await import('./conversion/service.ts')).service },
  { id: 'notify', service: async () => (await import('./notify/service.ts')).service },
  { id: 'dashboard', service: async () => (await import('./dashboard/service.ts')).service },
];
