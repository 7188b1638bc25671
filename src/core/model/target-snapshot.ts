import { isUsable, type ImagePolicy } from './image-policy.ts';
import { noAliases, type RegistryAliases } from './image-reference.ts';
import { resolveTargets, type WorkloadView } from './resolve-target.ts';
import type { Workload } from './workload.ts';

/**
 * What a policy sees of its targets at one moment: taken once for each decision and passed on, so that everything in the decision rests on one reading of the
 * caches.
 */
export interface TargetSnapshot {
  readonly at: Date;
  /** The workloads of all targets, each once; none where the spec cannot be used. */
  readonly targets: readonly Workload[];
  /** Finds any workload that the policy may see: one of its history may no longer be a target. */
  readonly findWorkload: WorkloadView['findWorkload'];
  readonly aliases: RegistryAliases;
}

/** Reads the targets of a policy. `view`: only what the policy may see. */
export function snapshotOf(
  { spec }: Pick<ImagePolicy, 'spec'>,
  { findWorkload, listWorkloads, aliases = noAliases }: WorkloadView & { readonly aliases?: RegistryAliases },
  at: Date,
): TargetSnapshot {
  const targets = isUsable(spec) ? resolveTargets(spec.targets, { findWorkload, listWorkloads }) : [];
  return { at, targets, findWorkload, aliases };
}
