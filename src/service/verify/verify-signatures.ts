/** Verifies the signatures that were found for an image, in the formats of cosign 2 and cosign 3. */
import { describeError } from '../../core/model/errors.ts';
import type { VerificationResult } from '../../core/model/verification.ts';
import { signaturePredicate, type BundleSignature, type FoundSignature } from './find-signatures.ts';
import { findSigningKey } from './public-keys.ts';
import { openBundle, readStatement, verifySeal, type SealedStatement, type Statement } from './sealed-statement.ts';
import { annotation, readSimplePayload, toBundle, type SimpleSignature } from './simple-bundle.ts';
import { verifyKeyless, type SignatureResult, type Trust } from './trust.ts';

const maxReasons = 3;

/** Verifies signatures until one is valid. If none is, the result contains the reasons and the required keys and signers. */
export async function verifySignatures(found: AsyncIterable<FoundSignature>, digest: string, trust: Trust): Promise<VerificationResult> {
  const reasons = new Set<string>();
  for await (const signature of found) {
    const result = await verifySignature(signature, digest, trust);
    if (result.kind === 'valid') return { kind: 'verified', by: result.by };
    if (result.kind === 'invalid') reasons.add(result.why);
  }
  const required = describeTrust(trust);
  if (reasons.size === 0) return { kind: 'unsigned', why: `a signature by ${required} is required` };
  const shown = [...reasons].slice(0, maxReasons);
  const rest = reasons.size > shown.length ? `; and ${reasons.size - shown.length} more` : '';
  return { kind: 'invalid', why: `${shown.join('; ')}${rest}; a signature by ${required} is required` };
}

async function verifySignature(signature: FoundSignature, digest: string, trust: Trust): Promise<SignatureResult> {
  switch (signature.kind) {
    case 'simple':
      return verifySimple(signature, digest, trust);
    case 'bundle':
      return verifyBundle(signature, digest, trust);
    case 'unreadable':
      return { kind: 'invalid', why: signature.why };
  }
}

/** Who must have signed, for people. */
export function describeTrust({ keys, signers }: Trust): string {
  const names = [...keys.map(({ name, fingerprint }) => `${name} (${fingerprint})`), ...signers.map(({ description }) => description)];
  return names.join(' or ');
}

/** Verifies a signature of cosign 2: by a key over the payload, or keyless if it has a certificate. Never rejects. */
async function verifySimple(found: SimpleSignature, digest: string, trust: Trust): Promise<SignatureResult> {
  const { payload, annotations } = found;
  let claimed: string;
  try {
    claimed = readSimplePayload(payload);
  } catch (error) {
    return { kind: 'invalid', why: `the payload of a signature is not one of cosign: ${describeError(error)}` };
  }
  if (claimed !== digest) return { kind: 'invalid', why: `a signature is for ${claimed}` };
  const signature = Buffer.from(annotations[annotation.signature] ?? '', 'base64');
  const key = await findSigningKey(trust.keys, payload, signature);
  if (key !== undefined) return { kind: 'valid', by: key.name };
  if (annotations[annotation.certificate] !== undefined) return verifyKeyless(() => toBundle(found), payload, trust);
  return { kind: 'invalid', why: 'a signature was made with another key' };
}

/** Verifies a bundle of cosign 3: a statement about the digest, in an envelope that was signed by a key or keyless. Never rejects. */
async function verifyBundle({ json }: BundleSignature, digest: string, trust: Trust): Promise<SignatureResult> {
  let sealed: SealedStatement;
  let statement: Statement;
  try {
    sealed = openBundle(json);
    statement = readStatement(sealed);
  } catch (error) {
    return { kind: 'invalid', why: `a bundle is not the signature of an image: ${describeError(error)}` };
  }
  if (statement.predicateType !== signaturePredicate) return { kind: 'unrelated' };
  if (!statement.digests.includes(digest))
    return { kind: 'invalid', why: `a signature is for ${statement.digests.join(', ') || 'nothing'}` };
  return verifySeal(sealed, trust);
}
