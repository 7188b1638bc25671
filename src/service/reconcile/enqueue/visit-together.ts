import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Enqueuer } from './enqueuer.ts';

/**
 * Returns a function that has all policies visited because something has changed. They are visited in slices, and what changes meanwhile is visited together:
 * whoever owns one object may change it at any rate, and may have many policies depend on it.
 */
export function visitTogether(
  { visitAll }: Pick<Enqueuer, 'visitAll'>,
  visit: (policy: ImagePolicy, changed: ReadonlySet<string>) => void,
): (key: string) => void {
  let changed = new Set<string>();
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (changed.size > 0) {
      const keys = changed;
      changed = new Set();
      await visitAll((policy) => visit(policy, keys));
    }
    isRunning = false;
  };
  return (key) => {
    changed.add(key);
    if (!isRunning) void run();
  };
}
