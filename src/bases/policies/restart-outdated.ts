/**
 * The action `restart`: a rebuilt image has been pushed under the tag that workloads run, and their pods still run the former image. They are restarted in
 * waves, each workload once for each digest.
 */
import { inParallel } from '../../core/async/in-parallel.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { matchesSelector } from '../../core/model/label-selector.ts';
import { cut, listFew, toSeconds } from '../../core/model/text.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from '../../core/model/workload.ts';
import { nextOpening } from '../../core/plan/next-opening.ts';
import { canariesElsewhere, doneElsewhere, nextWave, type Wave, type WaveMember } from '../../core/plan/next-wave.ts';
import type { Acted, Acting, ImageBehind } from './act.ts';
import { actionFor } from './action-for.ts';
import { rejectionOf, withRejection } from '../../core/plan/rejected-base.ts';
import { begunFor, type Elsewhere, lastDoneOf, noneElsewhere } from './plan-roll-out.ts';
import { order, stateOf, type Candidate, type Restart } from './restart-states.ts';
import { examineAll, hasConsent, isStillStarting, parallelReads, type RestartPorts } from './examine-restarts.ts';

/** The interval of reads while restarts are in progress, because rollouts of workloads are not watched here. */
const pollMs = 10_000;
/** A restart that a registry or the API server refused is tried again after this time. */
const retryMs = 60_000;

/** What was restarted, and why a canary is not, for which all that are no canaries wait. */
export type Restarted = Acted & { readonly blocked?: string | undefined };

/** Restarts outdated workloads. `current` are the images whose tags are built on the selected base. While `awaitsOthers`, only canaries are restarted. */
export async function restartOutdated(
  acting: Acting,
  current: readonly ImageBehind[],
  ports: RestartPorts,
  awaitsOthers = false,
): Promise<Restarted> {
  const images = current.filter(hasMutableTag);
  if (images.length === 0) return { states: new Map(), status: {} };
  const { policy, now, signal } = acting;
  const examined = await examineAll(images, acting, ports);
  let { restarts } = examined;
  const { failures } = examined;
  const faults = failures.map((error) => describeError(error));
  // Pods of workloads that could not be read may be starting, so nothing more begins. A permanent error does not prevent other restarts.
  const unread = failures.filter((error) => !(error instanceof PermanentError)).length;
  const rejected = rejectionOf(policy, acting.base, now);
  const isCanary = ({ workload }: Candidate) => isCanaryOf(acting, workload);
  const count = (state: Restart['state']) => restarts.filter((one) => one.state === state).length;
  const counts = { done: count('Done'), progressing: count('Progressing') + unread };
  const lastDoneAt = lastDoneOf(policy, acting.base, counts, now);
  const opening = nextOpening(policy.spec.base.windows, new Date(now));
  const begun = begunFor(policy, acting.base);
  const pendingByKey = () =>
    Map.groupBy(
      restarts.filter(({ state }) => state === 'Pending'),
      ({ workload }) => workloadKey(workload),
    );
  const planWave = () => {
    const members = membersOf(restarts, { isCanary, lastDoneAt, begun });
    if (awaitsOthers) members.push(canariesElsewhere);
    else if (lastDoneAt !== undefined) members.push(doneElsewhere(lastDoneAt));
    return unread > 0 ? { start: [] } : nextWave(members, policy.spec.waves, new Date(now));
  };
  let wave: Wave = rejected === undefined ? planWave() : { start: [], stopped: rejected.message };
  const started = new Set<string>();
  let isOutage = false;
  const toRestart = () => {
    if (opening !== undefined || unread > 0 || wave.stopped !== undefined) return [];
    const ofBefore = [...pendingByKey().keys()].filter((key) => begun.has(key));
    return ofBefore.length > 0 ? ofBefore : wave.start;
  };
  // A workload whose restart is refused must not prevent the restarts of others.
  let next = toRestart();
  while (started.size === 0 && next.length > 0) {
    const own = pendingByKey();
    if (next === wave.start) await acting.beginWave(next);
    const begun = await inParallel(next, parallelReads, (key) => begin(own.get(key) ?? [], acting, ports));
    signal.throwIfAborted();
    for (const [index, key] of next.entries()) {
      const result = begun[index];
      if (result?.status === 'fulfilled') started.add(key);
      else {
        isOutage ||= !(result?.reason instanceof PermanentError);
        const message = cut(`it cannot be restarted: ${describeError(result?.reason)}`, maxLengths.message);
        faults.push(message);
        const isRefused = result?.reason instanceof PermanentError;
        restarts = restarts.map((one) => (own.get(key)?.includes(one) === true ? { ...one, state: 'Kept', message, isRefused } : one));
      }
    }
    if (isOutage) break;
    if (started.size === 0) wave = planWave();
    next = toRestart();
  }
  // A closed window is waited for until it opens.
  const isOpen = count('Progressing') + unread > 0 || (opening === undefined && count('Pending') > 0);
  const awaited = count('Pending') > 0 && rejected === undefined ? opening : undefined;
  const untils = [
    opening ?? wave.until,
    isOpen || isOutage ? new Date(now + pollMs) : faults.length > 0 ? new Date(now + retryMs) : undefined,
  ].flatMap((at) => at?.getTime() ?? []);
  const failed = restarts.filter(({ state }) => state === 'Failed');
  const refused = restarts.find((one) => one.isRefused === true && isCanary(one));
  const blocked = refused && describeBlocked(refused);
  const isNewlyRejected = wave.stopped !== undefined && rejected === undefined;
  return {
    states: new Map(images.flatMap((image) => stateOf(image, restarts, { started, faults, opening: awaited, blocked }))),
    ...defined({ blocked }),
    status: {
      waves: wavesOf(acting, { count, started: started.size, unread, stopped: wave.stopped, lastDoneAt }),
      ...(awaited !== undefined && { opensAt: toSeconds(awaited) }),
      ...(isNewlyRejected && { rejected: withRejection(policy, acting.base, describeFailures(failed), now) }),
    },
    ...(untils.length > 0 && { until: new Date(Math.min(...untils)) }),
  };
}

