/** Bounds the questions about permissions. A caller without any may name ever new namespaces, and the API server has to answer about each. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { AccessError, type ReviewAccess } from './access.ts';

const minuteMs = 60_000;
/** How many questions about one user are asked in a minute. Pages and streams ask about at most 200 namespaces, two kinds and two verbs, and answers are kept for 10 s. */
const maxOfUser = 6_000;
const maxRemembered = 10_000;

/** Creates the bounds of one process. */
export function boundQuestions(review: ReviewAccess, elapsed: () => number): ReviewAccess {
  const asked = new BoundedMap<string, { readonly since: number; readonly count: number }>(maxRemembered);
  return async (caller, question) => {
    const recent = asked.get(caller.user);
    const { since, count } = recent !== undefined && elapsed() - recent.since < minuteMs ? recent : { since: elapsed(), count: 0 };
    if (count >= maxOfUser) throw new AccessError(429, 'too many permissions of yours were asked for; try again in a minute');
    asked.set(caller.user, { since, count: count + 1 });
    return review(caller, question);
  };
}
