import { request } from 'undici';

export interface JsonRequest {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by POST. */
  readonly form?: Readonly<Record<string, string>>;
}

/** The answer of an API of a cloud; what is no JSON object is an empty one. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const maxBytes = 256 * 1024;

/** Asks an address that we made ourselves, never one that a tenant or a registry named; follows no redirects. Rejects where there is no answer. */
export async function fetchJson(url: string, { signal, headers = {}, form }: JsonRequest): Promise<JsonAnswer> {
  const answer = await request(url, {
    method: form === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', ...(form && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
    signal,
    ...(form && { body: new URLSearchParams(form).toString() }),
    // Asked once an hour: nothing is gained by an open connection.
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
    // Whoever asked says what is missing; the text may hold a token.
    return {};
  }
}
