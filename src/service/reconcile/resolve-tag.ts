/** What a registry is asked about tags and images, and how long it has to show what it announced. */
import { setTimeout as delay } from 'node:timers/promises';
import { WaitError } from '../../core/model/errors.ts';
import { formatRepository, type Repository, type Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { HeadManifest } from './ports.ts';

/** The same request for a tag that is about to be used. */
export function toUse(headManifest: HeadManifest): HeadManifest {
  return (source, tag, signal) => headManifest(source, tag, signal, 'use');
}

/** The tag that a webhook announced or a poll found. */
export interface Hint {
  readonly tag: string;
  readonly digest?: string;
  /** Where it was pushed: a policy that names another repository by then must not ask that one for it. Absent where the policy itself has found it. */
  readonly repository?: Repository;
}

/** How long a registry has to show what it announced, and the first pause, which doubles. Longer pauses are spent in the queue, where they occupy no worker. */
const patience = { totalMs: 10_000, firstMs: 50, longestInHandMs: 500 };

/** When a registry has had its time to show what was announced then; both in ms since 1970. */
export function shownBy(announcedAt: number): number {
  return announcedAt + patience.totalMs;
}

/** When to ask again instead of believing an answer. */
export interface Patience {
  /** Whether a webhook announced the hint. */
  readonly announced: boolean;
  /** When it was announced, in ms since 1970, where the caller can come back later; otherwise absent, and the whole wait happens here. */
  readonly announcedAt?: number | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** A clock that nobody sets, in ms; that of the process unless given. */
  readonly elapsed?: () => number;
  /** Whether a digest may be the pushed one, where none was announced. */
  readonly mayBePushed?: (digest: string) => Promise<boolean>;
}

/**
 * Asks the registry what the tag points to. Registries announce a tag before it can be read (measured: 43 of 300 mutable tags still had the old digest). While
 * there is no answer, or not the announced digest, the question is repeated for a while; then the answer is believed. Where no digest was announced,
 * `mayBePushed` rejects a digest known before, and that of a first platform, which is pushed before the index. Throws WaitError(NotShownYet).
 */
export async function resolveCandidate(
  source: ImageSource,
  hint: Hint,
  headManifest: HeadManifest,
  { announced, announcedAt, signal, now, elapsed = () => performance.now(), mayBePushed }: Patience,
): Promise<Candidate | undefined> {
  const start = now();
  const ageMs = start - (announcedAt ?? start);
  const deadline = elapsed() + patience.totalMs - ageMs;
  for (let pauseMs = Math.max(patience.firstMs, ageMs); ; pauseMs *= 2) {
    const head = await headManifest(source, hint.tag, signal);
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

/** For messages: `harbor.example.com/shop/web:1.2`. */
export function formatTag(repository: Repository, tag: string): string {
  return `${formatRepository(repository)}:${tag}`;
}
