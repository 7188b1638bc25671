/** Finds the policies that a caller may see. */
import { type Each, inParallel, sortInSlices } from '../../core/async/in-parallel.ts';
import type { Turns } from '../../core/async/turns.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { type Access, AccessError } from './access.ts';
import { hasLabel, type Label } from './filter-policies.ts';
import { type Listed, listedOf } from './listed.ts';
import type { ApiPorts, PolicyPorts } from './ports.ts';

/** The maximum number of namespaces that are checked. Each costs a request to the API server, whose answer is cached for some seconds. */
const maxNamespaces = 200;
const questionsAtOnce = 8;

/** The policies of the process; throws AccessError(503) if it has none, or does not know all of them yet. */
export function policiesOf({ policies }: Pick<ApiPorts, 'policies'>): PolicyPorts {
  if (policies === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it knows no policies: send the request to one that has');
  if (!policies.areKnown()) throw new AccessError(503, 'the policies are not known at present; /readyz?verbose says why');
  return policies;
}

/** The policies that the caller may list, sorted by name; throws AccessError(403) for a namespace in which the caller may list none. */
export async function listVisible(
  ports: Pick<ApiPorts, 'policies' | 'turns'>,
  access: Access,
  namespace: string | undefined,
): Promise<readonly Listed[]> {
  const policies = policiesOf(ports);
  if (namespace !== undefined && !(await access.may({ verb: 'list', namespace })))
    throw new AccessError(403, `this needs permission to list imagepolicies in the namespace ${namespace}`);
  const all = await sortedOf(policies, ports.turns);
  if (namespace !== undefined) return all.filter((one) => one.namespace === namespace);
  return (await access.may({ verb: 'list' })) ? all : filterVisible(all, access);
}

/** The last list: the policies as the cache had them, the sorted list, and at which place of that each of them is. */
interface LastList {
  readonly found: readonly Listed[];
  readonly sorted: readonly Listed[];
  readonly places: readonly number[];
}
const lastLists = new WeakMap<PolicyPorts, LastList>();

/** All policies, sorted by namespace and name. The same array as long as no policy changes; most changes create and delete none, so that its order still holds. */
async function sortedOf(policies: PolicyPorts, { each }: Turns): Promise<readonly Listed[]> {
  const last = lastLists.get(policies);
  // A copy: what changes while others have their turn is of the next list.
  const current = [...policies.all()];
  const changed: (readonly [index: number, listed: Listed])[] = [];
  let isSameOrder = last?.found.length === current.length;
  let visited = 0;
  await each(current, (policy) => {
    const index = visited++;
    const before = last?.found[index];
    if (before?.policy === policy) return;
    const listed = listedOf(policy);
    changed.push([index, listed]);
    isSameOrder &&= listed.key === before?.key;
  });
  const isAsBefore = last !== undefined && isSameOrder;
  if (isAsBefore && changed.length === 0) return last.sorted;
  const next = isAsBefore ? replace(last, changed) : await sort(current, each);
  lastLists.set(policies, next);
  return next.sorted;
}

/** A list with other versions of some policies. */
function replace({ found, sorted, places }: LastList, changed: readonly (readonly [index: number, listed: Listed])[]): LastList {
  const next = { found: [...found], sorted: [...sorted], places };
  for (const [index, listed] of changed) {
    next.found[index] = listed;
    next.sorted[places[index] ?? -1] = listed;
  }
  return next;
}

async function sort(policies: readonly ImagePolicy[], each: Each): Promise<LastList> {
  const found: Listed[] = [];
  await each(policies, (policy) => void found.push(listedOf(policy)));
  const entries = await sortInSlices([...found.entries()], ([, a], [, b]) => (a.key < b.key ? -1 : 1), each);
  const sorted: Listed[] = [];
  const places: number[] = [];
  await each(entries, ([index, listed]) => {
    places[index] = sorted.length;
    sorted.push(listed);
  });
  return { found, sorted, places };
}

async function filterVisible(policies: readonly Listed[], access: Access): Promise<readonly Listed[]> {
  const namespaces = [...new Set(policies.map((one) => one.namespace))];
  if (namespaces.length > maxNamespaces)
    throw new AccessError(403, 'you may not list imagepolicies in all namespaces: name one of yours with namespace=');
  const answers = await inParallel(namespaces, questionsAtOnce, (namespace) => access.may({ verb: 'list', namespace }));
  const seen = new Set(
    namespaces.filter((_, index) => {
      const answer = answers[index];
      if (answer?.status === 'rejected') throw answer.reason;
      return answer?.value === true;
    }),
  );
  return policies.filter(({ namespace }) => seen.has(namespace));
}

/** The keys of the policies with a label, whoever may see them; undefined without a label. Throws AccessError(503). */
export async function labelledKeys(ports: ApiPorts, label: Label | undefined): Promise<ReadonlySet<string> | undefined> {
  if (label === undefined) return undefined;
  const keys = new Set<string>();
  await ports.turns.each([...policiesOf(ports).all()], (policy) => {
    if (hasLabel(policy, label)) keys.add(policyKey(policy));
  });
  return keys;
}

/** Finds one policy; throws AccessError(403) if the caller may not get it, and 404 if it does not exist. */
export async function seePolicy(
  ports: ApiPorts,
  access: Access,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<ImagePolicy> {
  if (!(await access.may({ verb: 'get', namespace })))
    throw new AccessError(403, `this needs permission to get imagepolicies in the namespace ${namespace}`);
  const policy = policiesOf(ports).find(namespace, name);
  if (policy === undefined) throw new AccessError(404, `there is no ImagePolicy ${namespace}/${name}`);
  return policy;
}

/** Why the caller cannot change policies through the API, whatever his permissions are; undefined if he can. */
export function whyNoActions({ policies }: ApiPorts, { credentials }: Access): string | undefined {
  if (policies === undefined) return 'this process does not have the role work';
  return policies.noActions ?? (credentials.kind === 'proxy' ? 'actions need a token of the caller that the API server knows' : undefined);
}
