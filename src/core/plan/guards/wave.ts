/** Changes workloads in waves. Those whose turn has not come wait, and after too many failures no more are changed. */
import { matchesSelector } from '../../model/label-selector.ts';
import type { WaveSettings } from '../../model/image-policy.ts';
import { listFew, toSeconds } from '../../model/text.ts';
import { formatWorkload, workloadKey } from '../../model/workload.ts';
import { nextWave, type Wave, type WaveMember } from '../next-wave.ts';
import type { TargetPlan, TargetProblem } from '../plan-update.ts';
import { describeFailedHere } from '../rejections.ts';
import type { WaitReason } from '../wait-reasons.ts';
import type { Guard, GuardContext, GuardDecision, PlannedWave } from './guard.ts';

/** Why a workload waits for its wave. */
export const waveReasons = ['WavePending', 'WavePause'] as const satisfies readonly WaitReason[];

/** Applies the wave to a target. It is planned once for all targets (`planWave`). */
export const wave: Guard = {
  id: 'wave',
  bindsRollback: false,
  check: ({ target }, { wave: planned }) => planned?.get(workloadKey(target)),
};

/** Plans the next wave of targets that all other guards have checked. Undefined for a policy without waves. */
export function planWave(targets: readonly TargetPlan[], context: GuardContext): PlannedWave | undefined {
  const { spec, progress, refused = new Map<string, TargetProblem>(), now } = context;
  const settings = spec.rollout?.waves;
  if (settings === undefined || progress === undefined) return undefined;
  const members = targets.map((target) => ({ target, ...memberOf(target, settings, { progress, refused }) }));
  const next = nextWave(members, settings, now);
  const started = new Set(next.start);
  const others = decide(next, members, context);
  return new Map(
    members.flatMap(({ key, state, target: { target } }): [string, GuardDecision][] => {
      if (state === 'Failed') return [[key, rejected(describeFailedHere(context.candidate.tag, target))]];
      const problem = state === 'Refused' ? refused.get(key) : undefined;
      if (problem !== undefined) return [[key, { kind: 'refused', ...problem }]];
      return state === 'Pending' && !started.has(key) ? [[key, others]] : [];
    }),
  );
}

/**
 * The state of a workload in its wave. One that cannot be changed now does not delay the others: if the API server refused the change it counts as a failure,
 * and if anything else blocks it, it is left out. Only a blocked canary holds back the other workloads.
 */
function memberOf(
  target: TargetPlan,
  { canaries }: WaveSettings,
  { progress, refused }: Required<Pick<GuardContext, 'progress' | 'refused'>>,
): WaveMember {
  const key = workloadKey(target.target);
  const known = progress.get(key);
  const isCanary = canaries !== undefined && matchesSelector(canaries, target.workload?.labels);
  if (known?.state === 'Failed') return { key, isCanary, state: 'Failed' };
  if (target.changes.length > 0) return { key, isCanary, state: refused.has(key) ? 'Refused' : 'Pending' };
  if (known?.state === 'Done') return { key, isCanary, state: 'Done', doneAt: known.at.toISOString() };
  if (known?.state === 'Progressing' || (known?.state === 'Retried' && waitsOnlyForRetry(target)))
    return { key, isCanary, state: 'Progressing' };
  return { key, isCanary, state: isCanary && isStuck(target) ? 'Blocked' : 'Done' };
}

function isStuck({ problem, blocked = [] }: TargetPlan): boolean {
  return problem !== undefined || blocked.some(({ reason }) => reason !== 'UpToDate');
}

function waitsOnlyForRetry({ problem, blocked = [] }: TargetPlan): boolean {
  return problem === undefined && blocked.every(({ reason }) => reason === 'RolloutRetry' || reason === 'UpToDate');
}

/** The decision about workloads that are not in the next wave. */
function decide(
  { start, until, stopped }: Wave,
  members: readonly (WaveMember & { readonly target: TargetPlan })[],
  { candidate: { tag }, spec, progress = new Map(), now }: GuardContext,
): GuardDecision {
  const isRefused = members.some(({ state }) => state === 'Refused') && !members.some(({ state }) => state === 'Failed');
  if (stopped !== undefined && isRefused)
    return {
      kind: 'refused',
      reason: 'PatchRejected',
      message: `${tag} is not rolled out further: ${stopped}. Mend that, or push a better image`,
    };
  if (stopped !== undefined) return rejected(`${tag} is not rolled out further: ${stopped}. Push a better image, or release it`);
  if (until !== undefined)
    return {
      kind: 'waits',
      reason: 'WavePause',
      message: `${tag} waits for the pause after the last wave: until ${toSeconds(until)}`,
      until,
    };
  const before = members.filter(({ key, state }) => state === 'Progressing' || state === 'Blocked' || start.includes(key));
  const message = `${tag} waits until these have rolled out: ${listFew(before, ({ target }) => formatWorkload(target.target))}`;
  const deadlines = [...progress.values()].flatMap((one) => ('deadline' in one ? [one.deadline.getTime()] : []));
  // Only a blocked canary is in progress. Its own change causes the next reconcile.
  if (start.length === 0 && deadlines.length === 0) return { kind: 'blocked', reason: 'WavePending', message };
  const timesOutAt = now.getTime() + (spec.rollout?.timeoutMs ?? 0);
  const latest = Math.max(...deadlines, start.length > 0 ? timesOutAt : 0);
  // A rollout that cannot proceed may take longer than its timeout.
  return { kind: 'waits', reason: 'WavePending', message, until: new Date(latest > now.getTime() ? latest : timesOutAt) };
}

function rejected(message: string): GuardDecision {
  return { kind: 'refused', reason: 'RejectedDigest', message };
}
