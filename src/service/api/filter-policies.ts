/** The filters of a list of policies, and how many policies each further choice would leave. Pure. */
import { scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Listed } from './policy-order.ts';
import { type PolicyState } from '../../core/model/policy-state.ts';
import { summarize } from './policy-view.ts';

export interface PolicyFilter {
  readonly states?: readonly PolicyState[] | undefined;
  /** Part of the namespace, name, image or tag, in any case. */
  readonly search?: string | undefined;
  readonly registry?: string | undefined;
  /** The key of a label whose values are counted; with `value`, only policies that have it. */
  readonly label?: { readonly key: string; readonly value?: string } | undefined;
  /** A digest that the status has: of what is selected, waits, was applied or is rejected. */
  readonly digest?: string | undefined;
  /** The receiver whose webhook caused the last change or find. */
  readonly receiver?: string | undefined;
  /** The earliest and the latest time of the last change, in ms since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** A label and its value. */
export interface Label {
  readonly key: string;
  readonly value: string;
}

/** A value, and how many policies have it. */
export interface Facet {
  readonly value: string;
  readonly count: number;
}

export interface Filtered {
  readonly found: readonly Listed[];
  /** The number of policies in each state, of all that match the other filters. */
  readonly counts: Partial<Record<PolicyState, number>>;
  /** The values of what can be chosen, of all that match the other filters. The most frequent come first. */
  readonly facets: { readonly namespaces: readonly Facet[]; readonly registries: readonly Facet[]; readonly labels: readonly Facet[] };
}

const maxFacets = 50;

/** Filters policies. Each count leaves out its own filter, so that it says what another choice would show. */
export function filterPolicies(all: readonly Listed[], { states, registry, label, ...plain }: PolicyFilter): Filtered {
  const searched = all.filter(({ policy }) => fits(policy, plain));
  const tests = {
    state: ({ state }: Listed) => states === undefined || states.includes(state),
    registry: ({ policy }: Listed) => registry === undefined || registryOf(policy) === registry,
    label: ({ policy }: Listed) => label?.value === undefined || hasLabel(policy, { key: label.key, value: label.value }),
  };
  const without = (own: keyof typeof tests | undefined) =>
    searched.filter((one) => Object.entries(tests).every(([name, test]) => name === own || test(one)));
  const found = without(undefined);
  return {
    found,
    counts: Object.fromEntries([...Map.groupBy(without('state'), ({ state }) => state)].map(([state, { length }]) => [state, length])),
    facets: {
      namespaces: facetOf(found, ({ namespace }) => namespace),
      registries: facetOf(without('registry'), registryOf),
      labels: label === undefined ? [] : facetOf(without('label'), (policy) => labelOf(policy, label.key)),
    },
  };
}

/** Whether a policy fits the filters that are not counted. */
function fits(
  policy: ImagePolicy,
  { search, digest, receiver, since = -Infinity, until = Infinity }: Omit<PolicyFilter, 'states' | 'registry' | 'label'>,
): boolean {
  const { status } = policy;
  if (search !== undefined && !mentions(policy, search.toLowerCase())) return false;
  if (receiver !== undefined && status.trigger?.receiver !== receiver) return false;
  if (digest !== undefined && !digestsOf(status).includes(digest)) return false;
  if (since === -Infinity && until === Infinity) return true;
  const changedAt = Date.parse(status.history?.[0]?.at ?? '');
  return changedAt >= since && changedAt <= until;
}

function digestsOf({ latest, pendingApproval, waiting, history = [], rejected = [] }: ImagePolicy['status']): (string | undefined)[] {
  return [latest, pendingApproval, waiting, ...history, ...rejected].map((one) => one?.digest);
}

/** Whether a policy has a label with this value. */
export function hasLabel(policy: Pick<ImagePolicy, 'labels'>, { key, value }: Label): boolean {
  return labelOf(policy, key) === value;
}

/** The value of a label. */
function labelOf({ labels = {} }: Pick<ImagePolicy, 'labels'>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The host of the registry of a policy; undefined if its image cannot be read. */
export function registryOf({ spec }: Pick<ImagePolicy, 'spec'>): string | undefined {
  const scope = scopeOf(spec);
  return scope && formatRepository(scope.repository).split('/')[0];
}

function facetOf(found: readonly Listed[], valueOf: (policy: ImagePolicy) => string | undefined): Facet[] {
  const groups = Map.groupBy(found, ({ policy }) => valueOf(policy));
  return [...groups]
    .flatMap(([value, { length: count }]) => (value === undefined ? [] : [{ value, count }]))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, maxFacets);
}

function mentions(policy: ImagePolicy, text: string): boolean {
  const { namespace, name, image = '', running = '', latest } = summarize(policy);
  return [`${namespace}/${name}`, image, running, latest?.tag ?? ''].some((part) => part.toLowerCase().includes(text));
}
