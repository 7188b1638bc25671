/** Who may deliver: the receiver's configuration says it, never the request. */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../model/errors.ts';
import { authentic, ProofUnavailable, refused, type Verdict, type VerifyProof } from './proof.ts';
import { matchesAny } from './providers/authorization-header.ts';
import type { Delivery, Provider } from './providers/provider.ts';

/** The ways in which a receiver can be convinced; each is enough by itself. */
export interface Authentication {
  readonly provider: Provider;
  /** Everybody is let in. */
  readonly unauthenticated: boolean;
  readonly secrets: () => readonly string[];
  /** Proofs that need keys of others: OIDC tokens, signatures of SNS. */
  readonly proofs?: readonly VerifyProof[];
}

/**
 * Judges a delivery by the token of its URL if there is one (then by nothing else), by the sender's own scheme with the secrets, and by the
 * receiver's other proofs. `unavailable`: a proof could not be looked at, and the sender should try again.
 */
export async function authenticate(
  delivery: Delivery,
  token: string | undefined,
  { provider, unauthenticated, secrets, proofs = [] }: Authentication,
): Promise<Verdict | { readonly kind: 'unavailable'; readonly why: string }> {
  if (unauthenticated) return authentic;
  const known = secrets();
  if (token !== undefined) return matchesAny(token, known) ? authentic : refused('the token of the URL is none of the secrets');
  if (await knowsSecret(delivery, known, provider)) return authentic;
  let verdict: Verdict | { kind: 'unavailable'; why: string } = refused('no proof of any of the secrets');
  for (const verify of proofs) {
    try {
      const next = await verify(delivery);
      if (next.kind === 'authentic') return next;
      if (verdict.kind === 'refused') verdict = next;
    } catch (error) {
      if (!(error instanceof ProofUnavailable)) throw error;
      verdict = { kind: 'unavailable', why: describeError(error) };
    }
  }
  return verdict;
}

/** Bodies up to this size are hashed with all of a receiver's secrets in less than a millisecond. */
const smallBodyBytes = 65_536;

/** A signature is over the whole body, once for each secret: with a large body other requests get their turn in between. */
async function knowsSecret(delivery: Delivery, secrets: readonly string[], provider: Provider): Promise<boolean> {
  if (secrets.length < 2 || delivery.body.length <= smallBodyBytes) return secrets.length > 0 && provider.verify(delivery, secrets);
  let knows = false;
  for (const secret of secrets) {
    knows = provider.verify(delivery, [secret]) || knows;
    await setImmediate();
  }
  return knows;
}
