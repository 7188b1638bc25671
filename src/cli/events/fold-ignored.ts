/** Folds what `events --follow` would repeat: registries also announce each pull, those of image-watcher itself among them, and receivers ignore them. */
import type { EventView } from '../../service/api/event-view.ts';

/** What to show of an event: lines that stand before it, and whether it is shown itself. */
export interface Folded {
  readonly before: readonly string[];
  readonly isShown: boolean;
}

/** For each event, in the order in which they are shown. An event that is no push is shown once for each repository; the next ones are counted, until there is something else. */
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
