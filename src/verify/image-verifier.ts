import type { TrustMaterial } from '@sigstore/verify';
import { BoundedMap } from '../async/bounded-map.ts';
import { PermanentError } from '../model/errors.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { VerificationResult, Verification } from '../model/verification.ts';
import { findSignatures, type SignatureRegistry } from './find-signatures.ts';
import { judgeSignatures } from './judge-signatures.ts';
import { readKeys, type ReadSecret } from './read-keys.ts';
import type { Trust } from './trust.ts';

export interface ImageVerifierOptions {
  readonly registry: SignatureRegistry;
  readonly readSecret: ReadSecret;
  /** What keyless signatures are verified with. */
  readonly trustRoot?: TrustMaterial | undefined;
  readonly now?: () => number;
}

/** An image, and what is demanded of it by a policy. */
export interface VerifyRequest {
  readonly source: ImageSource;
  readonly digest: string;
  readonly verification: Verification;
  /** Of the policy, where its keys are. */
  readonly namespace: string;
}

/**
 * Verifies the signatures of a digest. Throws PermanentError (VerificationKeyInvalid, TrustRootMissing) where there is nothing to verify them with, and
 * what reading throws.
 */
export type VerifyImage = (request: VerifyRequest, signal: AbortSignal) => Promise<VerificationResult>;

const maxRemembered = 10_000;

/** Creates a verifier that remembers what it verified, by digest and the content of the keys: a signature that held goes on to hold. */
export function createImageVerifier({ registry, readSecret, trustRoot, now = Date.now }: ImageVerifierOptions): VerifyImage {
  const verified = new BoundedMap<string, VerificationResult>(maxRemembered);
  return async ({ source, digest, verification, namespace }, signal) => {
    const { usable, problems } = await readKeys(verification.keys, namespace, readSecret, signal);
    const signers = trustRoot === undefined ? [] : verification.signers;
    if (usable.length + signers.length === 0) throw nothingToVerifyWith(verification, problems);
    const trust: Trust = { keys: usable, signers, ...(trustRoot !== undefined && { trustRoot }) };
    const known = cacheKey(digest, trust);
    const remembered = verified.get(known);
    if (remembered !== undefined) return remembered;
    const verdict = await judgeSignatures(findSignatures(source, digest, { registry, signal, now }), digest, trust);
    if (verdict.kind === 'verified') verified.set(known, verdict);
    return verdict.kind === 'verified'
      ? verdict
      : { ...verdict, why: [verdict.why, ...withoutTrustRoot(verification, trust), ...problems].join('; ') };
  };
}

function nothingToVerifyWith({ signers }: Verification, problems: readonly string[]): PermanentError {
  const [problem] = problems;
  if (problem !== undefined)
    return new PermanentError('VerificationKeyInvalid', `nothing to verify signatures with: ${problems.join('; ')}`);
  const who = signers.map(({ description }) => description).join(' or ');
  return new PermanentError(
    'TrustRootMissing',
    `a keyless signature by ${who} is demanded, and the configuration has no verification.trustRootFile to verify it with`,
  );
}

function withoutTrustRoot({ signers }: Verification, { trustRoot }: Trust): string[] {
  return signers.length > 0 && trustRoot === undefined
    ? ['keyless is not looked at: the configuration has no verification.trustRootFile']
    : [];
}

function cacheKey(digest: string, { keys, signers }: Trust): string {
  return JSON.stringify([digest, keys.map(({ fingerprint }) => fingerprint), signers.map(({ description }) => description)]);
}
