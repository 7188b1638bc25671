import { validatePolicy } from '../../../api-versions/validate.ts';
import { convertWorkload, type Skipped, type Draft } from './convert-workload.ts';
import type { KeelWorkload } from './workload.ts';
import { kind } from '../../../api-versions/group.ts';
import { apiVersion } from '../../../api-versions/v1.ts';
import { formatPolicies, freeName, type WrittenPolicy } from '../../policy-documents.ts';

/** The result of converting Keel's settings of a cluster. */
export interface KeelImport {
  readonly policies: readonly ImportedPolicy[];
  readonly skipped: readonly Skipped[];
}

/** Policies for all workloads that Keel updates. All of them are valid: an invalid one is skipped, with its problems. */
export function convertAll(workloads: readonly KeelWorkload[]): KeelImport {
  const converted = workloads.map(convertWorkload);
  const skipped = converted.flatMap((one) => one.skipped);
  const policies = mergeDrafts(converted.flatMap(({ drafts }) => drafts)).filter(({ policy }) => {
    const problems = validatePolicy(policy).map(({ path, message }) => `${path} ${message}`);
    const { namespace } = policy.metadata;
    if (problems.length > 0)
      for (const { kind, name = '' } of policy.spec.targets)
        skipped.push({ workload: `${kind} ${namespace}/${name}`, problem: problems.join('; ') });
    return problems.length === 0;
  });
  return { policies, skipped };
}

/** A policy, with notes on what is different from Keel. */
export type ImportedPolicy = WrittenPolicy;

const maxTargets = 64;

/** One policy for all workloads of a namespace with the same spec; names are unique in each namespace. */
export function mergeDrafts(drafts: readonly Draft[]): ImportedPolicy[] {
  const groups = new Map<string, [Draft, ...Draft[]][]>();
  for (const draft of drafts) {
    const key = JSON.stringify([draft.namespace, draft.spec]);
    const parts = groups.get(key) ?? [];
    const last = parts.at(-1);
    if (last && last.length < maxTargets) last.push(draft);
    else parts.push([draft]);
    groups.set(key, parts);
  }
  const taken = new Set<string>();
  return [...groups.values()].flat().map((group) => {
    const [{ namespace, spec }] = group;
    const name = nameOf(group, taken);
    return {
      policy: { apiVersion, kind, metadata: { name, namespace }, spec: { ...spec, targets: group.map(({ target }) => target) } },
      notes: [...new Set(group.flatMap(({ notes }) => notes))],
    };
  });
}

/** The name of the workload, or of the repository if there are several workloads; extended if it is taken. */
function nameOf([{ namespace, spec, target }, ...others]: readonly [Draft, ...Draft[]], taken: Set<string>): string {
  const repository = spec.image.split('/').at(-1) ?? '';
  const own = others.length === 0 ? (target.name ?? repository) : repository;
  return freeName(namespace, own === repository ? [own] : [own, `${own}-${repository}`], taken);
}

/** YAML for `kubectl apply`: settings that were not carried over as comments, then each policy after its notes. */
export function formatImport({ policies, skipped }: KeelImport): string {
  return formatPolicies(
    policies,
    skipped.map(({ workload, problem }) => `Not carried over: ${workload}: ${problem}`),
  );
}
