import { RE2JS } from 're2js';
import { describeError, PermanentError } from './errors.ts';

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

const maxPattern = 512;

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
  const pattern = compileIdentityPattern(identityPattern);
  return {
    description: `/${identityPattern}/ (by ${issuer})`,
    matches: (signer) => signer.issuer === issuer && pattern.matches(signer.identity),
  };
}

/** Compiles a pattern of identities; throws PermanentError(InvalidPolicy) with the parser's message. */
export function compileIdentityPattern(text: string): RE2JS {
  if (text.length > maxPattern) throw invalid(`the pattern is longer than ${maxPattern} characters`);
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw invalid(`the pattern "${text}" is not RE2 syntax: ${describeError(error)}`, error);
  }
}

function invalid(message: string, cause?: unknown): PermanentError {
  return new PermanentError('InvalidPolicy', message, { cause });
}
