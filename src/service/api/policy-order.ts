/** The orders of a list of policies, and its pages. Pure. */
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { policyStates, type PolicyState } from './policy-view.ts';

export const policyOrders = ['name', 'state', 'changed'] as const;
export type PolicyOrder = (typeof policyOrders)[number];

export interface Listed {
  readonly policy: ImagePolicy;
  readonly state: PolicyState;
}

/** The rank of a policy in each order. The lowest rank comes first, and policies of one rank are sorted by namespace and name. */
const rankIn: Readonly<Record<PolicyOrder, (listed: Listed) => number>> = {
  name: () => 0,
  state: ({ state }) => policyStates.indexOf(state),
  changed: ({ policy }) => Number.MAX_SAFE_INTEGER - Date.parse(policy.status.history?.[0]?.at ?? '1970-01-01T00:00:00Z'),
};

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
  const placed = policies.map((listed) => ({ listed, rank: rankIn[order](listed), key: policyKey(listed.policy) }));
  // The sort is stable, so policies of one rank keep their order.
  if (order !== 'name') placed.sort((a, b) => a.rank - b.rank);
  const [rank = '0', key = ''] = (after ?? '').split(/:(.*)/s);
  const rest =
    after === undefined ? placed : placed.filter((one) => one.rank > Number(rank) || (one.rank === Number(rank) && one.key > key));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    page: page.map(({ listed }) => listed),
    ...(rest.length > page.length && last !== undefined && { next: `${last.rank}:${last.key}` }),
  };
}
