import { type ImagePolicy, isUsable } from './image-policy.ts';
import type { SecretRef } from './image-source.ts';
import { PermanentError } from './errors.ts';
import { compilePattern } from './pattern.ts';

/** The required signature of an image: one by any of the keys or signers; and the required provenance of a chart. */
export interface Verification {
  readonly keys: readonly KeyRef[];
  readonly signers: readonly WantedSigner[];
  /** Keys of OpenPGP, of which one must have signed the provenance of the chart; absent if none is required. Without keys and signers, it is enough. */
  readonly provenance?: readonly KeyRef[];
}

/** A public key in the data of a Secret in the namespace of the policy. */
export interface KeyRef {
  readonly secret: string;
  readonly key: string;
}

/** The result of verifying an image's signatures. `invalid`: there are signatures, and none of them is valid. */
export type VerificationResult =
  | { readonly kind: 'verified'; readonly by: string }
  | { readonly kind: 'unsigned'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** The Secrets with keys for a policy's verification, and for attestations. A change of one of them may fix a policy that is Stalled because of its keys. */
export function verificationSecrets({ namespace, spec }: ImagePolicy): readonly SecretRef[] {
  const { verification, vulnerabilities } = isUsable(spec) ? spec : {};
  const { keys = [], provenance = [] } = verification ?? {};
  return [...new Set([...keys, ...provenance, ...(vulnerabilities?.attestations?.keys ?? [])].map(({ secret }) => secret))].map((name) => ({
    namespace,
    name,
  }));
}

/** The signer of a keyless signature, according to its verified certificate. */
export interface SignerIdentity {
  readonly issuer: string;
  readonly identity: string;
}

/** A keyless signer whose signature suffices. */
export interface WantedSigner {
  /** A description for users, which is the same for the same rule. */
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
 * Builds the check for a keyless signer. The issuer and `identity` are compared literally, `identityPattern` (RE2) with the whole identity. A pattern that may
 * match anywhere inside would accept signers who can choose the rest. Throws PermanentError(InvalidPolicy).
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
