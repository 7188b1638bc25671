/** Sends a request to a CI system, and interprets its answer. */
import { parseRetryAfter } from '../../core/async/backoff.ts';
import { describeConnectionError } from '../../core/model/connection-failure.ts';
import { cut } from '../../core/model/text.ts';
import type { CiRequest } from './order.ts';

/** The result of a request. `message` is for the user. Refused: it is no use to repeat the same request. */
export type SendResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string; readonly until?: Date };

export interface SendOptions {
  readonly fetch: typeof fetch;
  /** The current time, in ms since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const timeoutMs = 15_000;
const maxPauseMs = 3_600_000;
const maxText = 300;
/** The statuses that mean an invalid request. Any other error may be fixed without a change of the policy: the token, a permission, a missing workflow. */
const refusals = new Set([400, 405, 406, 410, 413, 414, 415, 422]);

/** Sends the request once; never rejects. Redirects are not followed, because they could lead the token to another host. */
export async function sendRequest({ url, headers, body }: CiRequest, { fetch, now, signal }: SendOptions): Promise<SendResult> {
  const what = `POST ${url.origin}${url.pathname}`;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: deadline });
    const { status } = answer;
    if (answer.ok) {
      await answer.body?.cancel();
      return { kind: 'accepted' };
    }
    const message = `${what} was answered ${status}${await readText(answer)}${hintFor(status)}`;
    if (refusals.has(status)) return { kind: 'refused', message };
    const pause = parseRetryAfter(answer.headers.get('retry-after') ?? undefined, now());
    return {
      kind: 'failed',
      message,
      ...(pause !== undefined && { until: new Date(now() + Math.min(Math.max(pause, 1_000), maxPauseMs)) }),
    };
  } catch (error) {
    return { kind: 'failed', message: `${what}: ${describeFault(error)}` };
  }
}

/** Describes an error. The message of a TypeError without a cause is left out: it quotes the header that cannot be sent, and so the Secret. */
function describeFault(error: unknown): string {
  if (!(error instanceof TypeError)) return describeConnectionError(error);
  return error.cause === undefined
    ? 'the request cannot be sent: the Secret must be one line of ASCII characters, to be sent in a header'
    : describeConnectionError(error.cause);
}

/** The beginning of the text of an error response, in one line. */
async function readText(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= maxText) break;
  }
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line === '' ? '' : `: ${cut(line, maxText)}`;
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return '; check the token in the Secret, and what it may do';
  if (status === 404) return '; check the repository and the workflow or job, and that the token may see them';
  return status >= 300 && status < 400 ? '; redirects are not followed: write the address that it leads to' : '';
}
