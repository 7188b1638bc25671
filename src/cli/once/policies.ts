/** The policies of a run for the processors. They are read at the start, and again before each change. */
import { defined } from '../../core/model/defined.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';
import { createKeyedMutex } from '../../core/async/serialize.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { objectPath, readObject } from '../../service/kube/objects.ts';
import { patchStatus } from '../../service/kube/patch-status.ts';
import { ruleOf } from '../../core/model/companions.ts';
import { type ImagePolicy, isUsable, policyKey, type PolicyName, type PolicySpec, scopeOf } from '../../core/model/image-policy.ts';
import { sameRepository } from '../../core/model/image-reference.ts';
import { decideAlike } from '../../core/model/policy-basis.ts';
import type { OnAnswered } from '../../core/model/server-clock.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { historyFields, readStatus, toStored } from '../../core/model/stored-status.ts';
import type { Policies } from '../../service/reconcile/ports.ts';
import { createRecentPushes } from '../../service/reconcile/recent-pushes.ts';
import { describeClusterError } from '../../service/command-line/cluster-errors.ts';
import type { NamespaceScope } from '../explain/namespace-rules.ts';
import { policyResource } from '../../service/resources/group.ts';

/** A policy of a run: the object as the API server would return it, and whether the API server has it. */
export interface GivenPolicy {
  readonly raw: unknown;
  /** Whether the API server has the policy. Only then is its status written. */
  readonly isStored: boolean;
}

/** A policy, and what the run knows about it. */
export interface KnownPolicy {
  /** The policy with the defaults of its namespace. */
  readonly policy: ImagePolicy;
  readonly isStored: boolean;
  /** Why its namespace is not selected. */
  readonly why?: string | undefined;
  /** Why its status could not be written. */
  readonly unwritten?: string;
}

interface Means {
  readonly client: KubeClient;
  readonly context: ReadContext;
  readonly scope: NamespaceScope;
  /** Whether nothing is written. Statuses are then remembered as if they had been written. */
  readonly isTrial: boolean;
}

export interface RunPolicies extends Policies {
  /** The keys of the given policies, in their order. */
  readonly given: () => readonly string[];
  readonly known: (key: string) => KnownPolicy | undefined;
  /** A policy that the service considers, given or not, as far as it was read. */
  readonly findConsidered: (namespace: string, name: string) => ImagePolicy | undefined;
  /** Why it is not known whether the service considers the given policies and their targets. */
  readonly doubt: () => string | undefined;
}

