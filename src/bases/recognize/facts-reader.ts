/** Reads facts about images once, and caches them by digest in memory and in a store that all replicas share. */
import { hash } from 'node:crypto';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import type { RegistryAliases } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import { type BuildFacts, formatFacts, parseFacts } from './facts.ts';
import { type FactsRegistry, type ReadContext, readFacts } from './read-facts.ts';

/** A bounded store of untrusted texts. It never rejects: a failed read or write only costs requests to registries. */
export interface FactsStore {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

/** Stores nothing: for commands, which run once. */
export const noStore: FactsStore = { read: () => Promise.resolve(undefined), write: () => Promise.resolve() };

/** A cached reader of facts. */
export interface FactsReader {
  /**
   * The facts about a digest; undefined for 404. A digest that was read before with the same access costs no request. `bytes`: its manifest, if that was read
   * already, and checked against the digest.
   */
  read(source: ImageSource, digest: string, signal: AbortSignal, bytes?: Buffer): Promise<BuildFacts | undefined>;
}

export interface FactsReaderOptions {
  readonly registry: FactsRegistry;
  readonly store: FactsStore;
  readonly aliases: RegistryAliases;
  readonly now: () => number;
  /** The known versions of a source's credentials: a read with newer ones does not join one that may be refused. */
  readonly credentialVersions?: (source: ImageSource) => string;
  /** The maximum number of images in memory. */
  readonly limit?: number;
}

/** Facts are read again after this time, because attestations may be pushed after an image. */
const lifeMs = 7 * 24 * 3_600_000;

/** Creates a reader. Reads of the same image share their requests. */
export function createFactsReader(options: FactsReaderOptions): FactsReader {
  const { registry, store, aliases, now, credentialVersions = () => '', limit = 10_000 } = options;
  const cached = new BoundedMap<string, { readonly facts: BuildFacts; readonly until: number }>(limit);
  const flights = new SingleFlight<BuildFacts | undefined>();

  const load = async (key: string, digest: string, context: Pick<ReadContext, 'source' | 'signal'>, bytes: Buffer | undefined) => {
    const stored = await store.read(key);
    const known = stored === undefined ? undefined : parseFacts(stored, digest);
    const facts = known ?? (await readFacts(digest, { registry, aliases, ...context }, bytes));
    if (facts !== undefined) cached.set(key, { facts, until: now() + lifeMs });
    if (facts !== undefined && known === undefined) await store.write(key, formatFacts(facts));
    return facts;
  };

  return {
    async read(source, digest, signal, bytes) {
      // Facts, like all answers of registries, are shared only between requests with the same access.
      const key = hash('sha256', sourceKey(source, digest), 'base64url');
      const entry = cached.get(key);
      if (entry !== undefined && entry.until > now()) return entry.facts;
      return flights.run(`${key} ${credentialVersions(source)}`, (signal) => load(key, digest, { source, signal }, bytes), signal);
    },
  };
}
