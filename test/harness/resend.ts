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
