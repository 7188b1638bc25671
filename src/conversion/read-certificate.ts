import { within } from '../core/async/deadline.ts';
import { describeConnectionError } from '../core/model/connection-failure.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { ServedCertificate } from '../service/doctor/finding.ts';
import { readServedCertificate } from './certificates/served-certificate.ts';

const connectMs = 5_000;

/** Reads the certificate that the conversion webhook presents to the API server. `own`: the address of the listener of this process, if it has one. */
export async function readConversionCertificate(
  { settings }: Pick<Foundation, 'settings'>,
  own: string | undefined,
): Promise<ServedCertificate> {
  const { name, namespace = settings.namespace } = settings.config.conversion.service;
  const url = new URL(own ?? `https://${name}.${namespace}.svc`);
  try {
    const read = readServedCertificate(url.hostname.replaceAll(/[[\]]/g, ''), Number(url.port || 443), connectMs);
    const certificate = await within(2 * connectMs, read);
    return certificate === undefined ? { why: 'no answer in time' } : { certificate };
  } catch (error) {
    return { why: `a worker cannot connect to ${url.host}: ${describeConnectionError(error)}` };
  }
}