/** Reads the given policies. `others` are policies that are only compared with. */
export async function openPolicies(given: readonly GivenPolicy[], others: readonly ImagePolicy[], means: Means): Promise<RunPolicies> {
  const { client, context, scope, isTrial } = means;
  const known = new Map<string, KnownPolicy>();
  const written = new Map<string, ImagePolicy>();
  // Read specs are cached with their merged ones, because the stages compare specs by identity.
  const specs = new WeakMap<ImagePolicy['spec'], PolicySpec>();

  const remember = async (read: ImagePolicy, isStored: boolean): Promise<KnownPolicy> => {
    const { policy, why } = await scope.apply(read);
    const spec = isUsable(policy.spec) ? (specs.get(read.spec) ?? policy.spec) : policy.spec;
    if (isUsable(spec)) specs.set(read.spec, spec);
    const found = { ...known.get(policyKey(read)), policy: { ...policy, spec }, isStored, why };
    written.set(policyKey(read), read);
    known.set(policyKey(read), found);
    return found;
  };
  const replaceStatus = (policy: ImagePolicy, status: PolicyStatus, unwritten?: string) => {
    const before = known.get(policyKey(policy));
    if (before === undefined) return;
    known.set(policyKey(policy), { ...before, policy: { ...before.policy, status }, ...defined({ unwritten }) });
  };
  const readAgain = async ({ namespace, name }: PolicyName, signal: AbortSignal, onAnswered?: OnAnswered) => {
    const raw = await readObject<unknown>(client, objectPath(policyResource, namespace, name), signal, onAnswered);
    return raw === undefined ? undefined : readPolicy(raw, context, written.get(policyKey({ namespace, name })));
  };
  for (const { raw, isStored } of given) await remember(readPolicy(raw, context), isStored);
  const keys = [...known.keys()];

  const all = () => [...known.values()].flatMap(({ policy, why }) => (why === undefined ? [policy] : []));
  await scope.read(others.map(({ namespace }) => namespace));
  const considered = others.filter((other) => scope.isConsidered(other.namespace));
  const everybody = () => [...all(), ...considered.filter((other) => !known.has(policyKey(other)))];
  return {
    given: () => keys,
    known: (key) => known.get(key),
    doubt: () => scope.doubt(keys.flatMap((key) => namespacesOf(known.get(key)?.policy))),
    all: everybody,
    find: (namespace, name) => known.get(policyKey({ namespace, name }))?.policy,
    findConsidered: (namespace, name) => everybody().find((one) => one.namespace === namespace && one.name === name),
    match: (repository) => everybody().filter(({ spec }) => isOf(spec, repository)),
    matchCompanions: (repository) => everybody().filter(({ spec }) => isUsable(spec) && ruleOf(spec.alongside, repository) !== undefined),
    matchUnselected: () => [],
    isWatching: () => true,
    isComplete: async () => true,
    recentPushes: createRecentPushes(Date.now),
    async read(namespace, name, signal, onAnswered) {
      const before = known.get(policyKey({ namespace, name }));
      if (before?.isStored === false) return before.policy;
      const read = await readAgain({ namespace, name }, signal, onAnswered);
      if (read === undefined) return undefined;
      // In a trial, the status is the remembered one, because it was not written.
      const { policy, why } = await remember(isTrial && before !== undefined ? { ...read, status: before.policy.status } : read, true);
      return why === undefined ? policy : undefined;
    },
    async confirm(policy, signal) {
      const at = performance.now();
      const before = known.get(policyKey(policy));
      if (before?.isStored !== true) return at;
      const newest = await readAgain(policy, signal);
      // In a trial, the status is the remembered one, because it was not written.
      const status = isTrial ? before.policy.status : newest?.status;
      const isSame =
        newest?.uid === policy.uid && newest.generation === policy.generation && decideAlike(policy, { ...newest, status: status ?? {} });
      if (isSame) return at;
      if (newest === undefined) known.delete(policyKey(policy));
      else await remember(newest, true);
      return undefined;
    },
    secretVersions: () => '',
    async writeStatus(policy, update, signal) {
      const before = known.get(policyKey(policy));
      if (before === undefined) return;
      const pretend = (unwritten?: string) => {
        const next = update(before.policy.status);
        if (next !== undefined) replaceStatus(policy, next, unwritten);
      };
      if (isTrial || !before.isStored) return pretend();
      const path = objectPath(policyResource, policy.namespace, policy.name);
      try {
        const result = await patchStatus({
          client,
          path,
          current: { ...before.policy, status: toStored(before.policy.status) },
          update(status, generation) {
            const next = update(readStatus(status, generation));
            return next && toStored(next);
          },
          together: historyFields,
          signal,
        });
        if (result !== undefined) await remember(readPolicy(result, context, written.get(policyKey(policy))), true);
      } catch (error) {
        // Ignored: the workload records the change, and a forbidden write of the status must not make the run fail.
        if (!isKubeError(error, 403)) throw error;
        pretend(describeClusterError(error));
      }
    },
    mutex: createKeyedMutex(),
  };
}

/** The namespaces of a policy and of its targets. */
function namespacesOf(policy: ImagePolicy | undefined): string[] {
  if (policy === undefined) return [];
  const targets = scopeOf(policy.spec)?.targets ?? [];
  return [policy.namespace, ...targets.map(({ namespace }) => namespace)];
}

function isOf(spec: ImagePolicy['spec'], repository: Parameters<typeof sameRepository>[0]): boolean {
  const scope = scopeOf(spec);
  return scope !== undefined && sameRepository(scope.repository, repository);
}
