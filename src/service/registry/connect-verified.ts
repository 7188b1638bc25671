import type { X509Certificate } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { connect } from 'node:tls';
import { buildConnector } from 'undici';
import { codeOf } from '../../core/model/connection-failure.ts';
import { defined } from '../../core/model/defined.ts';

export interface ConnectOptions {
  readonly lookup: LookupFunction;
  readonly timeoutMs: number;
  /** The certificate authorities that are trusted; those of Node unless given. */
  readonly ca?: string[];
}

const wrongDates = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/**
 * Opens connections for undici. Node attaches a certificate to the error for a wrong name, but not to the error for a wrong date. For a wrong date, the
 * certificate is read by a second connection, over which nothing is sent, and attached in the same way (`cert`).
 */
export function connectVerified({ lookup, timeoutMs, ...ca }: ConnectOptions): buildConnector.connector {
  // HTTP/1.1 is used, because HTTP/2 gains nothing for a few requests at a time, and many registries are behind old proxies.
  const open = buildConnector({ lookup, timeout: timeoutMs, allowH2: false, ...ca });
  return (options, callback) => {
    open(options, (...result) => {
      const [error] = result;
      if (error === null || !wrongDates.has(codeOf(error))) return callback(...result);
      readCertificate(options, { lookup, timeoutMs }, (cert) =>
        callback(cert === undefined ? error : Object.assign(error, { cert }), null),
      );
    });
  };
}

/** The dates of a certificate, as in Node's PeerCertificate. */
interface Dates {
  readonly valid_from: string;
  readonly valid_to: string;
}

/** The dates of the first certificate of the chain that is not valid now; undefined if it cannot be read. */
function readCertificate(
  { hostname, port, servername }: buildConnector.Options,
  { lookup, timeoutMs }: ConnectOptions,
  onDates: (dates: Dates | undefined) => void,
): void {
  const socket = connect({
    host: hostname,
    port: Number(port === '' ? 443 : port),
    lookup,
    ...defined({ servername }),
    rejectUnauthorized: false,
    timeout: timeoutMs,
  });
  let dates: Dates | undefined;
  socket.once('secureConnect', () => {
    dates = findInvalid(socket.getPeerX509Certificate());
    socket.destroy();
  });
  socket.once('timeout', () => socket.destroy());
  // Errors of this connection are ignored, because the first error has been reported.
  socket.on('error', () => undefined);
  socket.once('close', () => onDates(dates));
}

const maxChain = 10;

function findInvalid(certificate: X509Certificate | undefined): Dates | undefined {
  const now = new Date();
  let current = certificate;
  for (let depth = 0; depth < maxChain && current !== undefined; depth++) {
    if (now < current.validFromDate || now > current.validToDate) return { valid_from: current.validFrom, valid_to: current.validTo };
    current = current.issuerCertificate;
  }
  return undefined;
}
