import { describeError } from '../../core/model/errors.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { KubeClient, KubeRequest } from './client.ts';

/** How much the API server's clock is ahead of ours, and how exactly that is known; or why it is not known. */
export type ServerTime = { readonly aheadMs: number; readonly toleranceMs: number } | { readonly why: string };

/** Passes the header Date of a response to `onAnswered`, if it is given. The header has whole seconds. */
export function readDate(onAnswered: OnAnswered | undefined): Pick<KubeRequest, 'onDate'> {
  if (onAnswered === undefined) return {};
  return {
    onDate: (header) => {
      const at = new Date(header);
      if (!Number.isNaN(at.getTime())) onAnswered(at);
    },
  };
}

/** Reads the clock of the API server from the header Date, which has whole seconds. A refusal has this header, too. */
export async function readServerTime(client: KubeClient, now: () => number, signal?: AbortSignal): Promise<ServerTime> {
  let date: string | undefined;
  const sentAt = now();
  try {
    await client.request({ method: 'GET', path: '/version', signal, onDate: (header) => (date = header) });
  } catch (error) {
    if (date === undefined) return { why: describeError(error) };
  }
  const halfTripMs = (now() - sentAt) / 2;
  const aheadMs = Date.parse(date ?? '') + 500 - (sentAt + halfTripMs);
  return Number.isFinite(aheadMs) ? { aheadMs, toleranceMs: 500 + halfTripMs } : { why: 'its responses have no Date' };
}
