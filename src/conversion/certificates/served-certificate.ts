import { isIP } from 'node:net';
import { connect } from 'node:tls';

/** The certificate that a listener presents (PEM), whoever issued it; nothing is sent to it. Rejects if there is none in time. */
export function readServedCertificate(host: string, port: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    // It is compared with what the API server trusts by the caller.
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
