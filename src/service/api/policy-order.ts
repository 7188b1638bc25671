/** The orders of a list of policies, and its pages. Pure. */
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { policyStates, type PolicyState } from '../../core/model/policy-state.ts';
import type { Listed } from './listed.ts';

export const policyOrders = ['name', 'state', 'changed', 'reason', 'image'] as const;
export type PolicyOrder = (typeof policyOrders)[number];

const urgencies = Object.fromEntries(policyStates.map((state, index) => [state, String(index).padStart(2, '0')])) as Readonly<
  Record<PolicyState, string>
>;

/** The rank of a policy in each order, as a text. The first rank comes first, and policies of one rank are sorted by namespace and name. */
const rankIn: Readonly<Record<PolicyOrder, (listed: Listed) => string>> = {
  name: () => '',
  state: ({ state }) => urgencies[state],
  changed: ({ changedRank }) => changedRank,
  reason: ({ policy, state }) => `${urgencies[state]} ${decisiveCondition(policy.status.conditions ?? [])?.reason ?? ''}`,
  image: ({ image = '' }) => image,
};

interface Placed {
  readonly listed: Listed;
  readonly rank: string;
}

/**
 * A page of policies that are sorted by namespace and name. `after` is the `next` of the previous page, RANK:NAMESPACE/NAME. It is the place of that page's
 * last policy, so no policy is missed if that one has been deleted since.
 */
export function pageOf(
  policies: readonly Listed[],
  order: PolicyOrder,
  limit: number,
  after: string | undefined,
): { readonly page: readonly Listed[]; readonly next?: string } {
  const [encoded = '', key = ''] = (after ?? '').split(/:(.*)/s);
  const from = after === undefined ? undefined : { rank: decodeRank(encoded), key };
  // One more than the page shows whether there is a next one.
  const found = firstOf(policies, rankIn[order], limit + 1, from);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    page: page.map(({ listed }) => listed),
    ...(found.length > page.length && last !== undefined && { next: `${encodeURIComponent(last.rank)}:${last.listed.key}` }),
  };
}

/** The first `count` policies after a place, in their order. A page is a hundredth of all policies, so these are picked out instead of sorting all. */
function firstOf(
  policies: readonly Listed[],
  rankOf: (listed: Listed) => string,
  count: number,
  from: { readonly rank: string; readonly key: string } | undefined,
): readonly Placed[] {
  const first: Placed[] = [];
  for (const listed of policies) {
    const rank = rankOf(listed);
    if (from !== undefined && !(rank > from.rank || (rank === from.rank && listed.key > from.key))) continue;
    // Policies of one rank keep their order, so one that is not before the last one is not before any.
    const last = first.at(-1);
    if (last === undefined || rank >= last.rank) {
      if (first.length < count) first.push({ listed, rank });
      continue;
    }
    if (first.length === count) first.pop();
    first.splice(placeOf(rank, first), 0, { listed, rank });
  }
  return first;
}

/** Where a rank belongs among sorted ones: behind its equals. */
function placeOf(rank: string, sorted: readonly Placed[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.rank ?? '') <= rank) low = middle + 1;
    else high = middle;
  }
  return low;
}

function decodeRank(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
