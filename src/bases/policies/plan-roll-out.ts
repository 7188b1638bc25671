/** Decides which rebased images are rolled out next: from the workloads that run an image on an older base, and the children that were created for them. Pure. */
import type { BaseImagePolicy, BasePolicySpec, BaseStatus } from '../../core/model/base-policy.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { tagOfImage } from '../../core/model/running-image.ts';
import { matchesSelector } from '../../core/model/label-selector.ts';
import { listFew, toTime } from '../../core/model/text.ts';
import { formatWorkload, workloadKey, type Workload } from '../../core/model/workload.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { nextWave, type WaveMember } from '../../core/plan/next-wave.ts';
import { actionFor } from './action-for.ts';
import { childName, childState, hasOtherWindows, type Child, type ChildState, type Replacement } from './child-policies.ts';

/** A base that is rolled out. */
export interface SelectedBase {
  readonly tag: string;
  readonly digest: string;
}

/** What is known about a roll-out. */
export interface RollOut {
  readonly policy: BaseImagePolicy & { readonly spec: BasePolicySpec };
  readonly base: SelectedBase;
  /** Of workloads that run an image on an older base, which has been rebased. */
  readonly wanted: readonly Replacement[];
  /** Keys of workloads whose images could not be rebased for the moment. */
  readonly unknown?: ReadonlySet<string>;
  /** All children of the policy. */
  readonly children: readonly Child[];
  readonly findWorkload: (ref: Replacement['workload']) => Workload | undefined;
  /** Whether the policy selects the workload, and its owners may have consented. */
  readonly selects: (workload: Workload) => boolean;
  readonly now: number;
}

/** What is to be done, and what is reported. */
export interface RollOutPlan {
  /** The workloads of a wave that begins now; what is to be created may also belong to one that began before. */
  readonly begin: readonly string[];
  readonly create: readonly Replacement[];
  /** Children whose workloads are rolled back, because the base is rejected. */
  readonly rollBack: readonly Child[];
  /** Children that have nothing to do any more, whose workloads or images the policy does not name any more, or that must not begin because the base is rejected. */
  readonly remove: readonly Child[];
  readonly waves: NonNullable<BaseStatus['waves']>;
  /** Why the base is rejected now. */
  readonly rejection?: string;
  /** When the next wave may begin. */
  readonly until?: Date;
  /** How far each replacement has come, by the name of its child. */
  readonly states: ReadonlyMap<string, ReplacementState>;
}

/** Pending: its wave has not begun. */
export type ReplacementState = ChildState | { readonly state: 'Pending'; readonly reason?: undefined; readonly message?: undefined };

