/** Plans which workloads change next, so that a bad image reaches few: canaries first, a few at a time, with pauses, and none after failures. Pure. */
import type { WaveSettings } from '../model/image-policy.ts';

/**
 * A workload that is to be changed, or was. Refused: the API server does not accept the change, which counts as a failure · Blocked: a canary that cannot be
 * changed; the others wait for its result.
 */
export interface WaveMember {
  readonly key: string;
  readonly isCanary: boolean;
  readonly state: 'Pending' | 'Progressing' | 'Done' | 'Failed' | 'Refused' | 'Blocked';
  /** When the rollout of the workload was completed, if that is known. */
  readonly doneAt?: string;
}

/** Stands for canaries that are changed in another way, and have not rolled out: all that are no canaries wait for them. */
export const canariesElsewhere: WaveMember = { key: '', isCanary: true, state: 'Blocked' };

/** Stands for workloads that are being changed in another way: all others wait for them. */
export const progressingElsewhere: WaveMember = { key: '', isCanary: false, state: 'Progressing' };

/** Stands for workloads that were changed in another way, the last of them at this time: the pause begins when it has rolled out. */
export function doneElsewhere(doneAt: string): WaveMember {
  return { ...canariesElsewhere, state: 'Done', doneAt };
}

/** The next step of the waves. */
export interface Wave {
  /** The keys of the workloads that are changed now. */
  readonly start: readonly string[];
  /** When the pause between waves ends. */
  readonly until?: Date;
  /** Why no more workloads are changed. */
  readonly stopped?: string;
}

/** The next step: canaries before all others, never more than `maxParallel` at a time, and a pause after each wave. Workloads are sorted by key. */
export function nextWave(members: readonly WaveMember[], { maxParallel, pauseMs, maxFailures }: WaveSettings, now: Date): Wave {
  const count = (counted: WaveMember['state']) => members.filter(({ state }) => state === counted).length;
  const [failed, refused] = [count('Failed'), count('Refused')];
  if (failed + refused >= maxFailures)
    return { start: [], stopped: describeFailures(failed, refused, members.filter(({ key }) => key !== canariesElsewhere.key).length) };
  const pending = members.filter(({ state }) => state === 'Pending').toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const isWaveOver = !members.some(({ state }) => state === 'Progressing');
  if (pending.length === 0 || !isWaveOver) return { start: [] };
  const doneAt = Math.max(...members.map(({ doneAt }) => Date.parse(doneAt ?? '') || 0));
  const until = doneAt + pauseMs;
  if (until > now.getTime()) return { start: [], until: new Date(until) };
  const canaries = pending.filter(({ isCanary }) => isCanary);
  const others = count('Blocked') > 0 ? [] : pending;
  return { start: (canaries.length > 0 ? canaries : others).slice(0, maxParallel).map(({ key }) => key) };
}

function describeFailures(failed: number, refused: number, all: number): string {
  const rollouts = `${failed} of ${all} rollouts failed`;
  const changes = `the API server refused ${refused} of ${all} changes`;
  if (refused === 0) return rollouts;
  return failed === 0 ? changes : `${rollouts}, and ${changes}`;
}
