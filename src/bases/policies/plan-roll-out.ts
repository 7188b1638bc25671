/** Decides which rebased images are rolled out next, given the workloads that run an image on an older base and their children. Pure. */
import type { BaseImagePolicy, BasePolicySpec } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, type WaveSettings } from '../../core/model/image-policy.ts';
import { tagOfImage } from '../../core/model/running-image.ts';
import { matchesSelector } from '../../core/model/label-selector.ts';
import { listFew, toTime } from '../../core/model/text.ts';
import { formatWorkload, workloadKey, type Workload, type WorkloadRef } from '../../core/model/workload.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { rejectionOf } from '../../core/plan/rejected-base.ts';
import { canariesElsewhere, doneElsewhere, nextWave, progressingElsewhere, type WaveMember } from '../../core/plan/next-wave.ts';
import { actionFor } from './action-for.ts';
import { childName, childState, hasOtherWindows, type Child, type ChildState, type Replacement } from './child-policies.ts';

/** The base that is rolled out. */
export interface SelectedBase {
  readonly tag: string;
  readonly digest: string;
}

/** What is known about a roll-out. */
export interface RollOut {
  readonly policy: BaseImagePolicy & { readonly spec: BasePolicySpec };
  readonly base: SelectedBase;
  /** The replacements of images on an older base that have been rebased. */
  readonly wanted: readonly Replacement[];
  /** The workloads of images on an older base that are not rebased before their wave comes, one for each image. */
  readonly unrebased?: readonly WorkloadRef[];
  /** Keys of workloads whose images could not be rebased yet, because of an error that may pass. */
  readonly unknown?: ReadonlySet<string>;
  /** All children of the policy. */
  readonly children: readonly Child[];
  readonly elsewhere?: Elsewhere;
  readonly findWorkload: (ref: Replacement['workload']) => Workload | undefined;
  /** Whether the policy selects the workload, and its owners may have consented. */
  readonly selects: (workload: Workload) => boolean;
  readonly now: number;
}

/** What is rebuilt or restarted at the same time. */
export interface Elsewhere {
  /** Whether a canary is left, or failures will reject the base: all that are no canaries wait. */
  readonly isOpen: boolean;
  /** Whether restarts are in progress, for which all others wait. */
  readonly isUnderWay: boolean;
  /** How many were restarted, and have rolled out. */
  readonly done: number;
}

export const noneElsewhere: Elsewhere = { isOpen: false, isUnderWay: false, done: 0 };

/** The next step of a roll-out, and its status. */
export interface RollOutPlan {
  /** The workloads of a wave that begins now. Children to create may also belong to an earlier wave. */
  readonly begin: readonly string[];
  /** Keys of workloads whose images must be rebased before this step is taken; then it is planned again. */
  readonly due: ReadonlySet<string>;
  /** Keys of the workloads of the wave after this one, if nothing fails. */
  readonly following: ReadonlySet<string>;
  /** Whether bases in between, which belong to no wave, may be brought forward: no canary is left to roll out, and no pause holds up the next wave. */
  readonly admitsBetween: boolean;
  /** Whether a canary is left to roll out. */
  readonly awaitsCanaries: boolean;
  readonly create: readonly Replacement[];
  /** Children whose workloads are rolled back, because the base is rejected. */
  readonly rollBack: readonly Child[];
  /** Children to delete: they have finished, the policy does not name their workload or image any more, or they must not begin because the base is rejected. */
  readonly remove: readonly Child[];
  readonly waves: NonNullable<BaseStatus['waves']>;
  /** Why the base has just been rejected. */
  readonly rejection?: string;
  /** When the next wave may begin. */
  readonly until?: Date;
  /** The progress of each replacement, by the name of its child. */
  readonly states: ReadonlyMap<string, ReplacementState>;
  /** The replacements of this base, and whether each has rolled out. */
  readonly replacements: readonly ReplacementProgress[];
}

export interface ReplacementProgress {
  readonly replacement: Replacement;
  readonly isDone: boolean;
}

/** The state of a replacement. In the state Pending, its wave has not begun. */
export type ReplacementState = ChildState | { readonly state: 'Pending'; readonly reason?: undefined; readonly message?: undefined };

