/**
 * Conceals what a push announces from a policy whose credentials have not read its repository. Anybody who can write a policy can name any repository, and read
 * the status, the Events and the notifications of that policy.
 */
import { describeError, PermanentError, WaitError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { Registry } from './ports.ts';
import type { Hint } from './resolve-tag.ts';

/** Returns the hint if the credentials of the source have not read the repository; otherwise undefined. */
export async function concealedHint(
  hint: Hint | undefined,
  source: ImageSource | undefined,
  { hasRead }: Registry,
): Promise<Hint | undefined> {
  return hint === undefined || source === undefined || (await hasRead(source)) ? undefined : hint;
}

/** The outcome of a reconcile whose message names neither the tag nor the digest. */
export function concealInOutcome(
  { tag: _tag, digest: _digest, refused: _refused, behind: _behind, ...outcome }: Outcome,
  hint: Hint,
): Outcome {
  return { ...outcome, message: conceal(outcome.message, hint) };
}

/** The failure, of the same class, with a message that names neither the tag nor the digest of the hint. */
export function concealInError(error: unknown, hint: Hint): Error {
  const message = conceal(describeError(error), hint);
  if (error instanceof WaitError) return new WaitError(error.reason, error.until, message);
  return error instanceof PermanentError ? new PermanentError(error.reason, message) : new Error(message);
}

function conceal(message: string, { tag, digest }: Hint): string {
  const named = message.replaceAll(`:${tag}`, '').replaceAll(`/${tag}`, '');
  return digest === undefined ? named : named.replaceAll(`@${digest}`, '').replaceAll(digest, '');
}