/**
 * The restarts that others wait for: those of canaries, and those of the wave that began last. A canary whose tag has no image on the selected base is not waited
 * for, because nothing brings that about.
 */
export async function awaitedRestarts(acting: Acting, current: readonly ImageBehind[], ports: RestartPorts): Promise<Elsewhere> {
  const { policy, base, now } = acting;
  const begun = begunFor(policy, base);
  const isBegun = (workload: WorkloadRef) => begun.has(workloadKey(workload));
  const awaited = current.filter(hasMutableTag).flatMap((image) => {
    const workloads = image.workloads.filter(({ workload }) => isBegun(workload) || isCanaryOf(acting, workload));
    return workloads.length === 0 ? [] : [{ ...image, workloads }];
  });
  const moved = movedOn(begun, acting);
  if (awaited.length + moved.length === 0 || rejectionOf(policy, base, now) !== undefined) return noneElsewhere;
  const { restarts, failures } = await examineAll(awaited, acting, ports);
  const starting = await inParallel(moved, parallelReads, (workload) => isStillStarting(workload, acting, ports));
  const faults = [...failures, ...starting.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))];
  const isUnread = faults.some((error) => !(error instanceof PermanentError));
  const isStarting = starting.some((one) => one.status === 'fulfilled' && one.value);
  const failed = new Set(restarts.flatMap(({ state, workload }) => (state === 'Failed' ? [workloadKey(workload)] : [])));
  // The base is rejected when this number of workloads has failed.
  const isFailed = failed.size >= policy.spec.waves.maxFailures;
  const isLeft = ({ state, workload }: Restart) => (state === 'Pending' || state === 'Progressing') && isCanaryOf(acting, workload);
  return {
    isOpen: isUnread || isFailed || isStarting || restarts.some(isLeft),
    isUnderWay: isUnread || isStarting || restarts.some(({ state }) => state === 'Progressing'),
    done: restarts.filter(({ state }) => state === 'Done').length,
  };
}

/** What to do comes before what the API server says, which may be long. */
function describeBlocked({ workload, message }: Restart): string {
  return `the canary ${formatWorkload(workload)} (remove what prevents its restart, or let spec.waves.canaries not select it): ${message}`;
}

/** The workloads of the wave that began last whose tags have an image on another base by now, while others are to be changed. */
function movedOn(begun: ReadonlySet<string>, { policy, behind, current }: Acting): WorkloadRef[] {
  const { onNewBase } = policy.spec;
  if (behind.length === 0 || !onNewBase.some(({ kind }) => kind === 'restart')) return [];
  const others = [...behind.filter((image) => actionFor(image, onNewBase).kind !== 'restart'), ...current];
  const known = new Set(others.flatMap(({ workloads }) => workloads.map(({ workload }) => workloadKey(workload))));
  return [...begun].flatMap((key) => {
    const [kind = '', namespace = '', name = '', ...more] = key.split('/');
    // Workloads of custom kinds are not restarted.
    return known.has(key) || more.length > 0 ? [] : [{ kind, namespace, name }];
  });
}

