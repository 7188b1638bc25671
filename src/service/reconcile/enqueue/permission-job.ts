/** The job for a policy whose permissions have changed: the configuration, or other policies of its namespace, allow more or less than its status shows. */
import { isUsable, type ImagePolicy, type PolicySpec } from '../../../core/model/image-policy.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import type { TargetState } from '../../../core/plan/plan-update.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import { minuteOf, shorten } from './job-cause.ts';
import type { NeedsView } from './needs-reconcile.ts';

const fieldNotAllowed: Reason = 'FieldNotAllowed';
const noConsent: Reason = 'NoConsent';
const crossNamespaceDenied: Reason = 'CrossNamespaceDenied';
const tooManyKinds: Reason = 'TooManyKinds';
export const notSelected: Reason = 'NamespaceNotSelected';

/**
 * The job for a policy whose permissions are not those in its status. They can change without an edit of the policy: by another configuration at the next
 * start, or by older policies of its namespace that name more kinds.
 */
export function permissionJob(policy: ImagePolicy, view: NeedsView, now: Date): Pick<PolicyJob, 'source' | 'cause'> | undefined {
  const { generation, spec, status } = policy;
  if (spec.suspended === true) return undefined;
  const { conditions = [] } = status;
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason;
  const since = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
  const job = (what: string) => ({ source: 'PolicyChange' as const, cause: `${what}:${generation}:${since}:${minuteOf(now)}` });
  if (!isUsable(spec)) return spec.problem.reason === fieldNotAllowed && stalled !== fieldNotAllowed ? job('denied') : undefined;
  if (stalled === fieldNotAllowed) return job('allowed');
  const denials = denialsOf(policy, spec, view);
  // If the configuration forbids consents, the status has to show that instead of a missing consent.
  if (stalled === noConsent && denials[crossNamespaceDenied] === true) return job('forbidden');
  if (stalled !== undefined) return stalled in denials && !denials[stalled] ? job('permitted') : undefined;
  if (Object.values(denials).includes(true)) return job('forbidden');
  const problems = spec.targets.map((target) => view.targetState(target, policy)).flatMap(problemOf);
  if (problems.includes(notSelected)) return job(`namespaces:${versionsOfTargets(spec, view)}`);
  return problems.includes(tooManyKinds) ? job('kinds') : undefined;
}

/** Whether the configuration denies something to the policy, by reason. Reasons that are not known are left out. */
function denialsOf(
  { namespace }: ImagePolicy,
  { targets, repository, verification }: PolicySpec,
  { crossNamespace, mayUseRegistry, hasTrustRoot }: NeedsView,
): Readonly<Partial<Record<string, boolean>>> {
  const isElsewhere = targets.some((target) => target.namespace !== namespace);
  const denials: Partial<Record<Reason, boolean>> = {
    CrossNamespaceDenied: crossNamespace === 'deny' && isElsewhere,
    ...(mayUseRegistry !== undefined && { RegistryRefused: !mayUseRegistry(repository.registry) }),
    // A missing trust root is no denial here, because it affects only an image that is about to be applied.
    ...(hasTrustRoot === true && verification !== undefined && { TrustRootMissing: false }),
  };
  return denials;
}

function problemOf(state: TargetState): Reason[] {
  return typeof state === 'object' && 'problem' in state ? [state.problem.reason] : [];
}

/** The versions of the Namespaces of the targets, because a namespace may be selected, not selected and selected again within a second. */
export function versionsOfTargets({ targets }: PolicySpec, { namespaceVersion = () => '' }: NeedsView): string {
  return shorten([...new Set(targets.map(({ namespace }) => namespaceVersion(namespace)))].join(','));
}
