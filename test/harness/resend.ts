import { waitFor } from './wait-for.ts';

/**
 * Sends what was answered 503 again, as every sender does: on a busy machine Redis may confirm too late. For tests that are about what comes after the
 * answer.
 */
export function resend<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  return waitFor('an answer other than 503', async () => {
    const answer = await send();
    return answer.status !== 503 && answer;
  });
}

/** Sends again what an API server answered 429: on a busy machine it may not be ready to list what it serves ("storage is (re)initializing"). Rejects as `send` does. */
export async function untilServed<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  const sent = await waitFor('the API server to be ready', async () => {
    const [outcome] = await Promise.allSettled([send()]);
    return (outcome.status === 'rejected' || outcome.value.status !== 429) && outcome;
  });
  if (sent.status === 'rejected') throw sent.reason;
  return sent.value;
}
