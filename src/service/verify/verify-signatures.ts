/** Verifies the signatures that were found for an image, in the formats of cosign 2 and cosign 3. */
import { bundleFromJSON, isBundleWithDsseEnvelope, isBundleWithPublicKey, type BundleWithDsseEnvelope } from '@sigstore/bundle';
import { z } from 'zod';
import { describeError } from '../../core/model/errors.ts';
import type { VerificationResult } from '../../core/model/verification.ts';
import { signaturePredicate, type BundleSignature, type FoundSignature } from './find-signatures.ts';
import { findSigningKey } from './public-keys.ts';
import { annotation, parseJson, readSimplePayload, toBundle, type SimpleSignature } from './simple-bundle.ts';
import { verifyKeyless, type SignatureResult, type Trust } from './trust.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

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

function describeTrust({ keys, signers }: Trust): string {
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

type Envelope = BundleWithDsseEnvelope['content']['dsseEnvelope'];

/** Verifies a bundle of cosign 3: a statement about the digest, in an envelope that was signed by a key or keyless. Never rejects. */
async function verifyBundle({ json }: BundleSignature, digest: string, trust: Trust): Promise<SignatureResult> {
  let bundle: BundleWithDsseEnvelope;
  let statement: Statement;
  try {
    bundle = readBundle(json);
    statement = readEnvelope(bundle.content.dsseEnvelope);
  } catch (error) {
    return { kind: 'invalid', why: `a bundle is not the signature of an image: ${describeError(error)}` };
  }
  if (statement.predicateType !== signaturePredicate) return { kind: 'unrelated' };
  if (!statement.digests.includes(digest))
    return { kind: 'invalid', why: `a signature is for ${statement.digests.join(', ') || 'nothing'}` };
  if (!isBundleWithPublicKey(bundle)) return verifyKeyless(() => bundle, undefined, trust);
  return verifyByKey(bundle.content.dsseEnvelope, bundle.verificationMaterial.content.publicKey.hint, trust);
}

function readBundle(json: Buffer): BundleWithDsseEnvelope {
  const bundle = bundleFromJSON(parseBoundedJson(json));
  if (isBundleWithDsseEnvelope(bundle)) return bundle;
  throw new Error('it contains a signature without a statement');
}

/** Verifies an envelope with the keys of a policy, without a transparency log. `hint`: the fingerprint of the signing key, for the message. */
async function verifyByKey(envelope: Envelope, hint: string, { keys }: Trust): Promise<SignatureResult> {
  const bytes = preAuthEncoding(envelope);
  // A bundle has exactly one signature: the library refuses others.
  for (const { sig } of envelope.signatures) {
    const key = await findSigningKey(keys, bytes, sig);
    if (key !== undefined) return { kind: 'valid', by: key.name };
  }
  return { kind: 'invalid', why: `a signature was made with another key${hint === '' ? '' : ` (${hint.slice(0, 64)})`}` };
}

/** The signed bytes of an envelope. https://github.com/secure-systems-lab/dsse/blob/master/protocol.md */
function preAuthEncoding({ payloadType, payload }: Envelope): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `), payload]);
}

/** The fields of an in-toto statement that signatures need. https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
interface Statement {
  readonly predicateType: string;
  /** The digests of all subjects, as `sha256:…`. */
  readonly digests: readonly string[];
}

const statementSchema = z.object({
  _type: z.string(),
  predicateType: z.string(),
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })),
});
const statementType = 'application/vnd.in-toto+json';

/** Reads the statement in an envelope; throws an Error if there is none. */
function readEnvelope({ payloadType, payload }: Envelope): Statement {
  if (payloadType !== statementType) throw new Error(`it contains "${payloadType}"`);
  const { _type, predicateType, subject } = parseJson(statementSchema, payload.toString('utf8'), 'its statement');
  if (!/^https:\/\/in-toto\.io\/Statement\/v(?:0\.1|1)$/.test(_type)) throw new Error(`it is of type "${_type}"`);
  const digests = subject.flatMap(({ digest }) => Object.entries(digest).map(([algorithm, hex]) => `${algorithm}:${hex}`));
  return { predicateType, digests };
}
