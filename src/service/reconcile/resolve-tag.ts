/** Asks a registry about tags and images, and decides how long it has to show what was announced. */
import { setTimeout as delay } from 'node:timers/promises';
import { WaitError } from '../../core/model/errors.ts';
import { formatRepository, type Repository, type Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { ResolveTag } from './ports.ts';

/** The tag that a webhook announced or a poll found. */
export interface Hint {
  readonly tag: string;
  readonly digest?: string;
  /** The repository of the push. A policy that names another one now must not ask that one for the tag. Absent if the policy itself has found the tag. */
  readonly repository?: Repository;
}

/** How long a registry has to show what was announced, and the first pause, which doubles. Longer pauses are spent in the queue and occupy no worker. */
const patience = { totalMs: 10_000, firstMs: 50, longestInHandMs: 500 };

/** The time until which a registry may take to show what was announced at this time; both in ms since 1970. */
export function shownBy(announcedAt: number): number {
  return announcedAt + patience.totalMs;
}

/** Decides when to ask again instead of accepting an answer. */
export interface Patience {
  /** Whether a webhook announced the hint. */
  readonly announced: boolean;
  /** When the hint was announced, in ms since 1970, if the caller can come back later; otherwise absent, and the whole wait happens here. */
  readonly announcedAt?: number | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** A monotonic clock in ms; that of the process unless given. */
  readonly elapsed?: () => number;
  /** Whether a digest may be the pushed one, for hints without a digest. */
  readonly mayBePushed?: (digest: string) => Promise<boolean>;
}

/**
 * Asks the registry what the tag points to. Registries announce a tag before it can be read (measured: 43 of 300 mutable tags still had the old digest). While
 * there is no answer, or not the announced digest, the question is repeated for a while; then the answer is accepted. If no digest was announced, `mayBePushed`
 * rejects a digest known before, and the digest of a first platform, which is pushed before the index. Throws WaitError(NotShownYet).
 */
export async function resolveCandidate(
  source: ImageSource,
  hint: Hint,
  resolveTag: ResolveTag,
  { announced, announcedAt, signal, now, elapsed = () => performance.now(), mayBePushed }: Patience,
): Promise<Candidate | undefined> {
  const start = now();
  const ageMs = start - (announcedAt ?? start);
  const deadline = elapsed() + patience.totalMs - ageMs;
  for (let pauseMs = Math.max(patience.firstMs, ageMs); ; pauseMs *= 2) {
    const head = await resolveTag(source, hint.tag, signal);
    const remainingMs = deadline - elapsed();
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

/** A tag in messages: `harbor.example.com/shop/web:1.2`. */
export function formatTag(repository: Repository, tag: string): string {
  return `${formatRepository(repository)}:${tag}`;
}
