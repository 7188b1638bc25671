/** A place to be served, and the function that gives it back. */
export type GiveUpSeat = () => void;

export interface Seats {
  /** Waits for a seat; undefined when too many of that flow wait, when none came free in time, or when `signal` aborts. */
  take(flow: string, signal: AbortSignal): Promise<GiveUpSeat | undefined>;
}

export interface SeatOptions {
  readonly seats: number;
  /** How many of them one flow may have: somebody else always finds one. */
  readonly seatsPerFlow: number;
  readonly maxQueuedPerFlow: number;
  readonly maxWaitMs: number;
}

type Wake = (seat: GiveUpSeat | undefined) => void;

/**
 * Seats that flows take in turns, as in the fair queuing of the API server: whoever sends much waits behind himself, not in front of others. A flow is who
 * sends, such as an address.
 */
export function createFairSeats({ seats, seatsPerFlow, maxQueuedPerFlow, maxWaitMs }: SeatOptions): Seats {
  const taken = new Map<string, number>();
  let free = seats;
  // In the order of their turns; a flow without anybody who waits is not here.
  const queues = new Map<string, Set<Wake>>();

  const isFreeFor = (flow: string) => free > 0 && (taken.get(flow) ?? 0) < seatsPerFlow;
  const seat = (flow: string): GiveUpSeat => {
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
  const leave = (flow: string, wake: Wake) => {
    const queue = queues.get(flow);
    queue?.delete(wake);
    if (queue?.size === 0) queues.delete(flow);
  };
  const serveNext = () => {
    for (const [flow, queue] of queues) {
      if (!isFreeFor(flow)) continue;
      const [wake] = queue;
      if (wake === undefined) continue;
      // Its next turn comes after those of all others.
      queues.delete(flow);
      if (queue.size > 1) queues.set(flow, queue);
      wake(seat(flow));
      return;
    }
  };

  return {
    take(flow, signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (!queues.has(flow) && isFreeFor(flow)) return Promise.resolve(seat(flow));
      const queue = queues.get(flow) ?? new Set<Wake>();
      if (queue.size >= maxQueuedPerFlow) return Promise.resolve(undefined);
      queues.set(flow, queue);
      return new Promise((resolve) => {
        const giveUp = () => wake(undefined);
        const timer = setTimeout(giveUp, maxWaitMs);
        const wake: Wake = (granted) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          leave(flow, wake);
          resolve(granted);
        };
        signal.addEventListener('abort', giveUp);
        queue.add(wake);
      });
    },
  };
}