/** Plans the next step of a roll-out. It is called again after every change. */
export function planRollOut({
  policy,
  base,
  wanted,
  unrebased = [],
  unknown = new Set(),
  children,
  elsewhere = noneElsewhere,
  findWorkload,
  selects,
  now,
}: RollOut): RollOutPlan {
  const { waves: settings } = policy.spec;
  const isPast = ({ policy: { createdAt = '' } }: Child) => isReleased(new Date(createdAt), policy.actions, new Date(now));
  // Whether a child has to be created again with the windows of its parent. A child that has begun or failed is not affected by windows.
  const isUntimely = (child: Child) =>
    hasOtherWindows(child.policy, policy.spec.base) &&
    !tagsOf(child, findWorkload).has(child.replacement.to) &&
    childState(child).state !== 'Failed';
  const isDropped = (child: Child) => {
    const {
      policy: { spec },
      replacement,
    } = child;
    const workload = findWorkload(replacement.workload);
    const isRebased = !isUsable(spec) || actionFor({ source: spec.repository }, policy.spec.onNewBase).kind === 'rebase';
    return !isRebased || isUntimely(child) || (workload !== undefined && !selects(workload));
  };
  const remove = children.filter((child) => child.base !== base.digest || isPast(child) || isOver(child, findWorkload) || isDropped(child));
  const followed = children.filter((child) => !remove.includes(child));
  const named = new Set(followed.map(({ policy }) => policy.name));
  // Where a workload has a child for the same container, what is known of it is older than the child.
  const isOutdated = (one: Replacement) => followed.some(({ replacement }) => isSamePlace(replacement, one));
  const pending = wanted.filter((replacement) => !named.has(childName(policy, replacement)) && !isOutdated(replacement));
  const states = new Map<string, ReplacementState>([
    ...followed.map((child) => [child.policy.name, childState(child)] as const),
    ...pending.map((replacement) => [childName(policy, replacement), { state: 'Pending' }] as const),
  ]);
  const isCanary = ({ workload }: Pick<Replacement, 'workload'>) =>
    settings.canaries !== undefined && matchesSelector(settings.canaries, findWorkload(workload)?.labels);
  const count = (state: ReplacementState['state']) => [...states.values()].filter((one) => one.state === state).length;
  const done = count('Done');
  const progressing = count('Progressing') + count('Blocked');
  const lastDoneAt = lastDoneOf(policy, base, { done, progressing, doneElsewhere: elsewhere.done }, now);
  const begun = begunFor(policy, base);
  const replacements = [...followed.map(({ replacement }) => replacement), ...pending];
  const members = replacements.map((replacement): WaveMember => {
    const state = states.get(childName(policy, replacement))?.state ?? 'Pending';
    const key = workloadKey(replacement.workload);
    const isOpen = (state === 'Blocked' && isCanary(replacement)) || (state === 'Pending' && begun.has(key));
    return {
      key,
      isCanary: isCanary(replacement),
      state: isOpen ? 'Progressing' : state === 'Blocked' ? 'Done' : state,
      ...(state === 'Done' && lastDoneAt !== undefined && { doneAt: lastDoneAt }),
    };
  });
  for (const workload of unrebased) {
    const key = workloadKey(workload);
    members.push({ key, isCanary: isCanary({ workload }), state: begun.has(key) ? 'Progressing' : 'Pending' });
  }
  for (const key of unknown) if (begun.has(key)) members.push({ key, isCanary: false, state: 'Progressing' });
  const rejected = rejectionOf(policy, base, now);
  if (elsewhere.isUnderWay) members.push(progressingElsewhere);
  else if (elsewhere.isOpen) members.push(canariesElsewhere);
  else if (lastDoneAt !== undefined) members.push(doneElsewhere(lastDoneAt));
  const once = eachOnce(members);
  const wave = rejected === undefined ? nextWave(once, settings, new Date(now)) : { start: [] };
  const stopped = rejected?.message ?? wave.stopped;
  const started = stopped === undefined ? new Set([...begun, ...wave.start]) : new Set<string>();
  const hasChild = new Set(followed.map(({ replacement }) => workloadKey(replacement.workload)));
  const create = pending.filter(({ workload }) => started.has(workloadKey(workload)));
  const halted = stopped === undefined ? [] : followed.filter((child) => childState(child).state !== 'Failed');
  // A blocked child that has not begun is deleted, because it would begin as soon as its cause is over.
  const idle = halted.filter((child) => childState(child).state === 'Blocked' && !tagsOf(child, findWorkload).has(child.replacement.to));
  return {
    begin: wave.start,
    due: new Set(unrebased.map(workloadKey).filter((key) => started.has(key) || hasChild.has(key))),
    following: stopped === undefined ? followingWave(once, started, settings) : new Set(),
    admitsBetween: stopped === undefined && wave.until === undefined && !elsewhere.isOpen && !once.some(isCanaryOpen),
    awaitsCanaries: once.some(isCanaryOpen),
    create,
    rollBack: halted.filter((child) => !idle.includes(child)),
    remove: [...remove, ...idle],
    waves: {
      base: base.digest,
      pending: count('Pending') + unrebased.length - create.length,
      progressing: count('Progressing') + count('Blocked') + create.length,
      done,
      failed: count('Failed'),
      ...defined({ lastDoneAt, stopped }),
    },
    ...(stopped !== undefined && rejected === undefined && { rejection: describeFailures(followed) }),
    ...defined({ until: wave.until }),
    states,
    replacements: replacements.map((replacement) => ({
      replacement,
      isDone: states.get(childName(policy, replacement))?.state === 'Done',
    })),
  };
}

