import { X509Certificate } from 'node:crypto';

/** The certificates of a bundle, each in PEM; anything else is left out. */
export function splitBundle(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.filter(isCertificate).map((block) => `${block}\n`);
}

function isCertificate(block: string): boolean {
  try {
    return Boolean(new X509Certificate(block));
  } catch {
    return false;
  }
}
