/** The orders of a list of policies, and its pages. Pure. */
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { scopeOf } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { policyStates, type PolicyState } from '../../core/model/policy-state.ts';

export const policyOrders = ['name', 'state', 'changed', 'reason', 'image'] as const;
export type PolicyOrder = (typeof policyOrders)[number];

export interface Listed {
  readonly policy: ImagePolicy;
  readonly state: PolicyState;
}

/** The rank of a policy in each order, as a text. The first rank comes first, and policies of one rank are sorted by namespace and name. */
const rankIn: Readonly<Record<PolicyOrder, (listed: Listed) => string>> = {
  name: () => '',
  state: ({ state }) => urgencyOf(state),
  changed: ({ policy }) => String(Number.MAX_SAFE_INTEGER - Date.parse(policy.status.history?.[0]?.at ?? '1970-01-01T00:00:00Z')),
  reason: ({ policy, state }) => `${urgencyOf(state)} ${decisiveCondition(policy.status.conditions ?? [])?.reason ?? ''}`,
  image({ policy }) {
    const scope = scopeOf(policy.spec);
    return scope === undefined ? '' : formatRepository(scope.repository);
  },
};

function urgencyOf(state: PolicyState): string {
  return String(policyStates.indexOf(state)).padStart(2, '0');
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
  const placed = policies.map((listed) => ({ listed, rank: rankIn[order](listed), key: policyKey(listed.policy) }));
  // The sort is stable, so policies of one rank keep their order.
  if (order !== 'name') placed.sort((a, b) => (a.rank === b.rank ? 0 : a.rank < b.rank ? -1 : 1));
  const [encoded = '', key = ''] = (after ?? '').split(/:(.*)/s);
  const rank = decodeRank(encoded);
  const rest = after === undefined ? placed : placed.filter((one) => one.rank > rank || (one.rank === rank && one.key > key));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    page: page.map(({ listed }) => listed),
    ...(rest.length > page.length && last !== undefined && { next: `${encodeURIComponent(last.rank)}:${last.key}` }),
  };
}

function decodeRank(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
