/** Explains to users why a connection failed, based on the errors of sockets, TLS and undici. Pure. */
import { describeError } from './errors.ts';
import { cut, toSeconds } from './text.ts';

type OwnProblem =
  | 'Refused'
  | 'NoRoute'
  | 'TimedOut'
  | 'Closed'
  | 'NameNotFound'
  | 'NameLookup'
  | 'Expired'
  | 'NotYetValid'
  | 'WrongName'
  | 'UnknownAuthority'
  | 'NotTls'
  | 'TlsFailed'
  | 'NotHttp';

export type ConnectionProblem = OwnProblem | 'ProxyUnreachable' | 'ProxyRefused';

/** The failure of a proxy. `cause`: why it could not be reached. Without it, the proxy answered `status` to the request for `target` (`ghcr.io:443`). */
type ProxyProblem = { readonly cause: unknown } | { readonly status: number; readonly target: string };

/** A request failed at the proxy that it goes through. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** The HTTP status that the proxy answered; undefined if it could not be reached. */
  readonly status: number | undefined;

  /** `proxy` is its name for users, which never contains its credentials. */
  constructor(proxy: string, problem: ProxyProblem) {
    if ('cause' in problem) super(`the proxy ${proxy} cannot be reached`, problem);
    else super(`the proxy ${proxy} answered ${problem.status} to CONNECT ${problem.target}`);
    this.status = 'cause' in problem ? undefined : problem.status;
  }
}

/** The explanation of a failure. `sentence` describes it (`the connection was refused by 10.0.0.1:443 (ECONNREFUSED)`), and `remedy` says what to do. */
export interface ConnectionFailure {
  readonly problem: ConnectionProblem;
  readonly sentence: string;
  readonly remedy: string;
}

/** Texts of a client that replace the general remedies, for example with the setting that adds an authority. */
export type Remedies = Partial<Readonly<Record<ConnectionProblem, string>>>;

/** The parts of the presented certificate that a sentence needs. `cert` is in Node's error for a wrong name, and `connectVerified` in that for a wrong date. */
interface PresentedCertificate {
  readonly valid_from?: unknown;
  readonly valid_to?: unknown;
  readonly subjectaltname?: unknown;
}

const problems: Readonly<Record<string, OwnProblem>> = {
  ECONNREFUSED: 'Refused',
  EHOSTUNREACH: 'NoRoute',
  ENETUNREACH: 'NoRoute',
  ETIMEDOUT: 'TimedOut',
  UND_ERR_CONNECT_TIMEOUT: 'TimedOut',
  UND_ERR_HEADERS_TIMEOUT: 'TimedOut',
  ECONNRESET: 'Closed',
  EPIPE: 'Closed',
  UND_ERR_SOCKET: 'Closed',
  ENOTFOUND: 'NameNotFound',
  EAI_AGAIN: 'NameLookup',
  CERT_HAS_EXPIRED: 'Expired',
  CERT_NOT_YET_VALID: 'NotYetValid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'WrongName',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'UnknownAuthority',
  SELF_SIGNED_CERT_IN_CHAIN: 'UnknownAuthority',
  UNABLE_TO_GET_ISSUER_CERT: 'UnknownAuthority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'UnknownAuthority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'UnknownAuthority',
  ERR_SSL_WRONG_VERSION_NUMBER: 'NotTls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'NotTls',
  ERR_SSL_HTTP_REQUEST: 'NotTls',
};

const without = 'NO_PROXY and registries[].proxy: none are for hosts that need no proxy';
const network = 'check the host and port, network policies and firewalls';
const remedies: Readonly<Record<ConnectionProblem, string>> = {
  Refused: network,
  NoRoute: network,
  TimedOut: network,
  Closed: 'check the port, and the load balancers, proxies and firewalls in between',
  NameNotFound: 'check the host, and the DNS of the pod',
  NameLookup: 'check the DNS of the pod',
  Expired: 'renew the certificate of the host',
  NotYetValid: 'check the clocks, and the certificate of the host',
  WrongName: 'use a name that is in the certificate of the host',
  UnknownAuthority: 'if a private authority issued it, let the process trust that: NODE_EXTRA_CA_CERTS',
  NotTls: 'check that the port is one for https',
  TlsFailed: 'check the versions and ciphers of TLS that the host accepts, and that the port is one for https',
  NotHttp: 'check that the port is one for http',
  ProxyUnreachable: `check its address, that it runs, and who may connect to it; ${without}`,
  ProxyRefused: `have it allow the host and port; ${without}`,
};
const proxyAnswers: readonly { readonly from: number; readonly remedy: string }[] = [
  {
    from: 500,
    remedy: `the proxy itself could not connect to the host: check the host and port, and the DNS and firewall of the proxy; ${without}`,
  },
  { from: 408, remedy: remedies.ProxyRefused },
  { from: 407, remedy: 'write the user and password that the proxy accepts into its URL: http://USER:PASSWORD@HOST:PORT' },
];

