/** Sends one request to a target, and reads its answer. */
import { parseRetryAfter } from '../async/backoff.ts';
import { describeError } from '../model/errors.ts';
import { cut } from '../model/text.ts';
import type { TargetRequest } from './message.ts';

/** What became of a request; `message` is for the operator. Refused: repeating the same request is no use. */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string; readonly until?: Date };

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
      return { kind: 'sent' };
    }
    const message = `${what} was answered ${status}${withoutSecrets(await readText(answer), url)}${hintFor(status)}`;
    if (refusals.has(status)) return { kind: 'refused', message };
    const pause = parseRetryAfter(answer.headers.get('retry-after') ?? undefined, now());
    return {
      kind: 'failed',
      message,
      ...(pause !== undefined && { until: new Date(now() + Math.min(Math.max(pause, 1_000), maxPauseMs)) }),
    };
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
    return { kind: 'failed', message: `${what}: ${withoutSecrets(describeError(cause), url)}` };
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
function withoutSecrets(text: string, { pathname, search, username, password }: URL): string {
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

function hintFor(status: number): string {
  if (status === 401 || status === 403 || status === 404 || status === 410) return '; check that the URL of the target is still valid';
  return status >= 300 && status < 400 ? '; redirects are not followed: configure the URL that it leads to' : '';
}
