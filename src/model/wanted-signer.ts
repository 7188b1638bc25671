import { PermanentError } from './errors.ts';
import { compilePattern } from './pattern.ts';

/** Who made a keyless signature: what the certificate says, once it was verified. */
export interface SignerIdentity {
  readonly issuer: string;
  readonly identity: string;
}

/** A keyless signer whose signature is enough. */
export interface WantedSigner {
  /** The same text for the same rule; in words for a user. */
  readonly description: string;
  matches(signer: SignerIdentity): boolean;
}

/** What a policy says of a keyless signer. */
export interface SignerRule {
  readonly issuer: string;
  readonly identity?: string | undefined;
  readonly identityPattern?: string | undefined;
}

/** As long as `identity` may be; what is longer matches no pattern, so that a certificate cannot make a comparison cost more. */
const maxIdentity = 1_024;

/**
 * Builds the comparison with a keyless signer. The issuer and `identity` are compared as they are, `identityPattern` (RE2) with the whole identity: a
 * pattern that is found somewhere inside would let in whoever can choose the rest. Throws PermanentError(InvalidPolicy).
 */
export function wantSigner({ issuer, identity, identityPattern }: SignerRule): WantedSigner {
  if (identity !== undefined && identityPattern === undefined) {
    return {
      description: `${identity} (by ${issuer})`,
      matches: (signer) => signer.issuer === issuer && signer.identity === identity,
    };
  }
  if (identityPattern === undefined || identity !== undefined) throw invalid('write either identity or identityPattern');
  const pattern = compilePattern(identityPattern, 'InvalidPolicy');
  return {
    description: `/${identityPattern}/ (by ${issuer})`,
    matches: ({ issuer: by, identity }) => by === issuer && identity.length <= maxIdentity && pattern.matchWhole(identity) !== undefined,
  };
}

function invalid(message: string): PermanentError {
  return new PermanentError('InvalidPolicy', message);
}
