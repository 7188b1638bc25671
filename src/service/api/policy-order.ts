/** The orders of a list of policies, and its pages. */
import type { Each } from '../../core/async/in-parallel.ts';
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

/** Which page of a list: its order, how many policies it has at most, and the `next` of the page before. */
export interface PolicyPage {
  readonly order: PolicyOrder;
  readonly limit: number;
  readonly after?: string | undefined;
}

/**
 * A page of policies that are sorted by namespace and name. The `next` of a page is RANK:NAMESPACE/NAME: the place of its last policy, so no policy is missed if
 * that one has been deleted since.
 */
export async function pageOf(
  policies: readonly Listed[],
  { order, limit, after }: PolicyPage,
  each: Each,
): Promise<{ readonly page: readonly Listed[]; readonly next?: string }> {
  const [encoded = '', key = ''] = (after ?? '').split(/:(.*)/s);
  const first = firstOf(rankIn[order], limit + 1, after === undefined ? undefined : { rank: decodeRank(encoded), key });
  await each(policies, first.consider);
  // One more than the page shows whether there is a next one.
  const page = first.placed.slice(0, limit);
  const last = page.at(-1);
  return {
    page: page.map(({ listed }) => listed),
    ...(first.placed.length > page.length && last !== undefined && { next: `${encodeURIComponent(last.rank)}:${last.listed.key}` }),
  };
}

/** The first `count` policies after a place, in their order. A page is a hundredth of all policies, so these are picked out instead of sorting all. */
function firstOf(
  rankOf: (listed: Listed) => string,
  count: number,
  from: { readonly rank: string; readonly key: string } | undefined,
): { readonly placed: readonly Placed[]; consider(listed: Listed): void } {
  const placed: Placed[] = [];
  return {
    placed,
    consider(listed) {
      const rank = rankOf(listed);
      if (from !== undefined && !(rank > from.rank || (rank === from.rank && listed.key > from.key))) return;
      // Policies of one rank keep their order, so one that is not before the last one is not before any.
      const last = placed.at(-1);
      if (last === undefined || rank >= last.rank) {
        if (placed.length < count) placed.push({ listed, rank });
        return;
      }
      if (placed.length === count) placed.pop();
      placed.splice(placeOf(rank, placed), 0, { listed, rank });
    },
  };
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
