/** Decides who may deliver, by the receiver's configuration and never by the request. */
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../core/model/errors.ts';
import { matchesAny } from './providers/headers.ts';
import type { Delivery, Provider } from './providers/provider.ts';

/** The ways to authenticate at a receiver. A delivery needs only one of them. */
export interface Authentication {
  readonly provider: Provider;
  /** Whether deliveries are accepted without authentication. */
  readonly unauthenticated: boolean;
  readonly secrets: () => readonly string[];
  /** Proofs that are verified with keys that a third party publishes: OIDC tokens, signatures of SNS. */
  readonly proofs?: readonly VerifyProof[];
}

/** The result of verifying a proof. `why` is one of a few sentences of ours, never text of the request. */
export type ProofResult =
  | {
      readonly kind: 'authentic';
      /** A further action that the delivery requests, such as confirming a subscription. It is called after the delivery has passed the rate limit. */
      readonly onAdmitted?: () => void;
    }
  | {
      readonly kind: 'refused';
      readonly why: string;
      /** The claim of a genuine token that does not match. Its name comes from the configuration or from a list in our code. */
      readonly claim?: string;
    };

/** Verifies a proof, such as a token, with keys that a third party publishes. Rejects with ProofUnavailable if the keys cannot be fetched at present. */
export type VerifyProof = (delivery: Delivery) => Promise<ProofResult>;

/** The keys that a proof needs cannot be fetched at present. The sender should try again, since it may be genuine. */
export class ProofUnavailable extends Error {
  override readonly name = 'ProofUnavailable';
}

/** The result for a proof that is refused for this reason. */
export function refused(why: string): ProofResult {
  return { kind: 'refused', why };
}

export const authentic: ProofResult = { kind: 'authentic' };

/**
 * Authenticates a delivery: by the token of its URL if there is one, and then by nothing else; otherwise by the sender's own scheme with the secrets, or by the
 * receiver's other proofs. `unavailable`: a proof could not be verified, and the sender should try again.
 */
export async function authenticate(
  delivery: Delivery,
  token: string | undefined,
  { provider, unauthenticated, secrets, proofs = [] }: Authentication,
): Promise<ProofResult | { readonly kind: 'unavailable'; readonly why: string }> {
  if (unauthenticated) return authentic;
  const known = secrets();
  if (token !== undefined) {
    return matchesAny(token, known)
      ? authentic
      : refused("the token in the URL is none of the receiver's secrets: correct the URL of the webhook");
  }
  if (await knowsSecret(delivery, known, provider)) return authentic;
  let result: ProofResult | { kind: 'unavailable'; why: string } = refused(
    "the request has no token in its URL, and no header that proves one of the receiver's secrets: compare the secret of the webhook with receivers[].secrets",
  );
  for (const verify of proofs) {
    try {
      const next = await verify(delivery);
      if (next.kind === 'authentic') return next;
      if (result.kind === 'refused') result = next;
    } catch (error) {
      if (!(error instanceof ProofUnavailable)) throw error;
      result = { kind: 'unavailable', why: describeError(error) };
    }
  }
  return result;
}

/** Bodies up to this size are hashed with all secrets of a receiver in less than a millisecond. */
const smallBodyBytes = 65_536;

/** Whether a delivery proves that its sender knows a secret. A large body is hashed for each secret, and other requests run in between. */
async function knowsSecret(delivery: Delivery, secrets: readonly string[], provider: Provider): Promise<boolean> {
  if (secrets.length < 2 || delivery.body.length <= smallBodyBytes) return secrets.length > 0 && provider.verify(delivery, secrets);
  let knows = false;
  for (const secret of secrets) {
    knows = provider.verify(delivery, [secret]) || knows;
    await setImmediate();
  }
  return knows;
}
