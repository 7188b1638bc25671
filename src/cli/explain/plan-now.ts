import { readPolicy } from '../../api-versions/read-policy.ts';
import { registryAliases, type Config } from '../../config.ts';
import { namespaceRulesOf } from '../../config/policy-defaults.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ImagePolicy, PolicySpec } from '../../model/image-policy.ts';
import { formatRepository, sameRepository, type Candidate, type ImageReference } from '../../model/image-reference.ts';
import { explainPlan, guardPlan, type TargetExplanation } from '../../plan/guard-plan.ts';
import type { UpdatePlan } from '../../plan/plan-update.ts';
import { propose } from '../../reconcile/plan.ts';
import { selectKnown, usableSpec, type Selection } from '../../reconcile/selection.ts';
import { gatherForExplain } from './gather.ts';
import { applyNamespaceRules } from './settings.ts';

/** What the service would do now: to each target, or why it does not come so far. */
export type PlannedNow =
  | { readonly policy: ImagePolicy; readonly why: string; readonly reason?: string; readonly isSelected: boolean; readonly doubt?: string }
  | {
      readonly policy: ImagePolicy;
      readonly spec: PolicySpec;
      readonly candidate: Candidate;
      /** What each guard decides, also about changes that another guard blocks. */
      readonly targets: readonly TargetExplanation[];
      /** What is left when the guards have decided. */
      readonly allowed: UpdatePlan;
      /** What could not be found out. */
      readonly doubt?: string;
    };

/** An image that is taken as pushed. */
export type Pushed = ImageReference & { readonly tag: string };

/** Calls the stages of the service with what the caller may read, and stops before anything is applied. */
export async function planNow(client: KubeClient, raw: unknown, config: Config, pushed?: Pushed): Promise<PlannedNow> {
  const aliases = registryAliases(config);
  const { customTargets, crossNamespace, guards } = config;
  const written = readPolicy(raw, { aliases, customTargets });
  const { policy, why, doubt: unknown } = await applyNamespaceRules(client, written, namespaceRulesOf(config));
  const doubt = unknown === undefined ? {} : { doubt: unknown };
  if (why !== undefined) return { policy, why, reason: 'NamespaceNotSelected', isSelected: false, ...doubt };
  const selection = select(policy, pushed);
  if ('why' in selection) return { policy, ...selection, isSelected: true, ...doubt };
  const { spec, candidate } = selection;
  const cluster = await gatherForExplain(client, policy, spec, { crossNamespace, customTargets, aliases, ...guards });
  const { plan, context } = propose(policy, selection, cluster);
  return { policy, spec, candidate, targets: explainPlan(plan, context), allowed: guardPlan(plan, context), ...doubt };
}

/** The image that the guards are asked about, or why it does not come so far. */
function select(policy: ImagePolicy, pushed: Pushed | undefined): Selection | { readonly why: string; readonly reason?: string } {
  const spec = usableSpec(policy);
  if ('kind' in spec) return { why: spec.kind === 'stalled' ? `${spec.reason}: ${spec.message}` : spec.message, reason: spec.reason };
  if (pushed !== undefined && !sameRepository(pushed.repository, spec.repository))
    return { why: `the policy watches ${formatRepository(spec.repository)}, not ${formatRepository(pushed.repository)}` };
  const hint = pushed && { tag: pushed.tag, ...(pushed.digest !== undefined && { digest: pushed.digest }) };
  const selection = selectKnown(policy, spec, hint) ?? notReconciled(policy);
  return 'kind' in selection ? { why: `not selected: ${selection.message}`, reason: selection.reason } : selection;
}

function notReconciled({ status }: ImagePolicy): { readonly why: string; readonly reason?: string } {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined
    ? { why: 'the policy has not been reconciled yet: does image-watcher run?' }
    : { why: `nothing is selected: ${ready.reason}: ${ready.message}`, reason: ready.reason };
}
