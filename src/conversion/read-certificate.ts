import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { within } from '../core/async/deadline.ts';
import { describeConnectionError } from '../core/model/connection-failure.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import type { ServedCertificate } from '../service/doctor/finding.ts';

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

/** The certificate that a listener presents (PEM), of any issuer. Nothing is sent to the listener. Rejects on timeout. */
function readServedCertificate(host: string, port: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    // The certificate is not verified here: the caller compares it with those that the API server trusts.
    const socket = connect({ host, port, ...name, rejectUnauthorized: false, timeout: timeoutMs });
    const end = (act: () => void) => {
      socket.destroy();
      act();
    };
    socket.once('timeout', () => end(() => reject(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`))));
    socket.once('error', (error) => end(() => reject(error)));
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      end(() =>
        certificate === undefined ? reject(new Error(`${host}:${port} presents no certificate`)) : resolve(certificate.toString()),
      );
    });
  });
}
