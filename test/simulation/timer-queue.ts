/** The timers of the simulation, by their time, and in the order in which they were set where that is the same: a binary heap. */
import type { Process } from './process.ts';

export interface Entry {
  readonly at: number;
  readonly order: number;
  readonly process: Process | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}

export interface TimerQueue {
  add(at: number, process: Process | undefined, run: () => void): Entry;
  cancel(entry: Entry): void;
  /** Removes and returns the first one that is due by then. */
  takeFirst(until: number): Entry | undefined;
}

export function createTimerQueue(): TimerQueue {
  const heap: Entry[] = [];
  let order = 0;
  const isBefore = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]];
    return one !== undefined && other !== undefined && (one.at < other.at || (one.at === other.at && one.order < other.order));
  };
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  };
  const rise = (from: number) => {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  };
  const sink = () => {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const smallest = [left, left + 1].reduce((least, child) => (isBefore(child, least) ? child : least), parent);
      if (smallest === parent) return;
      swap(parent, smallest);
      parent = smallest;
    }
  };
  const removeFirst = (): Entry | undefined => {
    const [first] = heap;
    const last = heap.pop();
    if (heap.length > 0 && last !== undefined) {
      heap[0] = last;
      sink();
    }
    return first;
  };
  return {
    add(at, process, run) {
      const entry = { at, order: order++, process, run, isCancelled: false };
      heap.push(entry);
      rise(heap.length - 1);
      return entry;
    },
    cancel(entry) {
      entry.isCancelled = true;
    },
    takeFirst(until) {
      while (heap[0] !== undefined && heap[0].at <= until) {
        const first = removeFirst();
        if (first?.isCancelled === false) return first;
      }
      return undefined;
    },
  };
}
