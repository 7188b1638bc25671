/** `lint --cluster`: reports what the policies of files, or of the cluster, would do in the cluster now. Writes nothing. */
import type { Config } from '../../service/config/settings.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { Keys } from '../../service/resources/validation/problem.ts';
import type { PlannedNow } from '../../service/explain/plan-now.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { isUsable, policyKey } from '../../core/model/image-policy.ts';
import { type Workload, workloadKey } from '../../core/model/workload.ts';
import { describeClusterError } from '../../service/command-line/cluster-errors.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { createNamespaceScope } from '../explain/namespace-rules.ts';
import { decideOnce } from '../once/decide.ts';
import { readFromFile, readOthers, readStored } from '../once/given-policies.ts';
import { openPolicies, type GivenPolicy } from '../once/policies.ts';
import { openRun } from '../once/ports.ts';
import { countOf } from '../../service/command-line/output.ts';
import { currentNamespace, metadataOf } from '../../service/command-line/policy-client.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { findUnusable } from '../../service/checks/needed-objects.ts';
import type { AllowedChecks } from '../../service/checks/allowed-checks.ts';
import { checkFindings } from './check-findings.ts';
import { clusterFindings, type ClusterFinding } from './cluster-findings.ts';
import { followFindings } from './follow-findings.ts';
import { exceptionFindings, type HasDefault } from './idle-exceptions.ts';
import { clusterPath, type LintedFile } from './format-report.ts';
import { sharedWarnings, type LocatedPolicy } from './shared-warnings.ts';
import { readContextOf } from '../read-context.ts';
import { withFindings } from './with-findings.ts';

/** What to lint, and the options. */
export interface ClusterLint {
  /** The files to lint; absent for the policies of the cluster. */
  readonly files: readonly LintedFile[] | undefined;
  /** The namespace; undefined for that of the kubeconfig's context. */
  readonly namespace: string | undefined;
  readonly all: boolean;
  readonly config: Config;
  /** What checks may use, if the configuration of the service is given. */
  readonly allowed: AllowedChecks | undefined;
  readonly dockerConfig: string | undefined;
  readonly terminal: Terminal;
}

const maxParallel = 8;

type Written = Pick<LocatedPolicy, 'path' | 'positionOf' | 'targetKeys'>;

/** The files with the findings in the cluster. Without files, one entry for the cluster. */
export async function lintCluster(client: KubeClient, wanted: ClusterLint): Promise<readonly LintedFile[]> {
  const { config, dockerConfig, terminal } = wanted;
  const { signal = new AbortController().signal } = terminal;
  const progress = startProgress(terminal, 'reading policies …');
  const { given, written } = await readGiven(client, wanted);
  const context = await readContextOf(config);
  const others = await readOthers(client, currentNamespace(client, wanted.namespace), context);
  const scope = createNamespaceScope(client, config);
  const policies = await openPolicies(given, others.policies, { client, context, scope, isTrial: true });
  const run = openRun(policies, { client, config, scope, isTrial: true, dockerConfig });
  try {
    let done = 0;
    const keys = policies.given();
    const settled = await inParallel(keys, maxParallel, async (key) => {
      const planned = await decideOnce(key, run, signal).catch((error: unknown) => unreadable(key, error, signal));
      progress.update(`deciding: ${++done} of ${countOf(keys.length, 'policy', 'policies')}`);
      return planned;
    });
    const planned = new Map(keys.map((key, index) => [key, valueOf(settled[index])]));
    for (const doubt of [others.doubt, policies.doubt()]) if (doubt !== undefined) terminal.err(`${doubt}\n`);
    const located = keys.flatMap((key): LocatedPolicy[] => {
      const [policy, where] = [policies.known(key)?.policy, written.get(key)];
      return policy === undefined || where === undefined ? [] : [{ policy, ...where }];
    });
    const findings = located.flatMap((one) => findingsOf(planned.get(policyKey(one.policy)), one));
    const workloads = workloadsOf([...planned.values()]);
    const tagsOf = (key: string) => {
      const now = planned.get(key);
      return now !== undefined && 'candidate' in now ? [now.candidate.tag] : undefined;
    };
    const considered = others.policies.filter(({ namespace: of }) => scope.isConsidered(of));
    const known = { workloads, aliases: context.aliases, tagsOf: (policy: LocatedPolicy['policy']) => tagsOf(policyKey(policy)) };
    const shared = sharedWarnings(located, known, considered).map(({ path, warning }) => ({
      path,
      ...warning,
      severity: 'warning' as const,
    }));
    const ofChecks = await inParallel(located, maxParallel, (one) =>
      checkFindings(one, {
        allowed: wanted.allowed,
        // What the user may not read, the service may.
        findUnusable: (check, where) =>
          findUnusable(check, where, client, signal).catch((error: unknown) =>
            isKubeError(error, 403) ? undefined : Promise.reject(error),
          ),
      }),
    );
    const followed = followFindings(located, considered).map(({ path, severity, finding }) => ({ path, severity, ...finding }));
    // The policies have their defaults, as far as the configuration and the labels of their Namespace are known.
    const hasDefault: HasDefault = ({ namespace: of }) => (wanted.allowed === undefined ? 'unread' : scope.doubt([of]) !== undefined);
    const exempt = located.flatMap((one) => exceptionFindings(one, hasDefault));
    const all = [...findings, ...shared, ...followed, ...exempt, ...ofChecks.flatMap(valueOf)];
    return (wanted.files ?? [clusterFile(keys.length)]).map((file) => withFindings(file, all));
  } finally {
    progress.stop();
    await run.close();
  }
}

