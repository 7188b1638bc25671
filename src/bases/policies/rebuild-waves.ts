/**
 * Decides which rebuilds are requested next, so that a bad base reaches few: those of canaries first, a few at a time, and none after failures. A rebuild is over
 * when all workloads run its result. Pure.
 */
import { defined } from '../../core/model/defined.ts';
import { matchesSelector } from '../../core/model/label-selector.ts';
import { listFew, toSeconds } from '../../core/model/text.ts';
import { findContainer, formatWorkload, workloadKey, type Workload, type WorkloadContainer } from '../../core/model/workload.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { nextOpening } from '../../core/plan/next-opening.ts';
import { canariesElsewhere, nextWave, type WaveMember } from '../../core/plan/next-wave.ts';
import { evaluateRollout } from '../../core/rollout/evaluate-rollout.ts';
import type { RebuildState } from '../triggers/order.ts';
import type { Acting, ImageBehind } from './act.ts';

/** The rebuild of one source. */
export interface Rebuild {
  readonly key: string;
  /** The images of the source that are behind. */
  readonly behind: readonly ImageBehind[];
  /** The images that are built on the selected base already. */
  readonly current: readonly ImageBehind[];
  /** The request; undefined if there was none since the base was selected. */
  readonly request: RebuildState | undefined;
  readonly isOverdue: boolean;
}

/** Canaries of another action. */
export type AwaitedCanaries = 'rebased' | 'restarted';

/** The next step of the rebuilds. */
export interface RebuildStep {
  /** The keys of the rebuilds that are requested now. */
  readonly start: ReadonlySet<string>;
  /** Why all others wait. */
  readonly waiting: { readonly reason: 'Window' | 'WavePending'; readonly message: string };
  /** Why no more rebuilds are requested: the base is rejected. */
  readonly rejection?: string;
  /** When to decide again even if nothing changes. */
  readonly until?: Date;
}

/** A rollout of a rebuilt image has failed if it is not complete after this time, as restarts. */
const patienceMs = 15 * 60_000;
/** The interval of checks while rollouts are in progress, because only their images are watched. */
const pollMs = 10_000;

/** The next step. `failed`: the digests of images on the selected base whose rollouts failed, so that their workloads were rolled back. `awaited`: which canaries of other actions have not rolled out. */
export function planRebuilds(
  rebuilds: readonly Rebuild[],
  { failed, awaited }: { readonly failed: ReadonlySet<string>; readonly awaited?: AwaitedCanaries | undefined },
  acting: Acting,
): RebuildStep {
  const { policy, now } = acting;
  const members = rebuilds.flatMap((rebuild) => memberOf(rebuild, failed, acting));
  const opening = nextOpening(policy.spec.base.windows, new Date(now));
  const wave = nextWave(awaited === undefined ? members : [...members, canariesElsewhere], policy.spec.waves, new Date(now));
  const start = new Set(opening === undefined ? wave.start : []);
  const isRollingOut = members.some(({ isRollingOut }) => isRollingOut);
  const isAwaited = members.some(({ state }) => state === 'Pending');
  const times = [isAwaited ? opening : undefined, wave.until, isRollingOut ? new Date(now + pollMs) : undefined].flatMap(
    (time) => time?.getTime() ?? [],
  );
  const failures = members.flatMap(({ failure }) => failure ?? []);
  return {
    start,
    waiting:
      opening !== undefined
        ? whileClosed(opening)
        : { reason: 'WavePending', message: awaited === undefined ? describeWave(members, start, wave.until) : afterCanaries(awaited) },
    ...(wave.stopped !== undefined && { rejection: listFew(failures, (failure) => failure) }),
    ...(times.length > 0 && { until: new Date(Math.min(...times)) }),
  };
}

interface Member extends WaveMember {
  readonly isRollingOut: boolean;
  /** What failed. */
  readonly failure?: string;
}

/** The rebuild as a member of the waves. None for a source that nobody asked to rebuild: its images are on the selected base for another reason. */
function memberOf({ key, behind, current, request, isOverdue }: Rebuild, failed: ReadonlySet<string>, acting: Acting): Member[] {
  const { canaries } = acting.policy.spec.waves;
  const runs = [...behind, ...current].flatMap((image) => runsOf(image, acting));
  const isCanary = canaries !== undefined && runs.some(({ workload }) => matchesSelector(canaries, workload.labels));
  const member = { key, isCanary, isRollingOut: false };
  if (request === undefined) return behind.length === 0 ? [] : [{ ...member, state: 'Pending' }];
  const results = [
    ...behind.flatMap((image) => runsOf(image, acting)).map((run) => rolledBack(run, failed, request, acting)),
    ...current.flatMap((image) => runsOf(image, acting)).map((run) => rolledOut(run, request, acting)),
  ];
  const failure = results.find(({ state }) => state === 'Failed')?.failure;
  if (failure !== undefined) return [{ ...member, state: 'Failed', failure }];
  const isRollingOut = results.some(({ state }) => state === 'Progressing');
  if (isRollingOut) return [{ ...member, state: 'Progressing', isRollingOut }];
  if (behind.length > 0) {
    // What never comes does not hold up others, unless it is the canary that they wait for.
    const isStuck = isOverdue || request.state === 'Failed';
    return [{ ...member, state: !isStuck ? 'Progressing' : isCanary ? 'Blocked' : 'Done' }];
  }
  const doneAt = results
    .flatMap(({ at }) => at ?? [])
    .toSorted()
    .at(-1);
  return [{ ...member, state: 'Done', ...defined({ doneAt }) }];
}

