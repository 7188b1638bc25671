import { X509Certificate } from 'node:crypto';
import { splitBundle } from '../core/model/certificate-bundle.ts';

/** How soon a certificate ends; each stage is worth another message. */
export type ExpiryStage = 'Expired' | '3 days' | '14 days';

const dayMs = 86_400_000;
const stages: readonly (readonly [stage: ExpiryStage, withinMs: number])[] = [
  ['Expired', 0],
  ['3 days', 3 * dayMs],
  ['14 days', 14 * dayMs],
];

/** When the first of the certificates in a PEM text ends, if that is soon; those that cannot be read are ignored. */
export function soonestExpiry(pem: string, now: Date): { readonly stage: ExpiryStage; readonly notAfter: Date } | undefined {
  const [notAfter] = splitBundle(pem)
    .map((one) => new X509Certificate(one).validToDate)
    .toSorted((a, b) => a.getTime() - b.getTime());
  if (notAfter === undefined) return undefined;
  const found = stages.find(([, withinMs]) => notAfter.getTime() - now.getTime() <= withinMs);
  return found && { stage: found[0], notAfter };
}
