import { X509Certificate } from 'node:crypto';
import { type Check, failed, type Finding, ok, type ServedCertificate, skipped, warning } from '../finding.ts';
import { say, sayAge, type Said } from '../say.ts';

/** The certificates to check, and how long they must be valid. */
export interface CertificateFacts {
  /** The time now, in ms since 1970. */
  readonly now: number;
  /** Certificates that expire within this time, in ms, are reported. */
  readonly warnWithinMs: number;
  /** The certificates of the conversion webhook; absent if it is not used, or is checked elsewhere. */
  readonly conversion?: ConversionCertificates;
  readonly others?: readonly OtherCertificate[];
}

/** The certificates of the conversion webhook that the API server trusts, and the one that it is presented. */
export interface ConversionCertificates {
  /** The bundle of the CustomResourceDefinition (PEM), or why it is not known. If empty, the API server trusts the authorities of its system. */
  readonly bundle: string | { readonly why: string };
  readonly served: ServedCertificate;
}

/** Any other certificate: its PEM, or why it could not be read. */
export interface OtherCertificate {
  readonly line: 'ingress' | 'gateway' | 'registry-ca';
  readonly name: string;
  readonly pem: string | { readonly why: string };
}

/** Checks that certificates are trusted, and valid for some time. */
export const certificates: Check<CertificateFacts> = {
  id: 'certificates',
  lines: ['conversion-trust', 'conversion-end', 'ingress', 'gateway', 'registry-ca'],
  evaluate: ({ now, warnWithinMs, conversion, others = [] }) => [
    ...(conversion === undefined ? [] : conversionFindings(conversion, now, warnWithinMs)),
    ...others.map(({ line, name, pem }) => {
      if (typeof pem !== 'string') return skipped(`certificates/${line}`, say('certificate.unreadable', name, pem.why));
      return end(`certificates/${line}`, name, pem, { now, warnWithinMs });
    }),
  ],
};

function conversionFindings({ bundle, served }: ConversionCertificates, now: number, warnWithinMs: number): Finding[] {
  const line = 'certificates/conversion-trust';
  if ('why' in served) return [skipped(line, `the certificate of the conversion webhook is not known: ${served.why}`)];
  const validity = end('certificates/conversion-end', say('certificate.conversion'), served.certificate, {
    now,
    warnWithinMs,
  });
  if (typeof bundle !== 'string')
    return [skipped(line, `the caBundle of the CustomResourceDefinition is not known: ${bundle.why}`), validity];
  if (bundle === '')
    return [skipped(line, 'the CustomResourceDefinition has no caBundle: the API server uses the authorities of its system'), validity];
  const leaf = read(served.certificate)[0];
  const authorities = read(bundle);
  const isTrusted = leaf !== undefined && authorities.some((ca) => isSame(ca, leaf) || (leaf.checkIssued(ca) && leaf.verify(ca.publicKey)));
  return [
    isTrusted
      ? ok(line, 'the caBundle of the CustomResourceDefinition trusts what the conversion webhook presents')
      : failed(
          line,
          'the caBundle of the CustomResourceDefinition does not trust what the conversion webhook presents: policies cannot be converted',
          'check the log of the role convert for "conversion certificate: will try again", and its permission convert-crd; with cert-manager, the annotation cert-manager.io/inject-ca-from',
        ),
    validity,
  ];
}

function isSame(a: X509Certificate, b: X509Certificate): boolean {
  return a.fingerprint256 === b.fingerprint256;
}

function end(line: string, name: string | Said, pem: string, { now, warnWithinMs }: { now: number; warnWithinMs: number }): Finding {
  const all = read(pem);
  const [first] = all.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime());
  if (first === undefined) return failed(line, say('certificate.none', name), say('certificate.none.do'));
  const leftMs = first.validToDate.getTime() - now;
  const until = first.validTo;
  const renew = say('certificate.renew');
  if (leftMs <= 0) return failed(line, say('certificate.ended', name, sayAge(leftMs), until), renew);
  if (first.validFromDate.getTime() > now)
    return failed(line, say('certificate.early', name, first.validFrom), say('certificate.early.do'));
  if (leftMs < warnWithinMs) return warning(line, say('certificate.ends', name, sayAge(leftMs), until), renew);
  return ok(line, say('certificate.valid', name, sayAge(leftMs), until));
}

/** The readable certificates of a PEM text. Unreadable ones in a bundle have no effect. */
function read(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}
