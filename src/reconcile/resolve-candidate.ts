import { setTimeout as delay } from 'node:timers/promises';
import { WaitError } from '../model/errors.ts';
import { formatRepository, type Repository, type Candidate } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';

/**
 * What a tag points to at the registry; undefined when it is not there. A HEAD, which counts as no pull; for a tag that is about to be used (`use`) a request that says
 * as well what it is.
 */
export type HeadManifest = (
  source: ImageSource,
  tag: string,
  signal: AbortSignal,
  purpose?: 'use',
) => Promise<{ digest: string } | undefined>;

/** The same question for a tag that is about to be used. */
export function toUse(headManifest: HeadManifest): HeadManifest {
  return (source, tag, signal) => headManifest(source, tag, signal, 'use');
}

/** Where to look: what a webhook announced, or a poll found. */
export interface Hint {
  readonly tag: string;
  readonly digest?: string;
}

/** How long a registry is given to show what it announced, and the first pause; pauses double. Longer ones are spent in the queue, where no worker waits. */
const patience = { totalMs: 10_000, firstMs: 50, longestInHandMs: 500 };

/** How long an answer is doubted. */
export interface Patience {
  /** Whether a webhook announced the hint. */
  readonly announced: boolean;
  /** When that was, in ms since 1970, where whoever asks can come again; otherwise now, and all of it is waited for here. */
  readonly announcedAt?: number | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Whether a digest may be what was pushed, where none was announced. */
  readonly mayBePushed?: (digest: string) => Promise<boolean>;
}

/**
 * Asks the registry what the tag points to. Registries announce a tag before it can be read (measured: 43 of 300 mutable tags still
 * had the old digest): while the answer is missing or is not the announced digest, it is asked again for a while, and then believed. Where no digest was
 * announced, `mayBePushed` says no to what was known before, and to the first platform, which comes before the index of all. Throws WaitError(NotShownYet).
 */
export async function resolveCandidate(
  source: ImageSource,
  hint: Hint,
  headManifest: HeadManifest,
  { announced, announcedAt, signal, now, mayBePushed }: Patience,
): Promise<Candidate | undefined> {
  const start = now();
  const since = announcedAt ?? start;
  const deadline = since + patience.totalMs;
  for (let pauseMs = Math.max(patience.firstMs, start - since); ; pauseMs *= 2) {
    const head = await headManifest(source, hint.tag, signal);
    const remainingMs = deadline - now();
    if (!announced || remainingMs <= 0 || (await isAnnounced(hint, head, mayBePushed)))
      return head && { tag: hint.tag, digest: head.digest };
    const nextMs = Math.min(pauseMs, remainingMs);
    if (announcedAt !== undefined && nextMs > patience.longestInHandMs) throw notShownYet(formatTag(source, hint.tag), now() + nextMs);
    await delay(nextMs, undefined, { signal });
  }
}

async function isAnnounced(hint: Hint, head: { digest: string } | undefined, mayBePushed: Patience['mayBePushed']): Promise<boolean> {
  if (head === undefined) return false;
  if (hint.digest !== undefined) return hint.digest === head.digest;
  return mayBePushed === undefined || (await mayBePushed(head.digest));
}

function notShownYet(image: string, at: number): WaitError {
  return new WaitError('NotShownYet', new Date(at), `the registry does not show yet what it announced of ${image}`);
}

/** For messages: `harbor.example.com/shop/web:1.2`. */
export function formatTag(repository: Repository, tag: string): string {
  return `${formatRepository(repository)}:${tag}`;
}
