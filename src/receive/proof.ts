import type { Delivery } from './providers/provider.ts';

/** What became of a delivery's proof. `why` is one of few sentences of ours, never text of the request. */
export type Verdict =
  | {
      readonly kind: 'authentic';
      /** What the delivery asks for beside its pushes. It is done once the delivery has passed the rate limit. */
      readonly onAdmitted?: () => void;
    }
  | {
      readonly kind: 'refused';
      readonly why: string;
      /** The claim of a genuine token that is not what is demanded: a name from the configuration or from a list of ours. */
      readonly claim?: string;
    };

/**
 * How a delivery proves where it comes from by something that has to be looked up: a token, a signature. Rejects with
 * ProofUnavailable when that cannot be told at present.
 */
export type VerifyProof = (delivery: Delivery) => Promise<Verdict>;

/** Gets a text; only ever from addresses that the configuration names or that are pinned in the code. */
export type FetchText = (url: string, signal: AbortSignal) => Promise<string>;

/** The keys that a proof needs cannot be had at present: the sender should try again, it may well be who it says. */
export class ProofUnavailable extends Error {
  override readonly name = 'ProofUnavailable';
}

/** The server answered, but not with what was asked for. */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered ${status}`);
    this.status = status;
  }
}

/** A refused proof. */
export function refused(why: string): Verdict {
  return { kind: 'refused', why };
}

export const authentic: Verdict = { kind: 'authentic' };
