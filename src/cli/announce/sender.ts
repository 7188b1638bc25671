/** Sends a push to a receiver, and asks what became of it. */
import { z } from 'zod';
import { describeError } from '../../core/model/errors.ts';
import { parseJson } from '../../core/model/untyped.ts';

/** Where a push is announced, and what proves who announces it. */
export interface Announcer {
  /** The URL of the receiver: https://hooks.example.com/webhooks/ci. */
  readonly url: URL;
  /** The secret or the token. */
  readonly proof: string;
  readonly fetch: typeof fetch;
}

const requestMs = 30_000;

/** The answer could not be used; the message says why, and what to do. */
export class AnnounceError extends Error {
  override readonly name = 'AnnounceError';
  /** Whether another try may succeed. */
  readonly isTemporary: boolean;
  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

const acceptance = z.object({
  accepted: z.array(z.object({ id: z.string(), delivery: z.string().optional() })).default([]),
  ignored: z.array(z.object({ reason: z.string() })).default([]),
});
export type Acceptance = z.output<typeof acceptance>;

const policyReport = z.object({
  policy: z.string(),
  state: z.string(),
  isOver: z.boolean(),
  reason: z.string().optional(),
  message: z.string().optional(),
  page: z.string().optional(),
});
const report = z.object({
  image: z.string(),
  state: z.string(),
  isOver: z.boolean(),
  message: z.string().optional(),
  policies: z.array(policyReport),
});
/** What became of a push, as the receiver says it. */
export type Report = z.output<typeof report>;

/** Announces an image. The same `id` again is the same push. Throws AnnounceError. */
export async function announceImage(announcer: Announcer, image: string, id: string): Promise<Acceptance> {
  const body = JSON.stringify({ image, id });
  return ask(announcer, announcer.url, acceptance, { method: 'POST', body });
}

/** Asks about the delivery of an image. Throws AnnounceError. */
export async function askReport(announcer: Announcer, delivery: string): Promise<Report> {
  const url = new URL(announcer.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/deliveries/${encodeURIComponent(delivery)}`;
  return ask(announcer, url, report, { method: 'GET' });
}

async function ask<S extends z.ZodType>(
  { proof, fetch: fetchFrom }: Announcer,
  url: URL,
  schema: S,
  init: { readonly method: 'GET' | 'POST'; readonly body?: string },
): Promise<z.output<S>> {
  let answer: Response;
  let text: string;
  try {
    const headers = { authorization: `Bearer ${proof}`, 'content-type': 'application/json' };
    answer = await fetchFrom(url, { ...init, headers, redirect: 'error', signal: AbortSignal.timeout(requestMs) });
    text = await answer.text();
  } catch (error) {
    throw new AnnounceError(`${url.host} cannot be reached: ${describeError(error)}`, true);
  }
  const parsed = parseJson(text);
  if (answer.ok) {
    const read = schema.safeParse(parsed);
    if (read.success) return read.data;
    throw new AnnounceError(`${url.host} answered ${answer.status}, but not as a receiver of image-watcher does: compare --to`, false);
  }
  const said = z.object({ error: z.string() }).safeParse(parsed).data?.error ?? text.slice(0, 200);
  throw new AnnounceError(`${url.host} answered ${answer.status}: ${said}`, answer.status === 429 || answer.status >= 500);
}
