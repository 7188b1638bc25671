import { Agent, request as httpsRequest } from 'node:https';

/** What the API server answered instead of success. */
export class KubeRequestError extends Error {
  override name = 'KubeRequestError';
  readonly status: number;
  readonly body: string;

  constructor(call: string, status: number, body: string) {
    super(`${call}: ${status} ${messageOf(body)}`);
    this.status = status;
    this.body = body;
  }
}

/** Sends one request and returns the parsed answer; `contentType` is JSON, and a merge patch for PATCH, unless it is given; `accept` is JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- the caller knows which kind it asked for
export type KubeRequest = <T = any>(method: string, path: string, body?: unknown, contentType?: string, accept?: string) => Promise<T>;

/** How long an API server may be silent on an overloaded machine. */
const patienceMs = 120_000;

/** A small client for tests, independent of the one under test. */
export function kubeRequest({ server, token, caPem }: { server: string; token: string; caPem: string }): KubeRequest {
  const agent = new Agent({ ca: caPem, keepAlive: true, timeout: patienceMs });
  return async <T>(method: string, path: string, body?: unknown, contentType?: string, accept = 'application/json'): Promise<T> => {
    const { status, text } = await send(new URL(path, server), {
      agent,
      method,
      token,
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      contentType: contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'),
      accept,
    });
    if (status >= 300) throw new KubeRequestError(`${method} ${path}`, status, text);
    // Health endpoints answer plain text.
    return (/^\s*[[{]/.test(text) ? JSON.parse(text) : text) as T;
  };
}

type Call = { agent: Agent; method: string; token: string; body: string | undefined; contentType: string; accept: string };

function send(url: URL, { agent, method, token, body, contentType, accept }: Call): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // Node does not tell the length of the body of a DELETE by itself, and the server takes it for the next request then.
    const length = body && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
    const headers = { authorization: `Bearer ${token}`, accept, ...length };
    const call = httpsRequest(url, { agent, method, headers, timeout: patienceMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on('timeout', () => call.destroy(new Error(`${method} ${url.pathname}: no answer for ${patienceMs / 1_000} s`)));
    call.on('error', reject);
    call.end(body);
  });
}

function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body;
  } catch {
    return body;
  }
}
