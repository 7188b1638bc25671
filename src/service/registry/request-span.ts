import { type Attributes, currentSpan } from '../telemetry/tracing.ts';
import type { RequestRecord } from './http.ts';

/** Records a finished request to a registry in the current span, if there is one: its host and status, never its path, headers or body. */
export function recordInSpan({ host, kind, method, status, durationMs }: RequestRecord): void {
  const span = currentSpan();
  if (span === undefined) return;
  const attributes = {
    'http.request.method': method,
    ...addressOf(host),
    'image_watcher.registry.request': kind,
    ...(status === 'error' ? { 'error.type': 'no answer' } : { 'http.response.status_code': status }),
  };
  span.record({ name: `${method} ${kind}`, kind: 'client', startedAt: Date.now() - durationMs, attributes }, failureOf(status));
}

/** Splits an address such as `registry.example.com:5000` into its two parts. */
function addressOf(host: string): Attributes {
  const { hostname, port } = new URL(`https://${host}`);
  return { 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) };
}

/** Whether a status is a failure. Most 4xx are part of the protocol: a 401 names the token server, a 404 means that the tag does not exist. */
function failureOf(status: RequestRecord['status']): string | undefined {
  if (status === 'error') return 'there was no response';
  return status >= 500 || status === 429 ? `the registry answered ${status}` : undefined;
}
