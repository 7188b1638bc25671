/** Signed statements about images, in an envelope (DSSE): those of cosign 3 in a Sigstore bundle, those of cosign 2 with their proofs in annotations. */
import { statementType } from '../../core/model/media-types.ts';
import {
  type Bundle,
  bundleFromJSON,
  isBundleWithDsseEnvelope,
  isBundleWithPublicKey,
  type BundleWithDsseEnvelope,
} from '@sigstore/bundle';
import { z } from 'zod';
import { type JsonLimits, parseBoundedJson } from '../../core/model/bounded-json.ts';
import { findSigningKey } from './public-keys.ts';
import { annotation, checkShape, parseJson, readProofs } from './simple-bundle.ts';
import { verifyKeyless, type SignatureResult, type Trust } from './trust.ts';

type Envelope = BundleWithDsseEnvelope['content']['dsseEnvelope'];

/** A statement in its envelope, not verified yet. */
export interface SealedStatement {
  readonly envelope: Envelope;
  readonly by:
    | { readonly kind: 'key'; /** The fingerprint of the key, for messages. */ readonly hint: string }
    | { readonly kind: 'keyless'; /** Throws an Error if parts are missing. */ readonly readBundle: () => Bundle };
}

/** Opens a bundle of cosign 3; throws an Error that says what is wrong with it. */
export function openBundle(json: Buffer, limits?: JsonLimits): SealedStatement {
  return open(bundleFromJSON(parseBoundedJson(json, limits)));
}

/** Opens an envelope of cosign 2, with the annotations of its layer; throws an Error that says what is wrong with it. */
export function openEnvelope(json: Buffer, annotations: Readonly<Record<string, string>>, limits?: JsonLimits): SealedStatement {
  const dsseEnvelope = parseJson(envelopeSchema, json, 'it', limits);
  if (dsseEnvelope.signatures.length === 0) throw new Error('it is not signed');
  const publicKey = { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json', verificationMaterial: { publicKey: { hint: '' } } };
  const { envelope, by } = open(bundleFromJSON({ ...publicKey, dsseEnvelope }));
  if (annotations[annotation.certificate] === undefined) return { envelope, by };
  return { envelope, by: { kind: 'keyless', readBundle: () => bundleFromJSON({ ...readProofs(annotations), dsseEnvelope }) } };
}

const envelopeSchema = z.object({ payloadType: z.string(), payload: z.string(), signatures: z.array(z.object({ sig: z.string() })) });

function open(bundle: Bundle): SealedStatement {
  if (!isBundleWithDsseEnvelope(bundle)) throw new Error('it contains a signature without a statement');
  const envelope = bundle.content.dsseEnvelope;
  return isBundleWithPublicKey(bundle)
    ? { envelope, by: { kind: 'key', hint: bundle.verificationMaterial.content.publicKey.hint } }
    : { envelope, by: { kind: 'keyless', readBundle: () => bundle } };
}

/** Verifies who signed the envelope: one of the keys, without a transparency log, or one of the keyless signers. Never rejects. */
export async function verifySeal({ envelope, by }: SealedStatement, trust: Trust): Promise<SignatureResult> {
  if (by.kind === 'keyless') return verifyKeyless(by.readBundle, undefined, trust);
  const bytes = preAuthEncoding(envelope);
  // An envelope has exactly one signature: the library refuses others.
  for (const { sig } of envelope.signatures) {
    const key = await findSigningKey(trust.keys, bytes, sig);
    if (key !== undefined) return { kind: 'valid', by: key.name };
  }
  return { kind: 'invalid', why: `a signature was made with another key${by.hint === '' ? '' : ` (${by.hint.slice(0, 64)})`}` };
}

/** The signed bytes of an envelope. https://github.com/secure-systems-lab/dsse/blob/master/protocol.md */
function preAuthEncoding({ payloadType, payload }: Envelope): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `), payload]);
}

/** An in-toto statement. https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
export interface Statement {
  readonly predicateType: string;
  /** The digests of all subjects, as `sha256:…`. */
  readonly digests: readonly string[];
  readonly predicate: unknown;
}

const statementSchema = z.object({
  _type: z.string(),
  predicateType: z.string(),
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })),
  predicate: z.unknown(),
});

/** Reads the statement in an envelope; throws an Error if there is none. It is not verified. */
export function readStatement(sealed: SealedStatement): Statement {
  return parseStatement(parseJson(z.unknown(), payloadOf(sealed), 'its statement'));
}

/** The bytes of the statement in an envelope; throws an Error if it contains something else. */
export function payloadOf({ envelope: { payloadType, payload } }: SealedStatement): Buffer {
  if (payloadType !== statementType) throw new Error(`it contains "${payloadType}"`);
  return payload;
}

/** Reads a statement; throws an Error if it is none. */
export function parseStatement(json: unknown): Statement {
  const { _type, predicateType, subject, predicate } = checkShape(statementSchema, json, 'its statement');
  if (!/^https:\/\/in-toto\.io\/Statement\/v(?:0\.1|1)$/.test(_type)) throw new Error(`it is of type "${_type}"`);
  const digests = subject.flatMap(({ digest }) => Object.entries(digest).map(([algorithm, hex]) => `${algorithm}:${hex}`));
  return { predicateType, digests, predicate };
}
