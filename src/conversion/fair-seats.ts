/** Releases a seat; calling it again has no effect. */
export type ReleaseSeat = () => void;

export interface Seats {
  /** Waits for a seat; undefined if too many of the flow are waiting, if none becomes free in time, or if `signal` aborts. */
  take(flow: string, signal: AbortSignal): Promise<ReleaseSeat | undefined>;
}

export interface SeatOptions {
  readonly seats: number;
  /** The maximum number of seats of one flow, so that others find a seat. */
  readonly seatsPerFlow: number;
  readonly maxQueuedPerFlow: number;
  readonly maxWaitMs: number;
}

type Grant = (seat: ReleaseSeat | undefined) => void;

/**
 * Creates seats that are granted to flows in turn, like the fair queuing of the API server. A flow is a sender, such as an address. A sender of many requests
 * waits for its own, and does not delay others.
 */
export function createFairSeats({ seats, seatsPerFlow, maxQueuedPerFlow, maxWaitMs }: SeatOptions): Seats {
  const taken = new Map<string, number>();
  let free = seats;
  // The flows with waiting requests, in the order in which they are served.
  const queues = new Map<string, Set<Grant>>();

  const isFreeFor = (flow: string) => free > 0 && (taken.get(flow) ?? 0) < seatsPerFlow;
  const seat = (flow: string): ReleaseSeat => {
    free--;
    taken.set(flow, (taken.get(flow) ?? 0) + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      free++;
      const left = (taken.get(flow) ?? 1) - 1;
      if (left === 0) taken.delete(flow);
      else taken.set(flow, left);
      serveNext();
    };
  };
  const leave = (flow: string, grant: Grant) => {
    const queue = queues.get(flow);
    queue?.delete(grant);
    if (queue?.size === 0) queues.delete(flow);
  };
  const serveNext = () => {
    for (const [flow, queue] of queues) {
      if (!isFreeFor(flow)) continue;
      const [grant] = queue;
      if (grant === undefined) continue;
      // The flow is moved to the end, so that all others are served before.
      queues.delete(flow);
      if (queue.size > 1) queues.set(flow, queue);
      grant(seat(flow));
      return;
    }
  };

  return {
    take(flow, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (!queues.has(flow) && isFreeFor(flow)) return Promise.resolve(seat(flow));
      const queue = queues.get(flow) ?? new Set<Grant>();
      if (queue.size >= maxQueuedPerFlow) return Promise.resolve(undefined);
      queues.set(flow, queue);
      return new Promise((resolve) => {
        const giveUp = () => grant(undefined);
        const timer = setTimeout(giveUp, maxWaitMs);
        const grant: Grant = (granted) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          leave(flow, grant);
          resolve(granted);
        };
        signal.addEventListener('abort', giveUp);
        queue.add(grant);
      });
    },
  };
}
