const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether the server closed the connection before it answered, as happens when a kept-alive one is used just when it expires. */
export function isClosedConnection(error: unknown): boolean {
  return closed.has(codeOf(error));
}

/** What went wrong with a connection, and which setting to look at when it smells of one. */
export function explainConnectionError(error: unknown, url: URL): string {
  const code = codeOf(error);
  const text = error instanceof Error ? `${code} ${error.message}` : String(error);
  const what = `cannot talk to ${url.host}${code === '' ? '' : ` (${code})`}`;
  if (untrusted.has(code)) return `${what}: its certificate is not trusted; set caFile for it in registries of the configuration`;
  if (url.protocol === 'https:' && /wrong.version.number|packet.length.too.long|http.request/i.test(text)) {
    return `${what}: is it plain http? Then set insecure: true for it in registries of the configuration`;
  }
  if (url.protocol === 'http:' && code.startsWith('HPE_')) {
    return `${what}: is it https? Then remove insecure: true for it in registries of the configuration`;
  }
  return what;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
