import { hash } from 'node:crypto';
import { bundleFromJSON, type Bundle } from '@sigstore/bundle';
import { z } from 'zod';
import type { SimpleSignature } from './found-signature.ts';

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

/**
 * A keyless signature of cosign 2 in the form of a Sigstore bundle (v0.1), so that there is one way to verify both. The digest in it is that of the
 * payload that we have. Throws an Error when parts are missing.
 */
export function toBundle({ payload, annotations }: SimpleSignature): Bundle {
  const certificate = annotations[annotation.certificate];
  const entry = annotations[annotation.bundle];
  const timestamp = annotations[annotation.timestamp];
  if (certificate === undefined) throw new Error('it has no certificate');
  if (entry === undefined) throw new Error('it has no entry of a transparency log');
  const rfc3161Timestamps =
    timestamp === undefined ? [] : [{ signedTimestamp: timestampSchema.parse(JSON.parse(timestamp)).SignedRFC3161Timestamp }];
  return bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: leafOf(certificate) }] },
      tlogEntries: [toLogEntry(entry)],
      timestampVerificationData: { rfc3161Timestamps },
    },
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest: hash('sha256', payload, 'base64') },
      signature: annotations[annotation.signature],
    },
  });
}

function toLogEntry(text: string): object {
  const { SignedEntryTimestamp, Payload } = entrySchema.parse(JSON.parse(text));
  const { kind, apiVersion } = bodySchema.parse(JSON.parse(Buffer.from(Payload.body, 'base64').toString('utf8')));
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
