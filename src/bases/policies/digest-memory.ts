/** The digests of tags, for all policies of the process. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';

/**
 * How old a known digest may be, 0 if it is known to be outdated; and what the status shows of the image. If another replica has read another digest since, or could
 * not read any, ours is outdated.
 */
export interface KnownFor {
  readonly lifeMs: number;
  readonly shown: { readonly digest?: string } | undefined;
  readonly signal: AbortSignal;
}

/**
 * Remembers digests. Policies that ask for the same tag at the same time share one request, unless one of them must not have an answer to an earlier question. Their age
 * is measured by a monotonic clock: one that is set back would make an old answer new.
 */
export class DigestMemory {
  /** What was read, and when it was asked for. Without a digest: what is asked for earlier is outdated. */
  readonly #known: BoundedMap<string, { readonly digest?: string; readonly at: number }>;
  readonly #flights = new SingleFlight<string | undefined>();

  readonly #elapsed: () => number;

  constructor(limit: number, elapsed = () => performance.now()) {
    this.#known = new BoundedMap(limit);
    this.#elapsed = elapsed;
  }

  /** The digest of a tag; `ask` asks the registry, and is passed whether no digest of the tag is known. */
  async read(
    key: string,
    { lifeMs, shown, signal }: KnownFor,
    ask: (signal: AbortSignal, isNew: boolean) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const known = this.#known.get(key);
    const isNew = known?.digest === undefined && shown === undefined;
    const isKnown =
      known?.digest !== undefined && this.#elapsed() - known.at < lifeMs && (shown === undefined || shown.digest === known.digest);
    if (isKnown) return known.digest;
    const read = async (signal: AbortSignal) => {
      const at = this.#elapsed();
      // What is outdated stays so, also if the registry does not answer.
      if (lifeMs === 0) this.#known.set(key, { at });
      const digest = await ask(signal, isNew);
      if (digest !== undefined && at >= (this.#known.get(key)?.at ?? 0)) this.#known.set(key, { digest, at });
      return digest;
    };
    return lifeMs > 0 ? this.#flights.run(key, read, signal) : read(signal);
  }
}
