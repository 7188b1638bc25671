import { createLimiter, type Limiter } from './limiter.ts';
import type { RegistrySettings } from './registries.ts';

const defaultConcurrency = 8;

export interface HostLimitsOptions {
  settings: (host: string) => RegistrySettings | undefined;
  now?: (() => number) | undefined;
}

/** One limiter per host, so that a slow one never holds up another. */
export class HostLimits {
  readonly #limiters = new Map<string, Limiter>();
  readonly #options: HostLimitsOptions;

  constructor(options: HostLimitsOptions) {
    this.#options = options;
  }

  /** Waits for a turn at the host; answers the function that ends it. */
  async acquire(host: string, signal?: AbortSignal): Promise<() => void> {
    const { settings: find, now } = this.#options;
    const settings = find(host);
    const { concurrency = defaultConcurrency, requestsPerSecond } = settings ?? {};
    const limiter = this.#limiters.get(host) ?? createLimiter({ concurrency, requestsPerSecond, ...(now && { now }) });
    this.#limiters.set(host, limiter);
    const forget = () => {
      // Tenants choose hosts: only those of the configuration, whose pace must be remembered, are kept.
      if (!settings && limiter.isIdle) this.#limiters.delete(host);
    };
    try {
      const release = await limiter.acquire(signal);
      return () => {
        release();
        forget();
      };
    } catch (error) {
      forget();
      throw error;
    }
  }
}
