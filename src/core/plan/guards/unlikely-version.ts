import { parse } from 'semver';
import { tryParseImageReference } from '../../model/image-reference.ts';
import { actionAnnotations } from '../../model/policy-actions.ts';
import type { PolicySpec } from '../../model/image-policy.ts';
import type { Condition } from '../../model/policy-status.ts';
import type { TagStrategy } from '../../model/tag-strategy.ts';
import { formatWorkload, type ContainerChange } from '../../model/workload.ts';
import type { TargetPlan } from '../plan-update.ts';
import type { Guard, GuardContext } from './guard.ts';
import { imageOwner } from './image-owner.ts';
import { lastChange } from './last-change.ts';
import { holdDecision, isReleased } from './released.ts';

/** The unlikely factor between major versions. The highest tag is often a forgotten one: a date, or a number from before the count began again. */
const majorFactor = 10;
/** A candidate that is older by more than this is unlikely. Releases of several lines on one day may be built in any order. */
const olderByMs = 24 * 60 * 60_000;

/**
 * Holds an unlikely first change. A policy without a range does not describe the versions that it expects. Its first change of a container shows whether it has
 * found the right line, so an unlikely jump waits for a user. Later changes go from a version that the policy has chosen itself.
 */
export const unlikelyVersion: Guard = {
  id: 'unlikely-version',
  bindsRollback: false,
  check(target, context) {
    const { policy, candidate, spec, now } = context;
    if (spec.strategy.isUnbounded !== true) return undefined;
    const found = unreleasedChanges(target, context).flatMap((change) => {
      const why = findDoubt(change, context) ?? findUnread(change, context);
      return why === undefined ? [] : [{ change, why }];
    });
    if (found.length === 0) return undefined;
    const message =
      `${formatWorkload(target.target)}: ${found.map(({ change, why }) => `${change.container}: ${why}`).join('; ')}. The policy selects ` +
      `${spec.strategy.description}: set select.semver.range, or, if ${candidate.tag} is right, release it: annotation ${actionAnnotations.release}: "<time>"`;
    const containers = found.map(({ change }) => change.container);
    return holdDecision({ reason: 'UnlikelyVersion', message, containers }, policy.actions, now);
  },
};

/** The changes of containers that the policy has not changed before. */
export function firstChanges(target: TargetPlan, context: GuardContext): ContainerChange[] {
  return target.changes.filter(({ container }) => lastChange(target, container, context) === undefined);
}

/** The first changes that no release permits. */
function unreleasedChanges(target: TargetPlan, context: GuardContext): ContainerChange[] {
  return firstChanges(target, context).filter((change) => {
    const { imageSetAt } = imageOwner(target.workload, change) ?? {};
    const since = imageSetAt === undefined ? undefined : new Date(imageSetAt);
    return !isReleased(since, context.policy.actions, context.now);
  });
}

/** The hold of the last reconcile, if it was about this image and the present spec. Whether an image is older than the running one, only the registry knows. */
function holdOfStatus({ policy: { generation, status }, candidate, spec }: GuardContext): Condition | undefined {
  const { conditions = [], latest, observedGeneration = generation } = status ?? {};
  if (spec.strategy.isUnbounded !== true || observedGeneration !== generation || latest?.tag !== candidate.tag) return undefined;
  return conditions.find(({ type, status: is, reason }) => type === 'Held' && is === 'True' && reason === 'UnlikelyVersion');
}

/** The hold of the last reconcile over first changes, and these changes, for who does not ask the registry; undefined if it holds none of them. */
export function heldChanges(
  targets: readonly TargetPlan[],
  context: GuardContext,
): { readonly hold: Condition; readonly changes: readonly ContainerChange[] } | undefined {
  const hold = holdOfStatus(context);
  if (hold === undefined || context.ages !== undefined) return undefined;
  const changes = targets.flatMap((target) => unreleasedChanges(target, context));
  return changes.length === 0 ? undefined : { hold, changes };
}

/** Why a change stays held although its ages could not be read this time; undefined if they were read, or if it was not held. */
function findUnread({ from }: ContainerChange, context: GuardContext): string | undefined {
  const { ages, candidate } = context;
  const running = ageKey(from);
  if (ages === undefined || running === undefined || (ages.has(running) && ages.has(candidate.tag))) return undefined;
  if (holdOfStatus(context) === undefined) return undefined;
  return `${candidate.tag} stays held, because it could not be read when its image and that of ${running}, which runs, were created`;
}

/** The key of an image in the ages: its tag, or the digest that stands alone. Undefined for a text that is no image. */
export function ageKey(image: string): string | undefined {
  const { tag, digest } = tryParseImageReference(image) ?? {};
  return tag ?? digest;
}

/** Why a change is hardly what its author expects, with or without a range: the version is far from the running one, or its image is older; undefined if it is not. */
export function findDoubt(
  { from, to }: Pick<ContainerChange, 'from' | 'to'>,
  { candidate, spec, ages }: Pick<GuardContext, 'candidate' | 'spec' | 'ages'>,
): string | undefined {
  const running = ageKey(from);
  if (running === undefined) return undefined;
  if (isFar({ from, to }, spec)) return `${candidate.tag} is far from ${running}, which runs`;
  const [before, after] = [ages?.get(running), ages?.get(candidate.tag)];
  if (before === undefined || after === undefined || after.getTime() >= before.getTime() - olderByMs) return undefined;
  return `the image of ${candidate.tag} was created on ${dayOf(after)}, before that of ${running} (${dayOf(before)}), which runs`;
}

/** Whether a policy that selects by version would change to a major version that is far from the running one. */
function isFar({ from, to }: Pick<ContainerChange, 'from' | 'to'>, { strategy }: Pick<PolicySpec, 'strategy'>): boolean {
  if (strategy.id !== 'semver') return false;
  const [old, next] = [from, to].map((image) => versionOf(tryParseImageReference(image)?.tag, strategy)?.major);
  return old !== undefined && next !== undefined && next > Math.max(old, 1) * majorFactor;
}

function versionOf(tag: string | undefined, { partOf }: TagStrategy) {
  const part = tag === undefined || partOf === undefined ? tag : partOf(tag);
  return (part === undefined ? null : parse(part)) ?? undefined;
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
