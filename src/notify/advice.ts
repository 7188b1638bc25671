/** What an operator can do about a request that failed. Pure. */

/** By status of the answer; undefined if only waiting helps. */
export function adviceOnStatus(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed: configure the URL that it leads to';
  if (status === 400 || status === 415 || status === 422) return 'check that `kind` of the target is what receives its messages';
  if (status === 401 || status === 403 || status === 404 || status === 410) return 'check that the URL of the target is still valid';
  return status === 413 ? 'raise the limit of the receiver' : undefined;
}

const ca = 'if a private authority issued it, let the process trust that: NODE_EXTRA_CA_CERTS';
const network = 'check the host and port in the URL, network policies and firewalls';

const byCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'check the host in the URL, and the DNS of the pod',
  EAI_AGAIN: 'check the DNS of the pod',
  ECONNREFUSED: network,
  EHOSTUNREACH: network,
  ENETUNREACH: network,
  ETIMEDOUT: network,
  UND_ERR_CONNECT_TIMEOUT: network,
  CERT_HAS_EXPIRED: 'renew the certificate of the host',
  CERT_NOT_YET_VALID: 'check the clocks, and the certificate of the host',
  ERR_TLS_CERT_ALTNAME_INVALID: 'use the name that is in the certificate of the host',
  DEPTH_ZERO_SELF_SIGNED_CERT: ca,
  SELF_SIGNED_CERT_IN_CHAIN: ca,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ca,
  UNABLE_TO_GET_ISSUER_CERT: ca,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ca,
};

/** By the error of a connection; undefined if it is not known. */
export function adviceOnError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // A host with several addresses has one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return adviceOnError(error.errors[0]);
  if (error.name === 'TimeoutError') return network;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return byCode[code] ?? (code.startsWith('ERR_SSL_') ? 'check that the port in the URL is one for https' : undefined);
}
