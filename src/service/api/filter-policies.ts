/** The filters of a list of policies, and how many policies each further choice would leave. */
import type { Each } from '../../core/async/in-parallel.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { PolicyState } from '../../core/model/policy-state.ts';
import type { Listed } from './listed.ts';

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
export async function filterPolicies(
  all: readonly Listed[],
  { states, registry, label, search, ...others }: PolicyFilter,
  each: Each,
): Promise<Filtered> {
  const plain = { ...others, search: search?.toLowerCase() };
  const found: Listed[] = [];
  const counts: Partial<Record<PolicyState, number>> = {};
  const [namespaces, registries, labels] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  await each(all, (one) => {
    if (!fits(one, plain)) return;
    const value = label && labelOf(one.policy, label.key);
    const isOfState = states === undefined || states.includes(one.state);
    const isOfRegistry = registry === undefined || one.registry === registry;
    const isLabelled = label?.value === undefined || value === label.value;
    if (isOfState && isOfRegistry && isLabelled) {
      found.push(one);
      count(namespaces, one.namespace);
    }
    if (isOfRegistry && isLabelled) counts[one.state] = (counts[one.state] ?? 0) + 1;
    if (isOfState && isLabelled) count(registries, one.registry);
    if (isOfState && isOfRegistry) count(labels, value);
  });
  return { found, counts, facets: { namespaces: facetOf(namespaces), registries: facetOf(registries), labels: facetOf(labels) } };
}

/** Whether a policy fits the filters that are not counted. `search` is in lower case. */
function fits(
  listed: Listed,
  { search, digest, receiver, since = -Infinity, until = Infinity }: Omit<PolicyFilter, 'states' | 'registry' | 'label'>,
): boolean {
  const { status } = listed.policy;
  if (search !== undefined && !mentions(listed, search)) return false;
  if (receiver !== undefined && status.trigger?.receiver !== receiver) return false;
  if (digest !== undefined && !digestsOf(status).includes(digest)) return false;
  if (since === -Infinity && until === Infinity) return true;
  const [changedAt = Number.NaN] = listed.changedAt;
  return changedAt >= since && changedAt <= until;
}

function digestsOf({ latest, pendingApproval, waiting, history = [], rejected = [] }: ImagePolicy['status']): (string | undefined)[] {
  const whole = [latest, waiting, ...history, ...rejected].flatMap((one) => [one?.digest, one?.setDigest]);
  const beside = (latest?.companions ?? []).map(({ digest }) => digest);
  const pending = pendingApproval && [
    pendingApproval.digest,
    ...(pendingApproval.images ?? []).map((image) => image.slice(image.lastIndexOf('@') + 1)),
  ];
  return [...whole, ...beside, ...(pending ?? [])];
}

/** Whether a policy has a label with this value. */
export function hasLabel(policy: ImagePolicy, { key, value }: Label): boolean {
  return labelOf(policy, key) === value;
}

/** The value of a label. */
function labelOf({ labels }: ImagePolicy, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function count(counts: Map<string, number>, value: string | undefined): void {
  if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** The most frequent values. There may be a namespace for each policy, so the rest is not sorted. */
function facetOf(counts: ReadonlyMap<string, number>): Facet[] {
  const first: Facet[] = [];
  for (const [value, count] of counts) {
    const last = first.length < maxFacets ? undefined : first.at(-1);
    const facet = { value, count };
    if (last !== undefined && compareFacets(facet, last) >= 0) continue;
    if (last !== undefined) first.pop();
    const place = first.findLastIndex((one) => compareFacets(one, facet) < 0) + 1;
    first.splice(place, 0, facet);
  }
  return first;
}

function compareFacets(a: Facet, b: Facet): number {
  return b.count - a.count || (a.value < b.value ? -1 : 1);
}

function mentions({ key, image = '', policy: { status } }: Listed, text: string): boolean {
  return [key, image, status.running ?? '', status.latest?.tag ?? ''].some((part) => part.toLowerCase().includes(text));
}