/** Explains an error; undefined if it is not a known error of a connection. */
export function explainConnection(error: unknown, own: Remedies = {}): ConnectionFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof ProxyFailure) return explainProxy(error, own);
  if (error instanceof AggregateError && error.errors.length > 0) return explainAddresses(error.errors, own);
  const code = codeOf(error);
  const problem = problemOf(error, code);
  if (problem === undefined) return undefined;
  const sentence = `${describe(problem, error)}${code === '' ? '' : ` (${code})`}`;
  return { problem, sentence, remedy: own[problem] ?? remedies[problem] };
}

/**
 * Explains the error for a host with several addresses, which contains one error for each. Where only some networks are missing, as IPv6 is in many clusters, the
 * errors of the others say more.
 */
function explainAddresses(errors: readonly unknown[], own: Remedies): ConnectionFailure | undefined {
  const failures = errors.map((error) => explainConnection(error, own));
  return failures.find((failure) => failure !== undefined && failure.problem !== 'NoRoute') ?? failures[0];
}

function explainProxy({ message, status, cause }: ProxyFailure, own: Remedies): ConnectionFailure {
  if (status === undefined) {
    const why = explainConnection(cause)?.sentence ?? describeError(cause);
    return { problem: 'ProxyUnreachable', sentence: `${message}: ${why}`, remedy: own.ProxyUnreachable ?? remedies.ProxyUnreachable };
  }
  const remedy = own.ProxyRefused ?? proxyAnswers.find(({ from }) => status >= from)?.remedy ?? remedies.ProxyRefused;
  return { problem: 'ProxyRefused', sentence: message, remedy };
}

/** The sentence and the remedy for an error. An unknown error is described by its own message and those of its causes. */
export function describeConnectionError(error: unknown, own: Remedies = {}): string {
  const known = explainConnection(error, own);
  return known === undefined ? describeError(error) : `${known.sentence}; ${known.remedy}`;
}

/** The code of an error of Node or undici; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function problemOf({ name }: Error, code: string): OwnProblem | undefined {
  if (Object.hasOwn(problems, code)) return problems[code];
  if (name === 'TimeoutError') return 'TimedOut';
  if (name === 'HTTPParserError') return 'NotHttp';
  return code.startsWith('ERR_SSL_') ? 'TlsFailed' : undefined;
}

function describe(problem: OwnProblem, error: Error): string {
  const certificate: PresentedCertificate | null = 'cert' in error && typeof error.cert === 'object' ? error.cert : null;
  switch (problem) {
    case 'Refused':
      return `the connection was refused${addressOf(error)}`;
    case 'NoRoute':
      return `no network route leads${addressOf(error, 'to') || ' there'}`;
    case 'TimedOut':
      return `timed out${addressOf(error, 'at')}`;
    case 'Closed':
      return 'the connection was closed before an answer came';
    case 'NameNotFound':
      return 'DNS does not know its name';
    case 'NameLookup':
      return 'DNS did not answer';
    case 'Expired':
      return `its certificate ${dated('expired on', certificate?.valid_to) ?? 'has expired'}`;
    case 'NotYetValid':
      return `its certificate ${dated('is not valid before', certificate?.valid_from) ?? 'is not valid yet'}`;
    case 'WrongName':
      return `its certificate is for ${namesOf(certificate)}, not for ${'host' in error ? String(error.host) : 'this name'}`;
    case 'UnknownAuthority':
      return 'its certificate is from an unknown authority';
    case 'NotTls':
      return 'it does not answer with TLS';
    case 'TlsFailed':
      return 'the TLS handshake failed';
    case 'NotHttp':
      return 'it does not answer with HTTP';
  }
}

function addressOf(error: Error, preposition = 'by'): string {
  if (!('address' in error) || typeof error.address !== 'string') return '';
  const host = error.address.includes(':') ? `[${error.address}]` : error.address;
  return ` ${preposition} ${host}${'port' in error ? `:${String(error.port)}` : ''}`;
}

/** A sentence with a date of a certificate: `expired on 2026-11-20T10:00:00Z`. */
function dated(what: string, date: unknown): string | undefined {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? undefined : `${what} ${toSeconds(new Date(at))}`;
}

const maxNames = 120;

/** The first names in a certificate. Node formats them as `DNS:a.example.com, IP Address:10.0.0.1`. */
function namesOf(certificate: PresentedCertificate | null): string {
  const text = typeof certificate?.subjectaltname === 'string' ? certificate.subjectaltname : '';
  const names = text.replaceAll(/(?:^|, )(?:DNS|IP Address|URI|email):/g, (_, offset) => (offset === 0 ? '' : ', '));
  return names === '' ? 'no name' : cut(names.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), maxNames);
}
