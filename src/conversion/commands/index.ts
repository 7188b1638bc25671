/** The commands of the wing. */
import type { WingCommand } from '../../service/compose/wing.ts';
import { summaries } from './summaries.ts';

export const commands: readonly WingCommand[] = [
  { name: 'crd', summary: summaries.crd, load: async (readGroup) => (await import('./crd.ts')).createCrd(await readGroup()) },
];