function isCanaryOf({ policy, findWorkload }: Acting, workload: WorkloadRef): boolean {
  const { canaries } = policy.spec.waves;
  return canaries !== undefined && matchesSelector(canaries, findWorkload(workload)?.labels);
}

/** The images whose workloads a policy without permission to act would restart, and those that stay behind. A later reconcile finds unreadable images. */
export async function findOutdated(
  acting: Acting,
  current: readonly ImageBehind[],
  ports: RestartPorts,
): Promise<{ readonly images: ReadonlySet<ImageBehind>; readonly kept: Acted['states']; readonly until?: Date }> {
  const { restarts, failures } = await examineAll(current.filter(hasMutableTag), acting, ports);
  const images = new Set(restarts.flatMap(({ image, state }) => (state === 'Pending' ? [image] : [])));
  const others = restarts.filter(({ image, state }) => state === 'Kept' && !images.has(image));
  const step = { started: new Set<string>(), faults: [], opening: undefined };
  const kept = new Map(others.flatMap(({ image }) => stateOf(image, others, step)));
  return { images, kept, ...(failures.length > 0 && { until: new Date(acting.now + retryMs) }) };
}

/** Whether an image has a mutable tag. An image that is pinned by a digest has none. */
function hasMutableTag({ tag, isPinned }: ImageBehind): boolean {
  return tag !== undefined && !isPinned;
}

interface MemberFacts {
  readonly isCanary: (candidate: Candidate) => boolean;
  readonly lastDoneAt: string | undefined;
  /** Keys of the workloads of the wave that began last. */
  readonly begun: ReadonlySet<string>;
}

/** The members of the waves. Each workload is one member, however many of its images are outdated. */
function membersOf(restarts: readonly Restart[], { isCanary, lastDoneAt, begun }: MemberFacts): WaveMember[] {
  return [...Map.groupBy(restarts, ({ workload }) => workloadKey(workload))].flatMap(([key, own]): WaveMember[] => {
    const [refused] = own.filter(({ isRefused }) => isRefused);
    if (refused !== undefined && isCanary(refused)) return [{ key, isCanary: true, state: 'Blocked' }];
    const counted = own.flatMap(({ state, ...one }) => (state === 'Kept' ? [] : [{ ...one, state }]));
    const worst = counted.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0];
    if (worst === undefined) return [];
    const state = worst.state === 'Pending' && begun.has(key) ? 'Progressing' : worst.state;
    return [{ key, isCanary: isCanary(worst), state, ...(worst.state === 'Done' && lastDoneAt && { doneAt: lastDoneAt }) }];
  });
}

function describeFailures(failed: readonly Restart[]): string {
  return listFew(failed, ({ workload, message = 'its restart failed' }) => `${formatWorkload(workload)}: ${message}`);
}

interface Counts {
  readonly count: (state: Restart['state']) => number;
  readonly started: number;
  /** The number of workloads that could not be read. They count as progressing, because they may be. */
  readonly unread: number;
  readonly stopped: string | undefined;
  readonly lastDoneAt: string | undefined;
}

function wavesOf({ base }: Acting, { count, started, unread, stopped, lastDoneAt }: Counts): NonNullable<BaseStatus['waves']> {
  return {
    base: base.digest,
    pending: count('Pending') - started,
    progressing: count('Progressing') + started + unread,
    done: count('Done'),
    failed: count('Failed'),
    ...defined({ lastDoneAt, stopped }),
  };
}

/** Restarts a workload for all of its outdated images. Throws if it is not restarted. */
async function begin(own: readonly Restart[], { policy, confirm, now, signal }: Acting, ports: RestartPorts): Promise<void> {
  const [first] = own;
  if (first === undefined) return;
  const { workload, pods } = first;
  const { restarts } = ports;
  // The patch tests the consent annotation of the workload itself. The consent of its Namespace may have been withdrawn.
  if (!hasConsent(workload, { onTarget: pods.allowPoliciesFrom, onNamespace: null }, policy, ports)) {
    const onNamespace = await restarts.readConsent(workload.namespace, signal);
    if (!hasConsent(workload, { onTarget: pods.allowPoliciesFrom, onNamespace }, policy, ports))
      throw new PermanentError('NoConsent', 'its owners have withdrawn their consent');
  }
  await confirm();
  const restartedFor = [...own.map(({ image }) => image.digest), ...pods.restartedFor];
  const isDone = await restarts.restart(workload, { ...pods, restartedFor, at: new Date(now) }, signal);
  if (!isDone) throw new Error(`${formatWorkload(workload)} has changed meanwhile`);
}
