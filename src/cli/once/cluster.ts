/** The cluster view of one run. Workloads are read when they are needed, and remembered in their last read or changed form. */
import { type Config, registryAliases } from '../../service/config/settings.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { createDiscovery } from '../../service/kube/discovery.ts';
import { needsConsent, withGrants } from '../../core/plan/consent.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { maySee } from '../../core/plan/proven.ts';
import { describeClusterError } from '../../service/command-line/cluster-errors.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { readNamespaceConsent } from '../../service/kube/namespaces.ts';
import { patchConfirmed } from '../../service/kube/patch-images.ts';
import { readRolloutPods } from '../../service/kube/read-rollout-pods.ts';
import { listSelected, readWorkload } from '../../service/kube/read-workload.ts';
import type { TargetKind } from '../../service/kube/targets.ts';
import { isUsable, type ImagePolicy, type PolicySpec, type PolicyTarget } from '../../core/model/image-policy.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { type KindRef, workloadKey, type Workload } from '../../core/model/workload.ts';
import type { TargetProblem } from '../../core/plan/plan-update.ts';
import type { ClusterView, Ports, Workloads } from '../../service/reconcile/ports.ts';
import { readTargets, viewOf } from '../explain/gather.ts';
import type { NamespaceScope } from '../explain/namespace-rules.ts';
import { policiesFor } from '../explain/other-policies.ts';
import { createPodSecrets, type PodSecrets } from '../pod-secrets.ts';
import type { RunPolicies } from './policies.ts';

/** The client, the configuration and the options of a run. */
export interface RunMeans {
  readonly client: KubeClient;
  readonly config: Config;
  /** Whether nothing is written. The API server then only validates the changes. */
  readonly isTrial: boolean;
  /** The namespaces that the service considers. */
  readonly scope: NamespaceScope;
}

/** The workloads of a run, and the Secrets that their service accounts name. */
export interface Cluster extends Pick<Ports, 'cluster' | 'workloads'>, Pick<PodSecrets, 'pullSecretsOf'> {}

/** Creates the ports for workloads. They remember each workload in its last read or changed form. */
export function createCluster(
  policies: Pick<RunPolicies, 'all' | 'read' | 'findConsidered'>,
  { client, config, isTrial, scope }: RunMeans,
): Cluster {
  const { consents, crossNamespace, customTargets, guards } = config;
  const workloads = new Map<string, Workload>();
  const namespaces = new Map<string, string | null>();
  const problems = new Map<PolicyTarget, TargetProblem>();
  const podSecrets = createPodSecrets(client);
  const discovery = createDiscovery(client, customTargets);
  const kindOf = (ref: KindRef): Promise<TargetKind> => discovery.find(ref);
  const remember = (workload: Workload) => void workloads.set(workloadKey(workload), workload);
  const namespaceConsent = (namespace: string) => namespaces.get(namespace);
  const readConsent = async (namespace: string, signal: AbortSignal) => {
    const consent = withGrants((await readNamespaceConsent(client, namespace, signal))?.allowPoliciesFrom ?? null, namespace, consents);
    namespaces.set(namespace, consent);
    return consent;
  };
  const readTargetsOf = async (policy: Pick<ImagePolicy, 'namespace'>, spec: PolicySpec) => {
    await scope.read(spec.targets.map(({ namespace }) => namespace).filter((namespace) => namespace !== policy.namespace));
    const read = await readTargets(client, policy, spec, { consents, customTargets, crossNamespace });
    // In a trial, a remembered workload is kept: its changes were not stored in the cluster.
    for (const [key, workload] of read.workloads) if (!isTrial || !workloads.has(key)) workloads.set(key, workload);
    for (const [namespace, consent] of read.namespaces) namespaces.set(namespace, consent);
    for (const [target, problem] of read.problems) problems.set(target, problem);
  };
  /** Reads whether a Namespace lets its policies be followed. Who may not read it knows of no consent. */
  const readFollowedConsent = async (policy: Pick<ImagePolicy, 'namespace'>, namespace: string, signal: AbortSignal) => {
    if (namespaces.has(namespace) || !needsConsent({ kind: 'ImagePolicy', namespace, name: '' }, policy, crossNamespace)) return;
    try {
      await readConsent(namespace, signal);
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
    }
  };
  /** Reads the policies that a policy follows, and what they run. That somebody may not read their targets is a problem only if a change depends on them. */
  const readFollowed = async (policy: Pick<ImagePolicy, 'namespace'>, { after }: PolicySpec, signal: AbortSignal) => {
    for (const { namespace, name } of after?.policies ?? []) {
      const followed = await policies.read(namespace, name, signal);
      await readFollowedConsent(policy, namespace, signal);
      if (followed === undefined || !isUsable(followed.spec) || !maySee(policy, followed, view)) continue;
      try {
        await readTargetsOf(followed, followed.spec);
      } catch (error) {
        if (!isKubeError(error, 403)) throw error;
        for (const target of followed.spec.targets)
          problems.set(target, { reason: 'TargetKindForbidden', message: describeClusterError(error) });
      }
    }
  };
  const view: ClusterView = {
    ...scope.limit(viewOf(workloads, problems), { crossNamespace, namespaceConsent }),
    namespaceConsent,
    findPolicy: policies.findConsidered,
    crossNamespace,
    repeatsPerHour: guards.repeatsPerHour,
    aliases: registryAliases(config),
    policiesOf: (workload) => policiesFor([...policies.all()], { crossNamespace, namespaceConsent })(workload),
    now: Date.now,
  };
  const ports: Workloads = {
    async awaitTargets(policy, spec, signal) {
      await readTargetsOf(policy, spec);
      await readFollowed(policy, spec, signal);
      await podSecrets.read(resolveTargets(spec.targets, view).filter(({ namespace }) => namespace === policy.namespace));
    },
    async read(ref, signal, onAnswered) {
      if (!scope.isConsidered(ref.namespace)) return undefined;
      const workload = await readWorkload(client, ref, { signal, target: await kindOf(ref), onAnswered });
      if (workload === undefined) workloads.delete(workloadKey(ref));
      else remember(workload);
      return workload;
    },
    async readSelected(target, signal) {
      if (!scope.isConsidered(target.namespace)) return [];
      const found = await listSelected(client, await kindOf(target), target, signal);
      for (const workload of found) remember(workload);
      return found;
    },
    readPods: (workload, signal, onAnswered) => readRolloutPods(client, workload, signal, onAnswered),
    readConsent,
    refreshConsents: async () => {},
    async patchImages(workload, changes, options, signal) {
      const target = await kindOf(workload);
      const result = await patchConfirmed(client, workload, changes, { ...options, signal, target, isTrial });
      if (result.kind === 'patched') remember(result.workload);
      return result;
    },
  };
  return { cluster: view, workloads: ports, pullSecretsOf: podSecrets.pullSecretsOf };
}
