import { validatePolicy } from '../../../api-versions/validate.ts';
import { convertWorkload, type Skipped } from './convert-workload.ts';
import { mergeDrafts, type ImportedPolicy } from './merge-drafts.ts';
import type { KeelWorkload } from './workload.ts';

/** What became of Keel's settings in a cluster. */
export interface KeelImport {
  readonly policies: readonly ImportedPolicy[];
  readonly skipped: readonly Skipped[];
}

/** Policies for all workloads that Keel looks after. Every one of them is valid: what would not be is among the skipped. */
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
