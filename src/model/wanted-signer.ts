import { PermanentError } from './errors.ts';
import { compilePattern } from './pattern.ts';

/** The signer of a keyless signature, according to its verified certificate. */
export interface SignerIdentity {
  readonly issuer: string;
  readonly identity: string;
}

/** A keyless signer whose signature suffices. */
export interface WantedSigner {
  /** A description for users; the same text for the same rule. */
  readonly description: string;
  matches(signer: SignerIdentity): boolean;
}

/** The fields of a policy that describe a keyless signer. */
export interface SignerRule {
  readonly issuer: string;
  readonly identity?: string | undefined;
  readonly identityPattern?: string | undefined;
}

/** The maximum length of `identity`; a longer one matches no pattern, so that a certificate cannot make matching expensive. */
const maxIdentity = 1_024;

/**
 * Builds the check for a keyless signer. The issuer and `identity` are compared literally, `identityPattern` (RE2) with the whole identity: a
 * pattern that may match anywhere inside would admit whoever can choose the rest. Throws PermanentError(InvalidPolicy).
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
