/** Converts what a policy would do at its next reconcile to findings of `lint`. Pure. */
import { formatKeys, type Keys } from '../../service/resources/validation/problem.ts';
import { nameOf as nameOfImage } from '../../service/explain/conclude.ts';
import type { PlannedNow } from '../../service/explain/plan-now.ts';
import { isUsable, policyKey, type PolicySpec } from '../../core/model/image-policy.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { formatSelector } from '../../core/model/label-selector.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { matchesTarget } from '../../core/model/resolve-target.ts';
import { formatWorkload, kindKey, type ContainerChange } from '../../core/model/workload.ts';
import { findDoubt } from '../../core/plan/guards/unlikely-version.ts';
import type { TargetPlan, UnchangedContainer } from '../../core/plan/plan-update.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import type { LintProblem } from './lint-text.ts';
import type { LocatedPolicy } from './shared-warnings.ts';

/** The severity of a finding. problem: nothing happens until somebody acts · warning: probably not what the author expects · note: what would happen. */
export type Severity = 'problem' | 'warning' | 'note';

export interface ClusterFinding extends LintProblem {
  readonly severity: Severity;
}

type Found = Pick<ClusterFinding, 'severity' | 'message' | 'reason'> & { readonly keys: Keys };

/** The findings about one policy. */
export function clusterFindings(planned: PlannedNow, { positionOf, targetKeys }: LocatedPolicy): readonly ClusterFinding[] {
  const found =
    'why' in planned ? findingOfEnd(planned) : planned.allowed.targets.flatMap((target) => ofTarget(target, planned, targetKeys));
  return found.map(({ keys, ...finding }) => ({
    ...finding,
    ...positionOf?.(keys),
    policy: policyKey(planned.policy),
    field: formatKeys(keys),
  }));
}

const ofImage: ReadonlySet<string> = new Set<Reason>([
  'RegistryDenied',
  'RepositoryNotFound',
  'RegistryRefused',
  'RegistryUnavailable',
  'RegistryThrottled',
  'RegistryBusy',
]);

function findingOfEnd({ policy: { spec }, why, reason = 'Retrying' }: Extract<PlannedNow, { why: string }>): Found[] {
  if (reason === 'Suspended') return [{ severity: 'note', keys: ['spec', 'suspend'], message: why, reason }];
  if (reason === 'NamespaceNotSelected') return [{ severity: 'problem', keys: ['metadata', 'namespace'], message: why, reason }];
  // Followers wait for others, not for somebody who acts; what can never be proven is found by follow-findings.ts.
  if (reason === 'NotProven') return [{ severity: 'note', keys: ['spec', 'select'], message: why, reason }];
  if (!isUsable(spec)) return [{ severity: 'problem', keys: ['spec'], message: why, reason }];
  return [{ severity: 'problem', keys: ['spec', ofImage.has(reason) ? 'image' : 'select'], message: why, reason }];
}

type Planned = Exclude<PlannedNow, { why: string }>;

function ofTarget(target: TargetPlan, planned: Planned, targetKeys: LocatedPolicy['targetKeys']): Found[] {
  const { spec, candidate } = planned;
  const keys = targetKeys(indexOf(target, spec));
  const where = formatWorkload(target.target);
  const { problem } = target;
  return [
    ...(problem === undefined ? [] : [{ severity: 'problem' as const, keys, ...problem }]),
    ...target.changes.map((change) => ofChange(change, { keys, where, planned })),
    ...target.unchanged
      .filter(({ reason }) => reason !== 'UpToDate' && reason !== problem?.reason)
      .map((one) => ofUnchanged(one, { keys, where, selected: nameOfImage(candidate) })),
  ];
}

function ofChange(
  { container, from, to }: ContainerChange,
  { keys, where, planned }: { keys: Keys; where: string; planned: Planned },
): Found {
  const message = `${where}: ${container} would be changed at once from ${from} to ${to}`;
  if (isOlderTag(from, to, planned.spec))
    return { severity: 'warning', keys, message: `${message}, which is older`, reason: 'OlderThanRunning' };
  const doubt = findDoubt({ from, to }, planned);
  if (doubt === undefined) return { severity: 'note', keys, message, reason: 'Updated' };
  const limit = planned.spec.strategy.id === 'semver' ? 'the versions with select.semver.range' : 'the tags with tags.allow';
  const remedy = `if that is not what you expect, limit ${limit}`;
  return { severity: 'warning', keys, message: `${message}, but ${doubt}: ${remedy}`, reason: 'UnlikelyVersion' };
}

/** Whether a change goes to an older tag, as only an allowed downgrade does. A tag that the policy no longer selects is compared by its name. */
function isOlderTag(from: string, to: string, { strategy, allowDowngrade }: PolicySpec): boolean {
  const [running, next] = [from, to].map((image) => tryParseImageReference(image)?.tag);
  if (!allowDowngrade || running === undefined || next === undefined) return false;
  const order = strategy.reject(running) === undefined ? strategy.compare(next, running) : naturalOrder(next, running);
  return order < 0;
}

/** Reasons that hold a policy until a user acts, which are problems. Waiting for a time or an approval is not. */
const held: ReadonlySet<string> = new Set<Reason>(['UnlikelyVersion']);
const doubtful: ReadonlySet<string> = new Set<Reason>(['OtherTrack', 'OlderThanRunning', 'NotComparable']);

function ofUnchanged(
  { container, image, reason, message }: UnchangedContainer,
  { keys, where, selected }: { keys: Keys; where: string; selected: string },
): Found {
  if (held.has(reason)) return { severity: 'problem', keys, message, reason };
  const stays = `${where}: ${container} stays at ${image}, and ${selected} is not applied: ${message}`;
  return { severity: doubtful.has(reason) ? 'warning' : 'note', keys, message: stays, reason };
}

/** The index of the target that a plan is about, found by name, by its selector, or by the labels of the workload. */
function indexOf({ target: ref, workload }: TargetPlan, { targets }: PolicySpec): number {
  const index = targets.findIndex((target) => {
    if (workload !== undefined) return matchesTarget(target, workload);
    const name = target.selector === undefined ? target.name : formatSelector(target.selector);
    return name.startsWith(ref.name) && target.namespace === ref.namespace && kindKey(target) === kindKey(ref);
  });
  return Math.max(index, 0);
}
