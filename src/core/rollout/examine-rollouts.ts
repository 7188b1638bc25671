/** What a check of rollouts finds: from the caches alone where that is enough, and otherwise from what is read from the API server. */
import type { ImagePolicy, RolloutSettings } from '../model/image-policy.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { currentRollouts, type Rollout } from './current-rollouts.ts';
import { evidenceOf, type PodState } from './evaluate-pods.ts';
import { evaluateChange } from './evaluate-change.ts';
import { changedAt, type RolloutEvaluation, type RolloutTime } from './evaluate-rollout.ts';

/** Shared checks run at multiples of this time. */
export const checkStepMs = 5_000;
/** The number of rollouts above which checks are shared. */
export const manyRollouts = 10;
/** One check reads at most this many workloads and their pods; the others follow in the next checks. */
export const maxExamined = 30;

/** The evaluation of one rollout. */
export interface Finding {
  readonly rollout: Rollout;
  readonly evaluation: RolloutEvaluation;
  /** The digests that the registry reports for tags whose digest the history does not know. */
  readonly digests: ReadonlyMap<string, string>;
}

/** The rollouts as the caches show them. */
export interface Examination {
  /** What is over, or is not watched: nothing is read. */
  readonly over: readonly Finding[];
  /** What is read from the API server, because a failure is never reported from the caches alone, and pods show more than a controller that still waits. */
  readonly asked: readonly Finding[];
}

/** Evaluates all rollouts from the caches, and chooses those to read. `isScheduled`: the check is due at this time, rather than caused by a change. */
export function examineRollouts(
  policy: ImagePolicy,
  { timeoutMs }: RolloutSettings,
  snapshot: TargetSnapshot,
  isScheduled: boolean,
): Examination {
  const found = currentRollouts(policy, snapshot).map((rollout): Finding => {
    const evaluation = evaluateChange(policy, rollout, { since: rollout.since, timeoutMs }, snapshot);
    return { rollout, evaluation, digests: new Map() };
  });
  const having = (...kinds: readonly RolloutEvaluation['kind'][]) => found.filter(({ evaluation }) => kinds.includes(evaluation.kind));
  // Where one of many rollouts changed, the pods of the others are read at their own times.
  const underway = isScheduled || found.length <= manyRollouts ? having('progressing') : [];
  return { over: having('done', 'notWatched'), asked: [...having('failed'), ...inTurns(underway, snapshot.at)].slice(0, maxExamined) };
}

/** The rollouts in progress that this check reads; the others have their turn in the next ones. */
function inTurns(underway: readonly Finding[], now: Date): readonly Finding[] {
  const turns = Math.ceil(underway.length / maxExamined);
  const start = turns > 1 ? (Math.floor(now.getTime() / checkStepMs) % turns) * maxExamined : 0;
  return [...underway.slice(start), ...underway.slice(0, start)];
}

/** What was read of a rollout. */
export interface RolloutReading {
  /** The newest pods; absent where they were not read. */
  readonly pods?: readonly PodState[] | undefined;
  /** The last known time of the API server. */
  readonly answeredAt: Date | undefined;
}

/** A rollout, and the policy whose checks are part of it. */
export type RolloutOf = Rollout & { readonly policy: ImagePolicy };

/**
 * Evaluates what was just read. How long it has taken is measured by the clock of the API server, which recorded when the image was set and the pods were created: our
 * own may be far from it, and an image may be blamed for a rollout that takes too long.
 */
export function evaluateReading(
  { policy, workload, entries }: RolloutOf,
  ownTime: RolloutTime,
  { pods, answeredAt }: RolloutReading,
  ownNow: Date,
): RolloutEvaluation {
  const now = answeredAt ?? ownNow;
  const time = answeredAt === undefined ? ownTime : { ...ownTime, since: changedAt(workload, ownTime) };
  const evidence = pods && evidenceOf(pods, new Set(entries.map(({ container }) => container)), now);
  return evaluateChange(policy, { workload, entries }, time, { at: now, pods: evidence, findWorkload: () => undefined });
}