/** Whether the member is a canary whose result is not known. */
function isCanaryOpen({ isCanary, state }: WaveMember): boolean {
  return isCanary && (state === 'Pending' || state === 'Progressing');
}

/** The wave that begins when all workloads that have begun are done. */
function followingWave(members: readonly WaveMember[], started: ReadonlySet<string>, settings: WaveSettings): ReadonlySet<string> {
  const later = members.map(({ key, isCanary, state }): WaveMember => {
    const isBegun = state === 'Progressing' || started.has(key);
    return { key, isCanary, state: isBegun ? 'Done' : state };
  });
  return new Set(nextWave(later, { ...settings, pauseMs: 0 }, new Date(0)).start);
}

/**
 * When the last rollout was completed: now, if more are completed, or fewer are in progress, than before. The status counts rebased images and restarts
 * together. `counts` are those of one of them, and only one is in progress at a time. `doneElsewhere`: those of the other one that are completed.
 */
export function lastDoneOf(
  { status: { waves } }: BaseImagePolicy,
  { digest }: Pick<SelectedBase, 'digest'>,
  { done, progressing, doneElsewhere = 0 }: Pick<RollOutPlan['waves'], 'done' | 'progressing'> & { readonly doneElsewhere?: number },
  now: number,
): string | undefined {
  const before = waves?.base === digest ? waves : undefined;
  const isMore = done > (before?.done ?? 0);
  const isNew = isMore || (done + doneElsewhere > 0 && progressing < (before?.progressing ?? 0));
  return isNew ? toTime(new Date(now)) : before?.lastDoneAt;
}

/** The keys of the workloads of the wave that began last. The replica that began it may be about to change them, or may have stopped before. */
export function begunFor({ status: { lastWave } }: BaseImagePolicy, { digest }: Pick<SelectedBase, 'digest'>): ReadonlySet<string> {
  return new Set(lastWave?.base === digest ? lastWave.workloads : []);
}

const order = ['Failed', 'Progressing', 'Pending', 'Done'];

/** Each workload as one member, however many of its images are replaced. Of several states, the one that needs most attention is kept. */
function eachOnce(members: readonly WaveMember[]): WaveMember[] {
  const byKey = Map.groupBy(members, ({ key }) => key);
  return [...byKey.values()].flatMap((own) => own.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).slice(0, 1));
}

/** Whether two replacements are of the same container of a workload. */
function isSamePlace(a: Replacement, b: Replacement): boolean {
  return workloadKey(a.workload) === workloadKey(b.workload) && a.containers.some((name) => b.containers.includes(name));
}

/** Whether the workload runs neither the old nor the rebased image: somebody has updated it, or it was deleted or created again. */
export function isOver(child: Child, findWorkload: RollOut['findWorkload']): boolean {
  const { workload, uid, from, to } = child.replacement;
  if (uid !== undefined && findWorkload(workload)?.uid !== uid) return true;
  const tags = tagsOf(child, findWorkload);
  return !tags.has(from) && !tags.has(to);
}

/** The tags that the containers of a child run; none if the workload does not exist. */
function tagsOf({ replacement: { workload, containers } }: Child, findWorkload: RollOut['findWorkload']): ReadonlySet<string | undefined> {
  const found = findWorkload(workload);
  const { containers: main = [], initContainers = [] } = found ?? {};
  const ofChild = [...main, ...initContainers].filter(({ name }) => containers.includes(name));
  return new Set(ofChild.map(({ name, image }) => tagOfImage(image, { workload: found, container: name })));
}

function describeFailures(children: readonly Child[]): string {
  const failed = children.map((child) => ({ child, ...childState(child) })).filter(({ state }) => state === 'Failed');
  return listFew(failed, ({ child, message = 'its rollout failed' }) => {
    const name = formatWorkload(child.replacement.workload);
    return message.startsWith(name) ? message : `${name}: ${message}`;
  });
}
