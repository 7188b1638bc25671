/** Folds the repetitions in `events --follow`: registries also announce each pull, including those of image-watcher, and receivers ignore them. */
import type { EventView } from '../../service/api/event-view.ts';

/** How to show an event: the lines before it, and whether it is shown itself. */
export interface Folded {
  readonly before: readonly string[];
  readonly isShown: boolean;
}

/** Creates a function to call for each shown event. An ignored event is shown once for each repository; further ones are counted until another comes. */
export function createFold(): (event: EventView) => Folded {
  const counts = new Map<string, number>();
  const folded = new Map<string, number>();
  return (event) => {
    const { receiver, registry, repository, outcome, reason, id, count = 1 } = event;
    if (outcome !== 'ignored' || reason !== 'OtherEvent') {
      const before = [...folded].map(([of, more]) => `    … ${more} more ignored (${of})`);
      folded.clear();
      return { before, isShown: true };
    }
    const more = count - (counts.get(id) ?? 0);
    const kind = JSON.stringify([receiver, registry, repository]);
    const isShown = !counts.has(kind);
    counts.set(kind, count).set(id, count);
    const of = `${reason}, ${receiver}`;
    if (!isShown) folded.set(of, (folded.get(of) ?? 0) + Math.max(more, 1));
    return { before: [], isShown };
  };
}
