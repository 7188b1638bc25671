/** The signature format of cosign 2: a signed payload, with certificate and log entry in annotations. */
import { hash } from 'node:crypto';
import { type Bundle, bundleFromJSON } from '@sigstore/bundle';
import { z } from 'zod';
import { type JsonLimits, parseBoundedJson } from '../../core/model/bounded-json.ts';

/** A layer of the image `sha256-….sig`: its annotations, and its content, which was signed. */
export interface SimpleSignature {
  readonly kind: 'simple';
  readonly payload: Buffer;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The names of cosign 2's annotations. */
export const annotation = {
  signature: 'dev.cosignproject.cosign/signature',
  certificate: 'dev.sigstore.cosign/certificate',
  bundle: 'dev.sigstore.cosign/bundle',
  timestamp: 'dev.sigstore.cosign/rfc3161timestamp',
} as const;

const entrySchema = z.object({
  SignedEntryTimestamp: z.string(),
  Payload: z.object({
    body: z.string(),
    integratedTime: z.int(),
    logIndex: z.int(),
    logID: z.string().regex(/^[0-9a-f]{64}$/),
  }),
});
const bodySchema = z.object({ kind: z.string(), apiVersion: z.string() });
const timestampSchema = z.object({ SignedRFC3161Timestamp: z.string() });

/** A keyless signature of cosign 2 as a Sigstore bundle, so that both formats are verified in one way. Its digest is computed from the payload. Throws an Error if parts are missing. */
export function toBundle({ payload, annotations }: SimpleSignature): Bundle {
  return bundleFromJSON({
    ...readProofs(annotations),
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest: hash('sha256', payload, 'base64') },
      signature: annotations[annotation.signature],
    },
  });
}

/** What proves a keyless signature in the annotations of cosign 2, as the parts of a Sigstore bundle (v0.1) beside its content. Throws an Error if parts are missing. */
export function readProofs(annotations: SimpleSignature['annotations']): object {
  const certificate = annotations[annotation.certificate];
  const entry = annotations[annotation.bundle];
  const timestamp = annotations[annotation.timestamp];
  if (certificate === undefined) throw new Error('it has no certificate');
  if (entry === undefined) throw new Error('it has no entry of a transparency log');
  const rfc3161Timestamps =
    timestamp === undefined ? [] : [{ signedTimestamp: parseJson(timestampSchema, timestamp, 'its timestamp').SignedRFC3161Timestamp }];
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: leafOf(certificate) }] },
      tlogEntries: [toLogEntry(entry)],
      timestampVerificationData: { rfc3161Timestamps },
    },
  };
}

function toLogEntry(text: string): object {
  const { SignedEntryTimestamp, Payload } = parseJson(entrySchema, text, 'its log entry');
  const { kind, apiVersion } = parseJson(bodySchema, Buffer.from(Payload.body, 'base64').toString('utf8'), 'the body of its log entry');
  return {
    logIndex: String(Payload.logIndex),
    logId: { keyId: Buffer.from(Payload.logID, 'hex').toString('base64') },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(Payload.integratedTime),
    inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
    canonicalizedBody: Payload.body,
  };
}

function leafOf(pem: string): string {
  const [, leaf] = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/.exec(pem) ?? [];
  if (leaf === undefined) throw new Error('its certificate is not in PEM form');
  return leaf.replaceAll(/\s/g, '');
}

const payloadSchema = z.object({
  critical: z.object({
    type: z.string(),
    image: z.object({ 'docker-manifest-digest': z.string() }),
  }),
});

/**
 * The digest in a payload of cosign 2; throws an Error for any other text. Its docker-reference is ignored, because images are signed where they were built,
 * and then copied. https://github.com/containers/image/blob/main/docs/containers-signature.5.md
 */
export function readSimplePayload(bytes: Buffer): string {
  const { critical } = parseJson(payloadSchema, bytes.toString('utf8'), 'it');
  if (critical.type !== 'cosign container image signature') throw new Error(`it is of type "${critical.type}"`);
  return critical.image['docker-manifest-digest'];
}

/** Parses JSON against a schema; throws an Error that names the part and says what is wrong with it. */
export function parseJson<T extends z.ZodType>(schema: T, json: string | Uint8Array, part: string, limits?: JsonLimits): z.output<T> {
  let value: unknown;
  try {
    value = parseBoundedJson(json, limits);
  } catch (error) {
    throw new Error(`${part} is not JSON`, { cause: error });
  }
  return checkShape(schema, value, part);
}

/** Checks a value against a schema; throws an Error that names the part and says what is wrong with it. */
export function checkShape<T extends z.ZodType>(schema: T, value: unknown, part: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${part} has another shape (${issue?.path.join('.')})`);
}
