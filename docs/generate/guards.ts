import { guardTexts } from '../explanations/guards.ts';
import { guards } from '../../src/core/plan/guards/index.ts';
import type { Parts } from './template.ts';

/** The part of docs/templates/guards.md. */
export const guardParts: Parts = {
  /** The chain as a picture, in the order of the list. A thick border: the guard applies to a rollback that a user asked for, too. */
  chain: () => {
    const steps = guards.flatMap(({ id, bindsRollback }, index) => {
      const text = guardTexts[id];
      if (text === undefined) throw new Error(`docs/explanations/guards.ts has no text for the guard ${id}`);
      const next = index + 1 < guards.length ? `guard${index + 1}` : 'patch';
      return [
        `  guard${index}{{"<b>${id}</b><br>${text.stops}?"}}`,
        `  guard${index} -- yes --> stop${index}["${text.shownAs}<br>${text.reason}"]`,
        `  guard${index} -- no --> ${next}`,
        ...(bindsRollback ? [`  class guard${index} rollback`] : []),
      ];
    });
    return [
      '```mermaid',
      'flowchart TD',
      '  plan(["a container should get another image"]) --> guard0',
      ...steps,
      '  patch(["one patch for the workload"])',
      '  classDef rollback stroke-width:4px',
      '```',
    ].join('\n');
  },
};
