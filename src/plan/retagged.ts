import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Outcome } from './outcome.ts';

/** What a webhook reported. */
interface Announcement {
  readonly announced: boolean;
  readonly hint?: { readonly tag: string; readonly digest?: string };
}

/**
 * The outcome of a push that changes nothing because the tag runs already: if another digest is known for it, the message says that the tag has moved.
 * The registry is not asked, because the outcome does not depend on it.
 */
export function tellRetagged(
  outcome: Outcome,
  { spec, status: { latest } }: Pick<ImagePolicy, 'spec' | 'status'>,
  { announced, hint }: Announcement,
): Outcome {
  const pinsTags = isUsable(spec) && spec.pin === 'Tag';
  if (!announced || !pinsTags || outcome.kind !== 'unchanged' || outcome.reason !== 'UpToDate') return outcome;
  if (hint?.digest === undefined || hint.tag !== outcome.tag || latest?.tag !== hint.tag) return outcome;
  if (latest.digest === undefined || latest.digest === hint.digest) return outcome;
  const message = `${hint.tag} was pushed again: it was ${latest.digest}, and is announced as ${hint.digest}; the policy pins tags, so nothing changes`;
  return { ...outcome, reason: 'Retagged', message, ...(outcome.running !== undefined && { running: `${outcome.running}; ${message}` }) };
}
