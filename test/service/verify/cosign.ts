/** Signatures as cosign 2 and 3 make them, with keys and keyless; every part can be made wrong. */
import { generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import type { BundleSignature } from '../../../src/service/verify/find-signatures.ts';
import type { SimpleSignature } from '../../../src/service/verify/simple-bundle.ts';
import type { LogEntry, Sigstore } from './sigstore.ts';

/** Who signs: a key, and the hash that is used with it (none for Ed25519). */
export interface Signer {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly algorithm: string | null;
}

export const ecSigner = (namedCurve = 'P-256', algorithm = 'sha256'): Signer => ({
  ...generateKeyPairSync('ec', { namedCurve }),
  algorithm,
});
export const rsaSigner = (modulusLength = 2048, algorithm = 'sha256'): Signer => ({
  ...generateKeyPairSync('rsa', { modulusLength }),
  algorithm,
});
export const edSigner = (): Signer => ({ ...generateKeyPairSync('ed25519'), algorithm: null });
export const pemOf = ({ publicKey }: Signer): string => publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** What cosign 2 signs. */
export function simplePayload(
  digest: string,
  { type = 'cosign container image signature', reference = 'registry.example.com/shop/web' } = {},
): Buffer {
  return Buffer.from(
    JSON.stringify({
      critical: { identity: { 'docker-reference': reference }, image: { 'docker-manifest-digest': digest }, type },
      optional: null,
    }),
  );
}

/** cosign 2: `cosign sign --key`. */
export function signSimple(digest: string, signer: Signer, payload: Buffer = simplePayload(digest)): SimpleSignature {
  const signature = sign(signer.algorithm, payload, signer.privateKey).toString('base64');
  return { kind: 'simple', payload, annotations: { 'dev.cosignproject.cosign/signature': signature } };
}

/** What cosign 3 signs. */
export function statementOf(
  digest: string,
  { predicateType = 'https://sigstore.dev/cosign/sign/v1', type = 'https://in-toto.io/Statement/v1', predicate = {} } = {},
): Buffer {
  const [algorithm = '', hex = ''] = digest.split(':');
  return Buffer.from(JSON.stringify({ _type: type, subject: [{ digest: { [algorithm]: hex } }], predicateType, predicate }));
}

export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const payloadType = 'application/vnd.in-toto+json';

export interface Content {
  readonly payload?: Buffer;
  readonly payloadType?: string;
}

/** cosign 3: `cosign sign --key`, without a log. */
export function signBundle(digest: string, signer: Signer, content: Content = {}): BundleSignature {
  const hint = hash('sha256', signer.publicKey.export({ type: 'spki', format: 'der' }), 'base64');
  const { envelope } = sealed(digest, signer, content);
  return toBundle({ publicKey: { hint }, tlogEntries: [] }, envelope);
}

export interface KeylessOptions extends Content {
  readonly sigstore: Sigstore;
  readonly identity?: string;
  readonly issuer?: string;
  /** When the certificate begins. */
  readonly issuedAt?: Date;
  /** When the log took the entry. */
  readonly loggedAt?: Date;
  /** Whether the certificate is in the CT log. */
  readonly isCertificateLogged?: boolean;
  /** Whether the signature is in the transparency log. */
  readonly isLogged?: boolean;
}

export const releaser = {
  identity: 'https://github.com/shop/web/.github/workflows/release.yml@refs/tags/v1',
  issuer: 'https://token.actions.githubusercontent.com',
};
export const signedAt = new Date('2026-03-01T12:00:00Z');

/** cosign 3, keyless. */
export function signBundleKeyless(digest: string, options: KeylessOptions): BundleSignature {
  const signer = ecSigner();
  const { envelope, ...content } = sealed(digest, signer, options);
  const certificate = issue(signer, options);
  const entry = logEnvelope({ envelope, ...content, certificate }, options);
  return toBundle(
    { certificate: { rawBytes: certificate.toString('base64') }, tlogEntries: options.isLogged === false ? [] : [entry] },
    envelope,
  );
}

/** cosign 2, keyless. */
export function signSimpleKeyless(digest: string, options: KeylessOptions): SimpleSignature {
  const signer = ecSigner();
  const { payload, annotations } = signSimple(digest, signer, options.payload);
  const signature = annotations['dev.cosignproject.cosign/signature'] ?? '';
  const certificate = pemOfCertificate(issue(signer, options));
  const spec = {
    data: { hash: { algorithm: 'sha256', value: hash('sha256', payload, 'hex') } },
    signature: { content: signature, publicKey: { content: Buffer.from(certificate).toString('base64') } },
  };
  const entry = options.sigstore.log('hashedrekord', spec, options.loggedAt ?? signedAt);
  return { kind: 'simple', payload, annotations: { ...annotations, ...keylessAnnotations(certificate, entry, options) } };
}

/** A layer of an attestation of cosign 2: an envelope of DSSE, and what proves who signed it. */
export interface EnvelopeLayer {
  readonly json: Buffer;
  readonly annotations: Readonly<Record<string, string>>;
}

/** cosign 2: `cosign attest --key`. */
export function signEnvelope(digest: string, signer: Signer, content: Content = {}): EnvelopeLayer {
  const { envelope } = sealed(digest, signer, content);
  return { json: Buffer.from(JSON.stringify(envelope)), annotations: { 'dev.cosignproject.cosign/signature': '' } };
}

/** cosign 2: `cosign attest`, keyless. */
export function signEnvelopeKeyless(digest: string, options: KeylessOptions): EnvelopeLayer {
  const signer = ecSigner();
  const { envelope, ...content } = sealed(digest, signer, options);
  const certificate = issue(signer, options);
  const entry = logEnvelope({ envelope, ...content, certificate }, options);
  const annotations = keylessAnnotations(pemOfCertificate(certificate), entry, options);
  return { json: Buffer.from(JSON.stringify(envelope)), annotations: { 'dev.cosignproject.cosign/signature': '', ...annotations } };
}

type LoggedEnvelope = ReturnType<typeof sealed> & { readonly certificate: Buffer };

function logEnvelope({ envelope, signature, payload, certificate }: LoggedEnvelope, { sigstore, loggedAt = signedAt }: KeylessOptions) {
  const spec = {
    envelopeHash: { algorithm: 'sha256', value: hash('sha256', JSON.stringify(envelope), 'hex') },
    payloadHash: { algorithm: 'sha256', value: hash('sha256', payload, 'hex') },
    signatures: [{ signature, verifier: Buffer.from(pemOfCertificate(certificate)).toString('base64') }],
  };
  return sigstore.log('dsse', spec, loggedAt);
}

/** What cosign 2 writes beside a keyless signature. */
function keylessAnnotations(certificate: string, entry: LogEntry, { isLogged }: KeylessOptions): Record<string, string> {
  const bundle = JSON.stringify({
    SignedEntryTimestamp: entry.inclusionPromise.signedEntryTimestamp,
    Payload: {
      body: entry.canonicalizedBody,
      integratedTime: Number(entry.integratedTime),
      logIndex: 0,
      logID: Buffer.from(entry.logId.keyId, 'base64').toString('hex'),
    },
  });
  return {
    'dev.sigstore.cosign/certificate': certificate,
    'dev.sigstore.cosign/chain': '',
    ...(isLogged !== false && { 'dev.sigstore.cosign/bundle': bundle }),
  };
}

function issue({ publicKey }: Signer, { sigstore, isCertificateLogged: isLogged = true, ...options }: KeylessOptions): Buffer {
  const { identity, issuer, issuedAt: notBefore = new Date(signedAt.getTime() - 60_000) } = { ...releaser, ...options };
  return sigstore.issue({ publicKey, identity, issuer, notBefore, isLogged });
}

function sealed(digest: string, signer: Signer, content: Content) {
  const { payload = statementOf(digest), payloadType: type = payloadType } = content;
  const header = Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `);
  const signature = sign(signer.algorithm, Buffer.concat([header, payload]), signer.privateKey).toString('base64');
  const envelope = { payload: payload.toString('base64'), payloadType: type, signatures: [{ sig: signature, keyid: '' }] };
  return { envelope, signature, payload };
}

function toBundle(verificationMaterial: object, dsseEnvelope: object): BundleSignature {
  return { kind: 'bundle', json: Buffer.from(JSON.stringify({ mediaType: bundleType, verificationMaterial, dsseEnvelope })) };
}

function pemOfCertificate(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
