import { type Dispatcher, request } from 'undici';

/** Fetches a text. The URL comes from the configuration or from our code only. */
export type FetchText = (url: string, signal: AbortSignal) => Promise<string>;

/** The server answered with a status other than 200. */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered ${status}`);
    this.status = status;
  }
}

const maxBytes = 512 * 1_024;

/**
 * Creates a function that fetches a text of at most 512 kB over https (http on loopback, for tests and sidecars). It follows no redirects, and throws
 * FetchRefused for any status but 200. For keys and certificates only, whose URLs come from the configuration or from our code, never from a payload.
 */
export function createFetchText(dispatcher: Dispatcher): FetchText {
  return (url, signal) => fetchText(url, signal, dispatcher);
}

async function fetchText(url: string, signal: AbortSignal, dispatcher: Dispatcher): Promise<string> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))) {
    throw new Error(`${url} is not https`);
  }
  // Requests are minutes apart: a kept-alive connection would have died before the next.
  const answer = await request(url, {
    dispatcher,
    signal,
    reset: true,
    headers: { accept: 'application/json, application/x-pem-file, */*' },
  });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new FetchRefused(url, answer.statusCode);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer of ${url} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
