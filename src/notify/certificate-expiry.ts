import { X509Certificate } from 'node:crypto';
import { splitBundle } from '../core/model/certificate-bundle.ts';

/** How soon a certificate expires. Each stage has its own message. */
export type ExpiryStage = 'Expired' | '3 days' | '14 days';

const dayMs = 86_400_000;
const stages: readonly (readonly [stage: ExpiryStage, withinMs: number])[] = [
  ['Expired', 0],
  ['3 days', 3 * dayMs],
  ['14 days', 14 * dayMs],
];

/** The first expiry of the certificates in a PEM text, if it is soon. Unreadable certificates are ignored. */
export function soonestExpiry(pem: string, now: Date): { readonly stage: ExpiryStage; readonly notAfter: Date } | undefined {
  const [notAfter] = splitBundle(pem)
    .map((one) => new X509Certificate(one).validToDate)
    .toSorted((a, b) => a.getTime() - b.getTime());
  if (notAfter === undefined) return undefined;
  const found = stages.find(([, withinMs]) => notAfter.getTime() - now.getTime() <= withinMs);
  return found && { stage: found[0], notAfter };
}
