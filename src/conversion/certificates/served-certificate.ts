import { isIP } from 'node:net';
import { connect } from 'node:tls';

/** The certificate that a listener presents (PEM), of any issuer. Nothing is sent to the listener. Rejects on timeout. */
export function readServedCertificate(host: string, port: number, timeoutMs: number): Promise<string> {
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