/** Plans the next step of a roll-out; called again after every change. */
export function planRollOut({ policy, base, wanted, unknown = new Set(), children, findWorkload, selects, now }: RollOut): RollOutPlan {
  const { waves: settings } = policy.spec;
  const isPast = ({ policy: { createdAt = '' } }: Child) => isReleased(new Date(createdAt), policy.actions, new Date(now));
  // It is created anew, with the windows of its parent; what has begun or failed waits for none.
  const isUntimely = (child: Child) =>
    hasOtherWindows(child.policy, policy.spec.base.windows) &&
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
  const pending = wanted.filter((replacement) => !named.has(childName(policy, replacement)));
  const states = new Map<string, ReplacementState>([
    ...followed.map((child) => [child.policy.name, childState(child)] as const),
    ...pending.map((replacement) => [childName(policy, replacement), { state: 'Pending' }] as const),
  ]);
  const isCanary = ({ workload }: Replacement) =>
    settings.canaries !== undefined && matchesSelector(settings.canaries, findWorkload(workload)?.labels);
  const count = (state: ReplacementState['state']) => [...states.values()].filter((one) => one.state === state).length;
  const done = count('Done');
  const lastDoneAt = lastDoneOf(policy, base, { done, progressing: count('Progressing') + count('Blocked') }, now);
  const begun = begunFor(policy, base);
  const members = [...followed.map(({ replacement }) => replacement), ...pending].map((replacement): WaveMember => {
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
  for (const key of unknown) if (begun.has(key)) members.push({ key, isCanary: false, state: 'Progressing' });
  const rejected = rejectionOf(policy, base, now);
  const wave = rejected === undefined ? nextWave(eachOnce(members), settings, new Date(now)) : { start: [] };
  const stopped = rejected?.message ?? wave.stopped;
  const started = stopped === undefined ? new Set([...begun, ...wave.start]) : new Set<string>();
  const create = pending.filter(({ workload }) => started.has(workloadKey(workload)));
  const halted = stopped === undefined ? [] : followed.filter((child) => childState(child).state !== 'Failed');
  // What has blocked them may be over later.
  const idle = halted.filter((child) => childState(child).state === 'Blocked' && !tagsOf(child, findWorkload).has(child.replacement.to));
  return {
    begin: wave.start,
    create,
    rollBack: halted.filter((child) => !idle.includes(child)),
    remove: [...remove, ...idle],
    waves: {
      base: base.digest,
      pending: count('Pending') - create.length,
      progressing: count('Progressing') + count('Blocked') + create.length,
      done,
      failed: count('Failed'),
      ...(lastDoneAt !== undefined && { lastDoneAt }),
      ...(stopped !== undefined && { stopped }),
    },
    ...(stopped !== undefined && rejected === undefined && { rejection: describeFailures(followed) }),
    ...(wave.until !== undefined && { until: wave.until }),
    states,
  };
}

/**
 * When the last rollout was complete: now, if more have been completed, or fewer are under way than before. The status counts rebased images and restarts together;
 * `counts` are those of one of them, and only one is under way at a time.
 */
export function lastDoneOf(
  { status: { waves } }: BaseImagePolicy,
  { digest }: Pick<SelectedBase, 'digest'>,
  { done, progressing }: Pick<RollOutPlan['waves'], 'done' | 'progressing'>,
  now: number,
): string | undefined {
  const before = waves?.base === digest ? waves : undefined;
  const isNew = done > 0 && (done > (before?.done ?? 0) || progressing < (before?.progressing ?? 0));
  return isNew ? toTime(new Date(now)) : before?.lastDoneAt;
}

/** The keys of the workloads of the wave that began last. Whoever has begun it may be about to change them, or may have stopped before. */
export function begunFor({ status: { lastWave } }: BaseImagePolicy, { digest }: Pick<SelectedBase, 'digest'>): ReadonlySet<string> {
  return new Set(lastWave?.base === digest ? lastWave.workloads : []);
}

const order = ['Failed', 'Progressing', 'Pending', 'Done'];

/** Each workload once, however many of its images are replaced: the state is that of the one that needs most. */
function eachOnce(members: readonly WaveMember[]): WaveMember[] {
  const byKey = Map.groupBy(members, ({ key }) => key);
  return [...byKey.values()].flatMap((own) => own.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).slice(0, 1));
}

/** Why the base is not used; undefined if it may be, also after a release. */
export function rejectionOf(
  { status: { rejected = [] }, actions }: BaseImagePolicy,
  { digest }: Pick<SelectedBase, 'digest'>,
  now: number,
) {
  return rejected.find((one) => one.digest === digest && !isReleased(new Date(one.at), actions, new Date(now)));
}

/** Whether the workload runs neither image any more: somebody has updated it, or it is gone, or was created anew. */
function isOver(child: Child, findWorkload: RollOut['findWorkload']): boolean {
  const { workload, uid, from, to } = child.replacement;
  if (uid !== undefined && findWorkload(workload)?.uid !== uid) return true;
  const tags = tagsOf(child, findWorkload);
  return !tags.has(from) && !tags.has(to);
}

/** The tags that the containers of a child run; none if the workload is gone. */
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
