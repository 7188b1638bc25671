import { defined } from '../../../core/model/defined.ts';
import { type Dispatcher, request } from 'undici';

/** A request to a cloud API: a GET, or a POST if it has a `form`. */
export interface JsonRequest {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields of an urlencoded form, which is sent by POST. */
  readonly form?: Readonly<Record<string, string>>;
  /** The dispatcher of the connections; direct ones unless given. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** The answer of a cloud API; `body` is {} if the answer is not a JSON object. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const maxBytes = 256 * 1024;

/** Sends a request to a cloud API and follows no redirects. `url` must come from our code, never from a tenant or a registry. Rejects if there is no answer. */
export async function fetchJson(url: string, { signal, headers = {}, form, dispatcher }: JsonRequest): Promise<JsonAnswer> {
  const answer = await request(url, {
    method: form === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', ...(form && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
    signal,
    ...defined({ dispatcher }),
    ...(form && { body: new URLSearchParams(form).toString() }),
    // The connection is closed, because requests are about an hour apart.
    reset: true,
  });
  let text = '';
  for await (const chunk of answer.body.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > maxBytes) throw new Error(`the answer of ${new URL(url).host} is larger than ${maxBytes} bytes`);
  }
  return { status: answer.statusCode, headers: answer.headers, body: parseObject(text) };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    // The caller reports missing fields. The text itself is not reported, because it may contain a token.
    return {};
  }
}
