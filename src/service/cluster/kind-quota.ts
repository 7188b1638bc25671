import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { TargetProblem } from '../../core/plan/plan-update.ts';
import { wantedKinds } from '../../core/model/resolve-target.ts';
import { isCustomVersion, kindKey, type KindRef } from '../../core/model/workload.ts';

/** How many kinds of custom resources the policies of one namespace may name. Each existing kind costs a list and a watch. */
export const maxKindsPerNamespace = 32;

/** Decides which kinds of custom resources are watched for the policies of each namespace: the first ones, by the age of the policies that name them. */
export interface KindQuota {
  put(policy: ImagePolicy): void;
  remove(policy: Pick<ImagePolicy, 'namespace' | 'name'>): void;
  /** Why a kind is not watched for the policies of this namespace; undefined if it is. */
  problemOf(namespace: string, kind: KindRef): TargetProblem | undefined;
  /** The kinds of a policy that are within the quota. */
  allowedOf(policy: ImagePolicy): KindRef[];
  /** The kinds of all policies that are within the quota. */
  allowed(): KindRef[];
}

interface Entry {
  readonly name: string;
  readonly createdAt: string;
  readonly kinds: ReadonlyMap<string, KindRef>;
}

interface Namespace {
  readonly byName: Map<string, Entry>;
  /** The policies of the namespace, the oldest first. */
  readonly byAge: Entry[];
  /** How many policies name each kind of custom resource. */
  readonly uses: Map<string, number>;
  /** The kinds that are within the quota, if not all are. */
  allowed?: ReadonlySet<string> | undefined;
}

/** Creates a quota without policies. */
export function createKindQuota(max: number = maxKindsPerNamespace): KindQuota {
  const namespaces = new Map<string, Namespace>();
  /** The lists of kinds by their content. Built-in kinds are few, so many policies share a list. */
  const builtIn = new Map<string, Entry['kinds']>();
  const kindsOf = (policy: ImagePolicy): Entry['kinds'] => {
    const kinds = new Map(wantedKinds(policy).map((kind) => [kindKey(kind), kind]));
    if ([...kinds.values()].some(({ apiVersion }) => isCustomVersion(apiVersion))) return kinds;
    const names = [...kinds.keys()].sort().join(',');
    const known = builtIn.get(names) ?? kinds;
    builtIn.set(names, known);
    return known;
  };
  const isAllowed = (space: Namespace | undefined, key: string): boolean => {
    if (space === undefined || space.uses.size <= max || !space.uses.has(key)) return true;
    space.allowed ??= firstKinds(space.byAge, max);
    return space.allowed.has(key);
  };
  const quota: KindQuota = {
    put(policy) {
      quota.remove(policy);
      const kinds = kindsOf(policy);
      const { namespace, name, createdAt = '' } = policy;
      const space = namespaces.get(namespace) ?? { byName: new Map<string, Entry>(), byAge: [], uses: new Map<string, number>() };
      namespaces.set(namespace, space);
      const entry = { name, createdAt, kinds };
      space.byName.set(name, entry);
      space.byAge.splice(insertionIndex(space.byAge, entry), 0, entry);
      for (const key of customKeys(entry)) space.uses.set(key, (space.uses.get(key) ?? 0) + 1);
      space.allowed = undefined;
    },
    remove({ namespace, name }) {
      const space = namespaces.get(namespace);
      const entry = space?.byName.get(name);
      if (space === undefined || entry === undefined) return;
      space.byName.delete(name);
      space.byAge.splice(insertionIndex(space.byAge, entry), 1);
      for (const key of customKeys(entry)) {
        const uses = (space.uses.get(key) ?? 0) - 1;
        if (uses > 0) space.uses.set(key, uses);
        else space.uses.delete(key);
      }
      space.allowed = undefined;
      if (space.byName.size === 0) namespaces.delete(namespace);
    },
    problemOf(namespace, kind) {
      if (isAllowed(namespaces.get(namespace), kindKey(kind))) return undefined;
      const message =
        `the policies of namespace ${namespace} name more than ${max} kinds of custom resources, and ${kind.kind} of ${kind.apiVersion} ` +
        `is not among the first ${max} by the age of the policies: remove targets of other kinds, or move policies to another namespace`;
      return { reason: 'TooManyKinds', message };
    },
    allowedOf(policy) {
      const space = namespaces.get(policy.namespace);
      return wantedKinds(policy).filter((kind) => isAllowed(space, kindKey(kind)));
    },
    allowed() {
      const found = new Map<string, KindRef>();
      for (const space of namespaces.values()) {
        // Each shared list of kinds is processed once, because many policies name the same built-in kinds.
        const named = new Set(space.byAge.map(({ kinds }) => kinds));
        for (const [key, kind] of [...named].flatMap((kinds) => [...kinds])) if (isAllowed(space, key)) found.set(key, kind);
      }
      return [...found.values()];
    },
  };
  return quota;
}

/** The keys of custom kinds. Kinds built into Kubernetes are few and do not count. */
function customKeys({ kinds }: Entry): string[] {
  return [...kinds].flatMap(([key, { apiVersion }]) => (isCustomVersion(apiVersion) ? [key] : []));
}

function firstKinds(byAge: readonly Entry[], max: number): ReadonlySet<string> {
  const first = new Set<string>();
  for (const entry of byAge) {
    for (const key of customKeys(entry)) {
      if (first.size < max) first.add(key);
    }
    if (first.size >= max) break;
  }
  return first;
}

/** The index of the entry in the order, or where to insert it. */
function insertionIndex(byAge: readonly Entry[], entry: Entry): number {
  let [low, high] = [0, byAge.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = byAge[middle];
    if (other !== undefined && isBefore(other, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether an entry comes before another: by age, then by name. Names are unique in a namespace. */
function isBefore(a: Entry, b: Entry): boolean {
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;
}
