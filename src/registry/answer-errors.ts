import { WaitError } from '../model/errors.ts';
import type { HttpAnswer } from './http.ts';

/** Time and chance, as parameters. */
export interface Clock {
  now: () => number;
  random: () => number;
}

// Those who were turned away together should not come back together.
const spread = 0.1;

/** The error for an answer that nobody expected, by what happens next: what the host asked to wait for is a WaitError, everything else a plain Error (retry). */
export function unexpectedAnswer(what: string, answer: HttpAnswer, { now, random }: Clock): Error {
  const { status, url, retryAt } = answer;
  const message = `${what}: registry answered ${status}${describeBody(answer.body)}`;
  const at = now();
  if (retryAt !== undefined) {
    const until = new Date(Math.ceil(retryAt + (retryAt - at) * spread * random()));
    return new WaitError('RegistryThrottled', until, `${message}, and is asked again at ${until.toISOString()}`);
  }
  if (status === 400 && url.protocol === 'http:') return new Error(`${message}; does it speak https? Then remove insecure: true for it`);
  return new Error(message);
}

/** ` (CODE: message)` of the first error in an OCI error document, or nothing. */
export function describeBody(body: Buffer): string {
  try {
    const document = JSON.parse(body.toString('utf8')) as { errors?: { code?: unknown; message?: unknown }[] } | null;
    const { code, message } = document?.errors?.[0] ?? {};
    const text = [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
    return text === '' ? '' : ` (${text.length > 200 ? `${text.slice(0, 200)}…` : text})`;
  } catch {
    // Not JSON: pages of proxies help nobody in a message.
    return '';
  }
}
