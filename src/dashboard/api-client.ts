/** The client of the dashboard for the API. Everything is read and changed with the rights of the current user. */
import type { z } from 'zod';
import type { Turns } from '../core/async/turns.ts';
import { problemSchema } from '../service/api/problem.ts';
import type { RouteOf } from '../service/api/route.ts';

/** The headers that identify the caller. */
export type CallerHeaders = Readonly<Record<string, string>>;

/** The sender of a request to the dashboard. */
export interface Sender {
  readonly headers: CallerHeaders;
  /** The address from which the sender connects. */
  readonly peer: string;
}

export interface ApiRequest extends Sender {
  readonly method: 'GET' | 'POST';
  /** The path below `/api/v1` with its query. */
  readonly path: string;
  readonly body?: string;
}

interface ApiAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends requests to the API in this process or in another one. */
export interface ApiTransport {
  /** What a reading of a page costs in all processes, as a multiple of what it costs in this one. */
  readonly costs: number;
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** Reads the text of a stream until `signal` is aborted. */
  stream(request: ApiRequest, signal: AbortSignal): Promise<{ readonly status: number; readonly body: AsyncIterable<string> }>;
}

/** The API refused a request, or cannot be reached. `message` is for the user. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

type Values = Readonly<Record<string, string | number | undefined>>;

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The API with the rights of one user. */
export interface Api {
  /** Reads a route. `values` are its parameters and query. Throws ApiFailure. */
  read<A extends z.ZodType>(route: Pick<RouteOf<A>, 'path' | 'answer'>, values?: Values): Promise<z.output<A>>;
  /** Posts to a route. Throws ApiFailure. */
  send<A extends z.ZodType>(route: Pick<RouteOf<A>, 'path' | 'answer'>, values: Values, body: object): Promise<z.output<A>>;
  /** Requests an action on a policy, or on the policy of a base. Throws ApiFailure. */
  post(action: string, policy: Named, body: object, of?: 'policies' | 'bases'): Promise<void>;
}

/** The length of an answer that takes about a ms to read. */
const longAnswer = 16_384;

/** Creates the API for the sender of a request. `say`: what it refuses with, in the language of the user. `turns`: when a page may go on that has read a long answer. */
export function createApi(
  transport: ApiTransport,
  { headers, peer }: Sender,
  say: (message: string) => string = (message) => message,
  turns?: Pick<Turns, 'next'>,
): Api {
  const post = async (path: string, body: object): Promise<string> => {
    const json = { ...headers, 'content-type': 'application/json' };
    const { status, text } = await sendOrFail(transport, { method: 'POST', path, headers: json, peer, body: JSON.stringify(body) });
    if (status >= 300) throw new ApiFailure(status, errorIn(text));
    return text;
  };
  const sayFailure = async <T>(request: () => Promise<T>): Promise<T> => {
    try {
      return await request();
    } catch (error) {
      throw error instanceof ApiFailure ? new ApiFailure(error.status, say(error.message), { cause: error }) : error;
    }
  };
  return {
    read: ({ path, answer }, values = {}) =>
      sayFailure(async () => {
        const { status, text } = await sendOrFail(transport, { method: 'GET', path: addressOf(path, values), headers, peer });
        if (status !== 200) throw new ApiFailure(status, errorIn(text));
        const read = answer.parse(JSON.parse(text));
        // What is shown of a long answer takes as long as reading it.
        if (text.length > longAnswer) await turns?.next();
        return read;
      }),
    post: (action, { namespace, name }, body, of = 'policies') =>
      sayFailure(async () => void (await post(addressOf(`/${of}/{namespace}/{name}/${action}`, { namespace, name }), body))),
    send: ({ path, answer }, values, body) => sayFailure(async () => answer.parse(JSON.parse(await post(addressOf(path, values), body)))),
  };
}

async function sendOrFail(transport: ApiTransport, request: ApiRequest): Promise<ApiAnswer> {
  try {
    return await transport.send(request);
  } catch (error) {
    throw new ApiFailure(503, 'the API (dashboard.api) does not answer', { cause: error });
  }
}

/** Fills the parameters of a path, and appends the other values as its query. Throws ApiFailure(404) for a parameter that would lead to another path. */
export function addressOf(path: string, values: Values): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') continue;
    if (!filled.includes(`{${name}}`)) query.set(name, String(value));
    else if (/^\.{1,2}$/.test(String(value))) throw new ApiFailure(404, 'there is no such page');
    else filled = filled.replace(`{${name}}`, encodeURIComponent(value));
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

function errorIn(text: string): string {
  try {
    return problemSchema.pick({ detail: true }).parse(JSON.parse(text)).detail;
  } catch {
    return 'the API gave no reason';
  }
}
