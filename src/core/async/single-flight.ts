import { abortable } from './deadline.ts';

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Simultaneous runs with the same key share one piece of work and its result. A caller may stop waiting. The work is aborted when no caller waits for it any
 * more.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting++;
    try {
      return await abortable(flight.outcome, signal);
    } finally {
      if (--flight.waiting === 0) {
        this.#end(key, flight);
        flight.controller.abort(signal?.reason);
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    // The flight is removed before its first caller continues, so that a new call starts new work.
    const outcome = work(controller.signal).finally(() => this.#end(key, flight));
    const flight: Flight<T> = { outcome, controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
