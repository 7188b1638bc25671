import type { TrustMaterial } from '@sigstore/verify';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { VerificationResult, Verification } from '../../core/model/verification.ts';
import { currentSpan } from '../telemetry/tracing.ts';
import { findSignatures, type SignatureRegistry } from './find-signatures.ts';
import type { Trust } from './trust.ts';
import { verifySignatures } from './verify-signatures.ts';
import { readKeys, type ReadSecret } from './public-keys.ts';

export interface ImageVerifierOptions {
  readonly registry: SignatureRegistry;
  readonly readSecret: ReadSecret;
  /** The trust root of keyless signatures; undefined if none is configured. */
  readonly trustRoot?: TrustMaterial | undefined;
  readonly now?: () => number;
}

/** An image, and the signatures that a policy requires for it. */
export interface VerifyRequest {
  readonly source: ImageSource;
  readonly digest: string;
  readonly verification: Verification;
  /** The namespace of the policy, which holds its keys. */
  readonly namespace: string;
}

/**
 * Verifies the signatures of a digest. Throws PermanentError (VerificationKeyInvalid, TrustRootMissing) if there is nothing to verify them with, and any error
 * of the registry client.
 */
export type VerifyImage = (request: VerifyRequest, signal: AbortSignal) => Promise<VerificationResult>;

const maxRemembered = 10_000;

/** Creates a verifier that caches verified images by digest and the content of the keys, because a valid signature stays valid. */
export function createImageVerifier({ registry, readSecret, trustRoot, now = Date.now }: ImageVerifierOptions): VerifyImage {
  const verified = new BoundedMap<string, VerificationResult>(maxRemembered);
  const verify: VerifyImage = async ({ source, digest, verification, namespace }, signal) => {
    const { usable, problems } = await readKeys(verification.keys, namespace, readSecret, signal);
    const signers = trustRoot === undefined ? [] : verification.signers;
    if (usable.length + signers.length === 0) throw nothingToVerifyWith(verification, problems);
    const trust: Trust = { keys: usable, signers, ...defined({ trustRoot }) };
    const known = cacheKey(digest, trust);
    const remembered = verified.get(known);
    if (remembered !== undefined) return remembered;
    const result = await verifySignatures(findSignatures(source, digest, { registry, signal, now }), digest, trust);
    if (result.kind === 'verified') verified.set(known, result);
    return result.kind === 'verified'
      ? result
      : { ...result, why: [result.why, ...withoutTrustRoot(verification, trust), ...problems].join('; ') };
  };
  return (request, signal) => currentSpan()?.step({ name: 'verify signatures' }, () => verify(request, signal)) ?? verify(request, signal);
}

function nothingToVerifyWith({ signers }: Verification, problems: readonly string[]): PermanentError {
  const [problem] = problems;
  if (problem !== undefined)
    return new PermanentError('VerificationKeyInvalid', `there is no usable key to verify signatures with: ${problems.join('; ')}`);
  const who = signers.map(({ description }) => description).join(' or ');
  return new PermanentError(
    'TrustRootMissing',
    `a keyless signature by ${who} is required, but the configuration has no verification.trustRootFile to verify it with`,
  );
}

function withoutTrustRoot({ signers }: Verification, { trustRoot }: Trust): string[] {
  return signers.length > 0 && trustRoot === undefined
    ? ['keyless signatures are not verified: the configuration has no verification.trustRootFile']
    : [];
}

function cacheKey(digest: string, { keys, signers }: Trust): string {
  return JSON.stringify([digest, keys.map(({ fingerprint }) => fingerprint), signers.map(({ description }) => description)]);
}
