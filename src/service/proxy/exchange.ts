/** Sends one request to a target, and interprets its response. */
import { parseJson } from '../../core/model/untyped.ts';
import { parseRetryAfter } from '../../core/async/backoff.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import { explainConnection } from '../../core/model/connection-failure.ts';
import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import { cut } from '../../core/model/text.ts';

/** The result of a request. `message` and `action` (what to do) are for the operator. Refused: it is no use to repeat the same request. */
export type SendResult =
  | { readonly kind: 'sent'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly action?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly action?: string; readonly until?: Date };

/** The fields of a result for the log. */
export function describeResult(result: SendResult): string {
  return 'action' in result && result.action !== undefined ? `${result.message}; ${result.action}` : result.message;
}

export interface SendOptions {
  readonly fetch: typeof fetch;
  /** The current time, in ms since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** The timeout of the whole request; 15 s by default. */
  readonly timeoutMs?: number;
}

const maxPauseMs = 3_600_000;
const maxText = 300;
const maxJson = 1024 * 1024;
/** The statuses that refuse the message itself. Other errors may be fixed without a change: a revoked URL, a permission, a proxy. */
const refusals = new Set([400, 413, 415, 422]);
/** The minimum length of a secret part of a path. Shorter parts are no secrets, and could be words of the response. */
const minSecretPart = 8;

/** The response of an API. `json` is its body, if that is JSON and not too long. */
export interface Exchanged {
  readonly result: SendResult;
  /** The status; absent without a response. */
  readonly status?: number;
  readonly json?: unknown;
}

/**
 * Sends one request, and reads the response if `wantsJson`. Never rejects. The URL is a secret, so messages name only its host. Redirects are not followed,
 * because they could lead the message to another host.
 */
export async function exchange(
  url: URL,
  request: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  },
  options: SendOptions & { readonly wantsJson?: boolean },
): Promise<Exchanged> {
  const { fetch, now, timeoutMs = 15_000, wantsJson = false } = options;
  const what = `${request.method} to ${url.origin}`;
  const deadline = startDeadline(timeoutMs, options.signal);
  try {
    const answer = await fetch(url, { ...request, redirect: 'manual', signal: deadline.signal });
    const { status } = answer;
    if (!answer.ok) return { status, result: await readFailure(answer, what, url, now()) };
    const result = { kind: 'sent', message: `${what} was answered ${status}` } as const;
    if (wantsJson) return { status, result, json: parseJson(await readText(answer, maxJson)) };
    await answer.body?.cancel();
    return { status, result };
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
    const known = explainConnection(cause);
    const message = `${what}: ${withoutSecrets(known?.sentence ?? describeError(cause), url)}`;
    return { result: { kind: 'failed', message, ...(known !== undefined && { action: known.remedy }) } };
  } finally {
    deadline.end();
  }
}

async function readFailure(answer: Response, what: string, url: URL, now: number): Promise<SendResult> {
  const { status } = answer;
  const line = (await readText(answer, 2 * maxText)).replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const message = `${what} was answered ${status}${withoutSecrets(line === '' ? '' : `: ${line}`, url)}`;
  const advice = adviceOnStatus(status);
  const failure = { message, ...defined({ action: advice }) };
  if (refusals.has(status)) return { kind: 'refused', ...failure };
  const pause = parseRetryAfter(answer.headers.get('retry-after') ?? undefined, now);
  return {
    kind: 'failed',
    ...failure,
    ...(pause !== undefined && { until: new Date(now + Math.min(Math.max(pause, 1_000), maxPauseMs)) }),
  };
}

/** The advice for operators on the status of a response; undefined if only waiting helps. */
function adviceOnStatus(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed: configure the URL that it leads to';
  if (status === 400 || status === 415 || status === 422)
    return 'check that `kind` of the target (`type` of a NotificationTarget) is what receives its messages';
  if (status === 401 || status === 403 || status === 404 || status === 410) return 'check that the URL of the target is still valid';
  return status === 413 ? 'raise the limit of the receiver' : undefined;
}

/** The beginning of a body. What exceeds the limit is cut off. */
async function readText(answer: Response, maxLength: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= maxLength) break;
  }
  return text;
}

/** Removes secrets of the URL from a text. Servers quote an unknown path ("Cannot POST /services/…"), which is the secret. */
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
