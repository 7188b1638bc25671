/** The keys and keyless signers that a policy trusts, and the verification of keyless signatures against a Sigstore trust root. */
import { type TrustMaterial, toSignedEntity, toTrustMaterial, Verifier, type Signer } from '@sigstore/verify';
import type { WantedSigner, SignerIdentity } from '../../core/model/verification.ts';
import type { PublicKey } from './public-keys.ts';
import type { Bundle } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { describeError } from '../../core/model/errors.ts';

/** The keys and signers that a policy trusts; with signers, the trust root is present as well. */
export interface Trust {
  readonly keys: readonly PublicKey[];
  readonly signers: readonly WantedSigner[];
  readonly trustRoot?: TrustMaterial;
}

/** The result of verifying one signature. `unrelated`: the object is an attestation, not a signature. */
export type SignatureResult =
  | { readonly kind: 'valid'; readonly by: string }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'unrelated' };

/** Reads a `trusted_root.json` of Sigstore; throws an Error that says what is wrong with it. */
export function readTrustRoot(text: string): TrustMaterial {
  const root = TrustedRoot.fromJSON(JSON.parse(text));
  const missing = [
    root.certificateAuthorities.length === 0 && 'certificateAuthorities',
    root.ctlogs.length === 0 && 'ctlogs',
    root.tlogs.length === 0 && 'tlogs',
  ].filter((part) => part !== false);
  if (missing.length > 0) throw new Error(`it is no trusted_root.json: it has no ${missing.join(', ')}`);
  return toTrustMaterial(root);
}

/**
 * Verifies a keyless signature and its signer. `artifact`: the signed bytes; undefined for an envelope, which contains them. The caller checks that the signature
 * is for the right image. Never throws: an error of any kind makes the signature invalid.
 */
export function verifyKeyless(read: () => Bundle, artifact: Buffer | undefined, { signers, trustRoot }: Trust): SignatureResult {
  if (trustRoot === undefined || signers.length === 0) return { kind: 'invalid', why: 'a signature is keyless' };
  try {
    const bundle = read();
    checkSize(bundle);
    const signer = readSigner(bundle, artifact, trustRoot);
    const isTrusted = signers.some((trusted) => trusted.matches(signer));
    const by = `${signer.identity} (by ${signer.issuer})`;
    return isTrusted ? { kind: 'valid', by } : { kind: 'invalid', why: `a signature was made by ${by}` };
  } catch (error) {
    return { kind: 'invalid', why: `a keyless signature cannot be verified: ${describeError(error)}` };
  }
}

/** The maximum number of log entries, and of timestamps, in a signature. Real ones have one or two. */
const maxEntries = 4;
/** The maximum size of a certificate, of a timestamp and of the signed state of a log. Real ones have up to some 2 KiB. */
const maxBytes = { certificate: 16_384, timestamp: 16_384, checkpoint: 4_096 };
/** The maximum number of digits of a position in a log. */
const maxDigits = 20;

/**
 * Throws if a signature has more evidence than any real one. It is counted before it is verified, because anybody who may push can write it, and each line of a
 * checkpoint costs one verification, and each pair of timestamps one comparison.
 */
function checkSize({ verificationMaterial: { content, tlogEntries, timestampVerificationData } }: Bundle): void {
  const timestamps = timestampVerificationData?.rfc3161Timestamps ?? [];
  const certificates =
    content.$case === 'certificate'
      ? [content.certificate]
      : content.$case === 'x509CertificateChain'
        ? content.x509CertificateChain.certificates
        : [];
  const isTooMuch =
    tlogEntries.length > maxEntries ||
    timestamps.length > maxEntries ||
    timestamps.some(({ signedTimestamp }) => signedTimestamp.length > maxBytes.timestamp) ||
    certificates.some(({ rawBytes }) => rawBytes.length > maxBytes.certificate) ||
    tlogEntries.some(
      ({ logIndex, integratedTime, inclusionProof: proof }) =>
        [logIndex, integratedTime, proof?.logIndex ?? ''].some((digits) => digits.length > maxDigits) ||
        (proof?.checkpoint?.envelope ?? '').length > maxBytes.checkpoint,
    );
  if (isTooMuch) throw new Error('it has more log entries, timestamps or certificates than any real signature, or larger ones');
}

/**
 * Returns the signer of a keyless signature. Verifies the certificate chain (at the time that the transparency log or a timestamp proves), the certificate's entry
 * in a CT log, the signature's entry in the transparency log, and the signature. Throws if any of them is invalid.
 */
function readSigner(bundle: Bundle, artifact: Buffer | undefined, trustRoot: TrustMaterial): SignerIdentity {
  const { identity }: Signer = new Verifier(trustRoot).verify(toSignedEntity(bundle, artifact));
  const name = identity?.subjectAlternativeName;
  const issuer = identity?.extensions?.issuer;
  if (name === undefined || issuer === undefined) throw new Error('the certificate names no e-mail address or URL, or no issuer');
  // Only ASCII texts are accepted: the library drops the eighth bit of each byte, so other bytes could look like a trusted identity.
  if (!isLiteral(identity, [subjectAlternativeName], name) || !isLiteral(identity, issuerExtensions, issuer)) {
    throw new Error('the identity in the certificate is not ASCII');
  }
  return { issuer, identity: name };
}

const subjectAlternativeName = '2.5.29.17';
const issuerExtensions = ['1.3.6.1.4.1.57264.1.8', '1.3.6.1.4.1.57264.1.1'];

function isLiteral(identity: Signer['identity'], oids: readonly string[], text: string): boolean {
  const values = identity?.oids?.filter(({ oid }) => oids.includes(oid?.id.join('.') ?? '')) ?? [];
  return values.some(({ value }) => value.includes(Buffer.from(text, 'latin1')));
}
