import type { Guard } from './guard.ts';
import { proofFor } from '../proven.ts';

/** Delays an image until the policies that this one follows have run it long enough (`select.proven`, `update.after`), or until somebody promotes it. */
export const proven: Guard = {
  id: 'proven',
  bindsRollback: false,
  check(_, { policy: { actions }, spec: { after }, followed, candidate, now }) {
    if (after === undefined) return undefined;
    const proof = followed === undefined ? undefined : proofFor(candidate, { after, actions }, followed);
    if (proof?.kind === 'proven') return undefined;
    if (proof?.kind !== 'waits' || followed === undefined)
      return {
        kind: 'blocked',
        reason: 'NotProven',
        message: proof?.message ?? `${candidate.tag} is not proven: nothing is known of the policies`,
      };
    const { message } = proof;
    // Where our own clock is ahead of the one that counts, the wait goes on by our own, which the delayed job uses.
    const leftMs = proof.until.getTime() - followed.at.getTime();
    const until = proof.until > now ? proof.until : new Date(now.getTime() + leftMs);
    return { kind: 'waits', reason: 'NotProven', message, until };
  },
};
