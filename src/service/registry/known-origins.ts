/** Knows where images were built from, without a wait for a registry: what is not known yet is read in the background, and known to a later caller. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import type { ImageOrigin } from '../../core/model/image-origin.ts';
import { isDigest } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import type { ReadOrigin } from './origins.ts';

/** The most images that are remembered, that wait to be read, and that are read at the same time. */
const [maxKnown, maxWaiting, maxAtOnce] = [2_000, 256, 4];
/** The most reads in an hour, because registries limit pulls. */
const [maxReads, hourMs] = [1_000, 3_600_000];
const readMs = 5_000;
/** The origin of a tag, which may be moved, and of an image that could not be read, is read again after this time. */
const againMs = 600_000;

export interface KnownOrigins {
  /** The origin of a tag or digest; undefined if it names none, or is not known yet. */
  readonly find: (source: ImageSource, reference: string) => ImageOrigin | undefined;
  /** Ends the reads. Nothing is read afterwards. */
  stop(): void;
}

interface Known {
  readonly origin: ImageOrigin | undefined;
  /** When the origin is read again, by the monotonic clock. */
  readonly until: number;
}

/** Creates the memory. `elapsed` is a monotonic clock in ms. */
export function createKnownOrigins(readOrigin: ReadOrigin, elapsed: () => number): KnownOrigins {
  const known = new BoundedMap<string, Known>(maxKnown);
  const waiting = new Map<string, () => Promise<ImageOrigin | undefined>>();
  const stopped = new AbortController();
  let underWay = 0;
  let hour = { startedAt: elapsed(), reads: 0 };
  const mayRead = () => {
    if (elapsed() - hour.startedAt >= hourMs) hour = { startedAt: elapsed(), reads: 0 };
    return !stopped.signal.aborted && underWay < maxAtOnce && hour.reads < maxReads;
  };
  const readNext = () => {
    for (const [key, read] of waiting) {
      if (!mayRead()) return;
      waiting.delete(key);
      underWay++;
      hour.reads++;
      void readOne(key, read);
    }
  };
  const readOne = async (key: string, read: () => Promise<ImageOrigin | undefined>) => {
    // The origin counts as known while it is read, so that nobody asks for it again.
    const before = known.get(key)?.origin;
    known.set(key, { origin: before, until: elapsed() + againMs });
    try {
      const origin = await read();
      known.set(key, { origin, until: isDigest(referenceIn(key)) ? Number.POSITIVE_INFINITY : elapsed() + againMs });
    } catch {
      // A page without a link is better than one with an error. It is read again later.
    } finally {
      underWay--;
      readNext();
    }
  };
  return {
    find(source, reference) {
      const key = sourceKey(source, reference);
      const found = known.get(key);
      if (found !== undefined && found.until > elapsed()) return found.origin;
      if (waiting.size < maxWaiting) waiting.set(key, () => readWithin(readOrigin, source, reference, stopped.signal));
      // The next read also begins if no more may wait, because those that wait may be due now.
      readNext();
      return found?.origin;
    },
    stop() {
      waiting.clear();
      stopped.abort();
    },
  };
}

function referenceIn(key: string): string {
  return key.slice(key.lastIndexOf(' ') + 1);
}

async function readWithin(readOrigin: ReadOrigin, source: ImageSource, reference: string, stopped: AbortSignal) {
  const { signal, end } = startDeadline(readMs, stopped);
  try {
    return await readOrigin(source, reference, signal);
  } finally {
    end();
  }
}
