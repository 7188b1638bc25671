import type { Bundle } from '@sigstore/bundle';
import { toSignedEntity, Verifier, type Signer, type TrustMaterial } from '@sigstore/verify';
import type { SignerIdentity } from '../model/verification.ts';

const subjectAlternativeName = '2.5.29.17';
const issuerExtensions = ['1.3.6.1.4.1.57264.1.8', '1.3.6.1.4.1.57264.1.1'];

/**
 * Verifies a keyless signature of `artifact` (not needed for an envelope, which brings its own): the certificate chain at the time that the log or a
 * timestamp proves, the certificate's entry in a CT log, the signature's entry in the transparency log, the signature. Says who made it, and nothing
 * about what was signed. Throws whatever is wrong.
 */
export function verifyKeyless(bundle: Bundle, artifact: Buffer | undefined, trustRoot: TrustMaterial): SignerIdentity {
  return readIdentity(new Verifier(trustRoot).verify(toSignedEntity(bundle, artifact)));
}

function readIdentity({ identity }: Signer): SignerIdentity {
  const name = identity?.subjectAlternativeName;
  const issuer = identity?.extensions?.issuer;
  if (name === undefined || issuer === undefined) throw new Error('the certificate names no e-mail address or URL, or no issuer');
  // The library reads these as ASCII and drops the eighth bit, which would make other bytes look like the wanted ones.
  if (!isWritten(identity, [subjectAlternativeName], name) || !isWritten(identity, issuerExtensions, issuer)) {
    throw new Error('the identity in the certificate is not ASCII');
  }
  return { issuer, identity: name };
}

function isWritten(identity: Signer['identity'], oids: readonly string[], text: string): boolean {
  const values = identity?.oids?.filter(({ oid }) => oids.includes(oid?.id.join('.') ?? '')) ?? [];
  return values.some(({ value }) => value.includes(Buffer.from(text, 'latin1')));
}
