import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** What a TLS listener shows: a certificate, with its chain, and the key of it, both PEM. */
export interface ServingPair {
  readonly certificate: string;
  readonly key: string;
}

/** The pair as a listener can use it; throws an Error that says what is wrong with it. */
export function checkServingPair(pair: ServingPair): ServingPair & { readonly notAfter: Date } {
  const leaf = new X509Certificate(pair.certificate);
  if (!leaf.checkPrivateKey(createPrivateKey(pair.key))) throw new Error('the key does not belong to the certificate');
  // The rest of the chain.
  createSecureContext({ cert: pair.certificate, key: pair.key });
  return { certificate: pair.certificate, key: pair.key, notAfter: leaf.validToDate };
}
