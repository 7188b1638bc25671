/** Sends one request to a target, and reads its answer. */
import { parseRetryAfter } from '../async/backoff.ts';
import { describeError } from '../model/errors.ts';
import { cut } from '../model/text.ts';
import { adviceOnError, adviceOnStatus } from './advice.ts';
import type { TargetRequest } from './message.ts';

/** What became of a request; `message` and `action` (what to do) are for the operator. Refused: repeating the same request is no use. */
export type SendResult =
  | { readonly kind: 'sent'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly action?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly action?: string; readonly until?: Date };

/** What is logged of a result. */
export function describeResult(result: SendResult): string {
  return 'action' in result && result.action !== undefined ? `${result.message}; ${result.action}` : result.message;
}

export interface SendOptions {
  readonly fetch: typeof fetch;
  /** In ms since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** How long the whole request may take; 15 s unless given. */
  readonly timeoutMs?: number;
}

const maxPauseMs = 3_600_000;
const maxText = 300;
/** The message itself is not accepted. Everything else may be mended meanwhile: a revoked URL, a permission, a proxy. */
const refusals = new Set([400, 413, 415, 422]);
/** Shorter parts of a path are no secrets, and could be words of the answer. */
const minSecretPart = 8;

/** Posts it once; never rejects. The URL is a secret, so messages name only its host. Redirects are not followed: they could lead the message to another host. */
export async function sendNotice(url: URL, { headers, body }: TargetRequest, options: SendOptions): Promise<SendResult> {
  const { fetch, now, signal, timeoutMs = 15_000 } = options;
  const what = `POST to ${url.origin}`;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: deadline });
    const { status } = answer;
    if (answer.ok) {
      await answer.body?.cancel();
      return { kind: 'sent', message: `${what} was answered ${status}` };
    }
    const message = `${what} was answered ${status}${withoutSecrets(await readText(answer), url)}`;
    const advice = adviceOnStatus(status);
    const failure = { message, ...(advice !== undefined && { action: advice }) };
    if (refusals.has(status)) return { kind: 'refused', ...failure };
    const pause = parseRetryAfter(answer.headers.get('retry-after') ?? undefined, now());
    return {
      kind: 'failed',
      ...failure,
      ...(pause !== undefined && { until: new Date(now() + Math.min(Math.max(pause, 1_000), maxPauseMs)) }),
    };
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
    const advice = adviceOnError(cause);
    return {
      kind: 'failed',
      message: `${what}: ${withoutSecrets(describeError(cause), url)}`,
      ...(advice !== undefined && { action: advice }),
    };
  }
}

/** The beginning of an error's text, in one line. */
async function readText(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= 2 * maxText) break;
  }
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line === '' ? '' : `: ${line}`;
}

/** Servers name the path that they do not know ("Cannot POST /services/…"), which is the secret. */
export function withoutSecrets(text: string, { pathname, search, username, password }: URL): string {
  const parts = [pathname, search, username, password, ...pathname.split('/'), ...search.split(/[?&=]/)];
  const secrets = parts.flatMap((part) => [part, tryDecode(part)]).filter((part) => part.length >= minSecretPart);
  return cut(
    secrets.sort((a, b) => b.length - a.length).reduce((clean, secret) => clean.replaceAll(secret, '…'), text),
    maxText,
  );
}

function tryDecode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
