import { codeOf, explainConnection } from '../../core/model/connection-failure.ts';
import { WaitError } from '../../core/model/errors.ts';
import type { HttpAnswer } from './http.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** The sources of time (ms since 1970) and randomness (0 to 1), as parameters for tests. */
export interface Clock {
  now: () => number;
  random: () => number;
}

// The jitter of a pause, as a share, so that requests that were refused together are not repeated together.
const spread = 0.1;

/** The error for an unexpected answer: a WaitError if the host asked for a pause, otherwise a plain Error (retry). */
export function unexpectedAnswer(what: string, answer: HttpAnswer, { now, random }: Clock): Error {
  const { status, url, retryAt } = answer;
  const message = `${what}: registry answered ${status}${describeBody(answer.body)}`;
  const at = now();
  if (retryAt !== undefined) {
    const until = new Date(Math.ceil(retryAt + (retryAt - at) * spread * random()));
    return new WaitError('RegistryThrottled', until, `${message}, and the request is repeated at ${until.toISOString()}`);
  }
  if (status === 400 && url.protocol === 'http:') return new Error(`${message}; if it serves https, remove insecure: true for it`);
  return new Error(message);
}

/** ` (CODE: message)` of the first error in an OCI error document; empty for any other body. */
export function describeBody(body: Buffer): string {
  try {
    const document = parseBoundedJson(body) as { errors?: { code?: unknown; message?: unknown }[] } | null;
    const { code, message } = document?.errors?.[0] ?? {};
    const text = [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
    return text === '' ? '' : ` (${text.length > 200 ? `${text.slice(0, 200)}…` : text})`;
  } catch {
    // A body that is not JSON, such as the error page of a proxy, would not help in a message.
    return '';
  }
}

const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether the server closed the connection before it answered, as happens to a kept-alive connection that is used when it expires. */
export function isClosedConnection(error: unknown): boolean {
  return closed.has(codeOf(error));
}

const configured = 'for it in registries of the configuration';
const remedies = {
  UnknownAuthority: `if a private authority issued it, set caFile ${configured}`,
  NotTls: `if it serves plain http, set insecure: true ${configured}; otherwise check the port`,
  NotHttp: `if it serves https, remove insecure: true ${configured}; otherwise check the port`,
};

/** What to do about a host that accepts connections and sends no answer, or a part of one. */
export const silenceRemedy = 'check the host and port, network policies and firewalls, and whether the host is overloaded';

/** Why a connection to a registry failed and what to do about it; undefined if the error is not known. */
export function explainConnectionError(error: unknown): string | undefined {
  const known = explainConnection(error, remedies);
  return known && `${known.sentence}; ${known.remedy}`;
}
