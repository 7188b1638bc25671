/** The commands of the wing. */
import type { WingCommand } from '../../service/compose/wing.ts';
import { summaries } from './summaries.ts';

export const commands: readonly WingCommand[] = [
  { name: 'notify', summary: summaries.notify, load: async () => (await import('./notify.ts')).notify },
];