const targetKeysOfStored = (index: number): Keys => ['spec', 'targets', index];

async function readGiven(client: KubeClient, { files, namespace, all }: ClusterLint) {
  const where = currentNamespace(client, namespace);
  const written = new Map<string, Written>();
  if (files === undefined) {
    const given = await readStored(client, [], all ? undefined : where);
    for (const { raw } of given) written.set(policyKey(metadataOf(raw)), { path: clusterPath, targetKeys: targetKeysOfStored });
    return { given, written };
  }
  const given: GivenPolicy[] = [];
  for (const { path, manifests } of files)
    for (const { raw, positionOf, targetKeys } of manifests.policies) {
      const one = await readFromFile(client, raw, { namespace: where, isNamed: false });
      given.push(one);
      written.set(policyKey(metadataOf(one.raw)), { path, positionOf, targetKeys });
    }
  return { given, written };
}

type Decided = PlannedNow | { readonly unreadable: string; readonly reason: string };

/** A decision about a policy whose objects the user may not read. The service itself may read them. */
function unreadable(_key: string, error: unknown, signal: AbortSignal): Decided {
  signal.throwIfAborted();
  return { unreadable: describeClusterError(error), reason: error instanceof PermanentError ? error.reason : 'Unreadable' };
}

function valueOf<T>(result: PromiseSettledResult<T> | undefined): T {
  if (result?.status === 'fulfilled') return result.value;
  throw result?.reason;
}

function findingsOf(planned: Decided | undefined, one: LocatedPolicy): (ClusterFinding & { readonly path: string })[] {
  const { path, policy, positionOf } = one;
  if (planned === undefined) return [];
  if ('unreadable' in planned) {
    const { unreadable: message, reason } = planned;
    const keys: Keys = ['spec'];
    return [{ path, severity: 'problem', policy: policyKey(policy), field: 'spec', message, reason, ...positionOf?.(keys) }];
  }
  // An invalid spec in a file was reported when its text was checked.
  if (positionOf !== undefined && !isUsable(policy.spec)) return [];
  return clusterFindings(planned, one).map((finding) => ({ path, ...finding }));
}

function workloadsOf(planned: readonly Decided[]): readonly Workload[] {
  const found = planned.flatMap((one) => ('allowed' in one ? one.allowed.targets.flatMap(({ workload }) => workload ?? []) : []));
  return [...new Map(found.map((workload) => [workloadKey(workload), workload])).values()];
}

function clusterFile(policies: number): LintedFile {
  return { path: clusterPath, policies, others: 0, problems: [], manifests: { policies: [], workloads: [] } };
}