/** Whether a canary is left to be rebuilt, or its rebuilt image to roll out. */
export function awaitsCanaries(images: readonly ImageBehind[], isBehind: (image: ImageBehind) => boolean, acting: Acting): boolean {
  const { policy, now } = acting;
  const { canaries, maxFailures } = policy.spec.waves;
  if (canaries === undefined) return false;
  const failed = new Set<string>();
  for (const image of images)
    for (const { workload, containers } of runsOf(image, acting)) {
      if (!matchesSelector(canaries, workload.labels)) continue;
      if (isBehind(image)) return true;
      const at = containers
        .flatMap(({ imageSetAt }) => imageSetAt ?? [])
        .toSorted()
        .at(-1);
      const since = new Date(at ?? 0);
      const { kind } = evaluateRollout(workload, { since, timeoutMs: patienceMs }, new Date(now));
      if (kind === 'progressing') return true;
      if (kind === 'failed' && at !== undefined && !isReleased(since, policy.actions, new Date(now))) failed.add(workloadKey(workload));
    }
  // The base is rejected when this number of workloads has failed.
  return failed.size >= maxFailures;
}

interface Run {
  readonly workload: Workload;
  readonly containers: readonly WorkloadContainer[];
}

function runsOf({ workloads }: ImageBehind, { findWorkload }: Acting): Run[] {
  return workloads.flatMap(({ workload: ref, containers }) => {
    const workload = findWorkload(ref);
    return workload === undefined ? [] : [{ workload, containers: containers.flatMap((name) => findContainer(workload, name) ?? []) }];
  });
}

interface RunState {
  readonly state: 'Progressing' | 'Done' | 'Failed';
  readonly failure?: string;
  /** When the image was set. */
  readonly at?: string;
}

/** A workload that runs an image on an older base: it has failed if it was rolled back from one on the selected base since the request. */
function rolledBack({ workload, containers }: Run, failed: ReadonlySet<string>, { at }: RebuildState, { policy, now }: Acting): RunState {
  const found = containers.find(({ lastUpdate }) => {
    const isSince = lastUpdate !== undefined && Date.parse(lastUpdate.at) >= Date.parse(at);
    const isKnown = lastUpdate?.failed !== undefined && failed.has(lastUpdate.failed);
    return isSince && isKnown && !isReleased(new Date(lastUpdate.at), policy.actions, new Date(now));
  });
  if (found === undefined) return { state: 'Done' };
  return { state: 'Failed', failure: `${formatWorkload(workload)} was rolled back from ${found.lastUpdate?.failed}` };
}

/** A workload that runs an image on the selected base. */
function rolledOut({ workload, containers }: Run, request: RebuildState, { policy, now }: Acting): RunState {
  const at = containers
    .flatMap(({ imageSetAt }) => imageSetAt ?? [])
    .toSorted()
    .at(-1);
  const since = new Date(at ?? request.at);
  const { kind, message } = evaluateRollout(workload, { since, timeoutMs: patienceMs }, new Date(now));
  if (kind === 'failed' && !isReleased(since, policy.actions, new Date(now))) return { state: 'Failed', failure: message };
  return { state: kind === 'progressing' ? 'Progressing' : 'Done', ...defined({ at }) };
}

function whileClosed(opening: Date): RebuildStep['waiting'] {
  return { reason: 'Window', message: `its rebuild is requested when the next window opens: ${toSeconds(opening)}` };
}

function afterCanaries(awaited: AwaitedCanaries): string {
  return `its rebuild is requested when the canaries that are ${awaited} have rolled out`;
}

function describeWave(members: readonly Member[], start: ReadonlySet<string>, until: Date | undefined): string {
  if (until !== undefined) return `its rebuild is requested in a later wave; the pause ends at ${toSeconds(until)}`;
  const isOpen = ({ key, state }: Member) => state === 'Progressing' || start.has(key);
  const stuck = members.filter(({ state }) => state === 'Blocked').length;
  if (stuck > 0) return `its rebuild is requested when the canaries run theirs, and ${stuck} of these are refused or overdue`;
  const open = members.filter(isOpen).length;
  return `its rebuild is requested when the ${open} before it are rolled out (spec.waves)`;
}
