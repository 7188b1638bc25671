import type { TrustMaterial } from '@sigstore/verify';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { VerificationResult, Verification } from '../../core/model/verification.ts';
import { currentSpan } from '../telemetry/tracing.ts';
import type { SignatureRegistry } from './find-attached.ts';
import { findSignatures } from './find-signatures.ts';
import type { Trust } from './trust.ts';
import { verifySignatures } from './verify-signatures.ts';
import { readCertificates } from './openpgp/certificates.ts';
import { readKeyBlocks } from './openpgp/armor.ts';
import { type Keys, readKeys, readPemKeys, type ReadSecret, type WantedKeys } from './public-keys.ts';
import { type ProvenanceKey, verifyProvenance } from './verify-provenance.ts';

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
  /** The tag under which it will run, which the provenance of a chart names; absent if it runs by its digest alone. */
  readonly tag?: string;
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

/** The longest text with keys of OpenPGP that is read. One with the names and signatures of many people is larger, and can be exported without them. */
const maxKeyText = 131_072;

/**
 * Creates a verifier that caches images with verified signatures by digest and the content of the keys, because a valid signature stays valid. The provenance of
 * a chart is verified each time, because keys of OpenPGP expire.
 */
export function createImageVerifier({ registry, readSecret, trustRoot, now = Date.now }: ImageVerifierOptions): VerifyImage {
  const verified = new BoundedMap<string, VerificationResult>(maxRemembered);
  const verifyCosign: VerifyImage = async ({ source, digest, verification, namespace }, signal) => {
    const { usable, problems } = await readKeys(readPemKeys(verification.keys, namespace), readSecret, signal);
    const signers = trustRoot === undefined ? [] : verification.signers;
    if (usable.length + signers.length === 0) throw nothingToVerifyWith(verification, problems);
    const trust: Trust = { keys: usable, signers, ...defined({ trustRoot }) };
    const known = cacheKey(digest, trust);
    const remembered = verified.get(known);
    if (remembered !== undefined) return remembered;
    const result = await verifySignatures(findSignatures(source, digest, { registry, signal, now }), digest, trust);
    if (result.kind === 'verified') verified.set(known, result);
    return withProblems(result, [...withoutTrustRoot(verification, trust), ...problems]);
  };
  const verifyChart: VerifyImage = async ({ verification: { provenance = [], ...rest }, namespace, ...chart }, signal) => {
    const { usable, problems } = await readKeys(readPgpKeys({ refs: provenance, namespace }, now()), readSecret, signal);
    if (usable.length === 0) throw nothingToVerifyWith(rest, problems);
    return withProblems(await verifyProvenance(chart, usable, { registry, signal, now }), problems);
  };
  const verify: VerifyImage = async (request, signal) => {
    const { keys, signers, provenance } = request.verification;
    // A chart without its provenance never gets it, so that nothing needs to be waited for.
    const ofChart = provenance === undefined ? undefined : await verifyChart(request, signal);
    if (ofChart === undefined) return verifyCosign(request, signal);
    if (ofChart.kind !== 'verified' || keys.length + signers.length === 0) return ofChart;
    const ofCosign = await verifyCosign(request, signal);
    return ofCosign.kind === 'verified' ? { kind: 'verified', by: `${ofCosign.by} and ${ofChart.by}` } : ofCosign;
  };
  return (request, signal) => currentSpan()?.step({ name: 'verify signatures' }, () => verify(request, signal)) ?? verify(request, signal);
}

/** Reads the certificates of OpenPGP in each Secret, of which those count that are valid now. */
function readPgpKeys({ refs, namespace }: Pick<WantedKeys<ProvenanceKey>, 'refs' | 'namespace'>, now: number): WantedKeys<ProvenanceKey> {
  const read = async (name: string, text: string): Promise<Keys<ProvenanceKey>> => {
    if (text.length > maxKeyText) throw new Error(`it has more than ${maxKeyText} characters (gpg --export-options export-minimal)`);
    const { keys, problems } = await readCertificates(readKeyBlocks(text), now);
    return { usable: keys.map((key) => ({ name, key })), problems: problems.map((problem) => `${name}: ${problem}`) };
  };
  return { refs, namespace, read };
}

function withProblems(result: VerificationResult, problems: readonly string[]): VerificationResult {
  return result.kind === 'verified' ? result : { ...result, why: [result.why, ...problems].join('; ') };
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
