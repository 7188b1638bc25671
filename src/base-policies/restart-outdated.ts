/**
 * The action `restart`: a rebuilt image has come under the tag that workloads run already, and their pods still run the one before. They are restarted in waves, each
 * once for each digest.
 */
import { inParallel } from '../async/in-parallel.ts';
import { baseState } from '../bases/recognize-base.ts';
import { recognizeImages } from '../bases/recognize-images.ts';
import type { FactsReader } from '../bases/facts-reader.ts';
import type { BaseStatus } from '../model/base-policy.ts';
import { describeError, PermanentError } from '../model/errors.ts';
import { matchesSelector } from '../model/label-selector.ts';
import { cut, listFew, toSeconds } from '../model/text.ts';
import { maxLengths } from '../model/policy-status.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from '../model/workload.ts';
import { evaluateConsent, needsConsent, type ConsentRules } from '../plan/consent.ts';
import { nextOpening } from '../plan/next-opening.ts';
import { isReleased } from '../plan/guards/released.ts';
import { nextWave, type Wave, type WaveMember } from '../plan/next-wave.ts';
import { evaluateRollout } from '../rollout/evaluate-rollout.ts';
import type { RunningPods } from '../rollout/running-pods.ts';
import type { Acted, Acting, ImageBehind } from './act.ts';
import { begunFor, lastDoneOf, rejectionOf } from './plan-roll-out.ts';
import { order, stateOf, type Candidate, type Restart } from './restart-states.ts';

export interface RestartPorts {
  readonly facts: FactsReader;
  readonly cluster: ConsentRules;
  readonly restarts: {
    readonly read: (workload: WorkloadRef, signal: AbortSignal) => Promise<RunningPods | undefined>;
    /** Records what it is `restartedFor` in the same patch. Returns false if the workload has changed since it was read. */
    readonly restart: (
      workload: WorkloadRef,
      state: Pick<RunningPods, 'uid' | 'resourceVersion' | 'restartedFor'> & { readonly at: Date },
      signal: AbortSignal,
    ) => Promise<boolean>;
    /** The consent of a Namespace as it is now, null where it has none; throws PermanentError(NoConsent) where it may not be read. */
    readonly readConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  };
}

const parallelReads = 8;
/** Pods that still run the former image after this time do not come up. */
const patienceMs = 15 * 60_000;
/** After this time more, what fails is no longer taken for a failure of the restart: somebody may have deployed a change since. */
const graceMs = 15 * 60_000;
/** Rollouts of workloads are not watched here. */
const pollMs = 10_000;
/** What a registry or the API server refuses is tried again after this time. */
const retryMs = 60_000;

/** Restarts what is outdated; `current` are those whose tags have an image on the selected base. */
export async function restartOutdated(acting: Acting, current: readonly ImageBehind[], ports: RestartPorts): Promise<Acted> {
  const images = current.filter(hasMutableTag);
  if (images.length === 0) return { states: new Map(), status: {} };
  const { policy, now, signal } = acting;
  const examined = await examineAll(images, acting, ports);
  let { restarts } = examined;
  const { failures } = examined;
  const faults = failures.map((error) => describeError(error));
  // Their pods may be starting: nothing more begins before that is known. What is refused for good must not keep the others from their restarts.
  const unread = failures.filter((error) => !(error instanceof PermanentError)).length;
  const rejected = rejectionOf(policy, acting.base, now);
  const isCanary = ({ workload }: Candidate) =>
    policy.spec.waves.canaries !== undefined && matchesSelector(policy.spec.waves.canaries, acting.findWorkload(workload)?.labels);
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
  const planWave = () =>
    unread > 0 ? { start: [] } : nextWave(membersOf(restarts, { isCanary, lastDoneAt, begun }), policy.spec.waves, new Date(now));
  let wave: Wave = rejected === undefined ? planWave() : { start: [], stopped: rejected.message };
  const started = new Set<string>();
  let isOutage = false;
  const toRestart = () => {
    if (opening !== undefined || unread > 0 || wave.stopped !== undefined) return [];
    const ofBefore = [...pendingByKey().keys()].filter((key) => begun.has(key));
    return ofBefore.length > 0 ? ofBefore : wave.start;
  };
  // A workload whose restart is refused must not keep the others from theirs.
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
        restarts = restarts.map((one) => (own.get(key)?.includes(one) === true ? { ...one, state: 'Kept', message } : one));
      }
    }
    if (isOutage) break;
    if (started.size === 0) wave = planWave();
    next = toRestart();
  }
  // A closed window opens at its time.
  const isOpen = count('Progressing') + unread > 0 || (opening === undefined && count('Pending') > 0);
  const awaited = count('Pending') > 0 && rejected === undefined ? opening : undefined;
  const untils = [
    opening ?? wave.until,
    isOpen || isOutage ? new Date(now + pollMs) : faults.length > 0 ? new Date(now + retryMs) : undefined,
  ].flatMap((at) => at?.getTime() ?? []);
  const failed = restarts.filter(({ state }) => state === 'Failed');
  const isNewlyRejected = wave.stopped !== undefined && rejected === undefined;
  return {
    states: new Map(images.flatMap((image) => stateOf(image, restarts, { started, faults, opening: awaited }))),
    status: {
      waves: wavesOf(acting, { count, started: started.size, unread, stopped: wave.stopped, lastDoneAt }),
      ...(awaited !== undefined && { opensAt: toSeconds(awaited) }),
      ...(isNewlyRejected && { rejected: [reject(acting, failed), ...(policy.status.rejected ?? [])].slice(0, maxRejected) }),
    },
    ...(untils.length > 0 && { until: new Date(Math.min(...untils)) }),
  };
}

/** The images whose workloads would be restarted, for a policy that may not do so, and those that are behind all the same; those that could not be read are found by a later reconcile. */
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

/** A digest in the image of a workload, or none but a digest, is no mutable tag. */
function hasMutableTag({ tag, isPinned }: ImageBehind): boolean {
  return tag !== undefined && !isPinned;
}

async function examineAll(
  images: readonly ImageBehind[],
  acting: Acting,
  ports: RestartPorts,
): Promise<{ readonly restarts: readonly Restart[]; readonly failures: readonly unknown[] }> {
  const candidates = images.flatMap((image) => image.workloads.map(({ workload, containers }) => ({ image, workload, containers })));
  const results = await inParallel(candidates, parallelReads, (candidate) => examine(candidate, acting, ports));
  acting.signal.throwIfAborted();
  return {
    restarts: results.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : [])),
    failures: results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
  };
}

interface MemberFacts {
  readonly isCanary: (candidate: Candidate) => boolean;
  readonly lastDoneAt: string | undefined;
  /** Keys of workloads whose restart was to begin before. */
  readonly begun: ReadonlySet<string>;
}

/** Each workload once, however many of its images are outdated. */
function membersOf(restarts: readonly Restart[], { isCanary, lastDoneAt, begun }: MemberFacts): WaveMember[] {
  return [...Map.groupBy(restarts, ({ workload }) => workloadKey(workload))].flatMap(([key, own]) => {
    const counted = own.flatMap(({ state, ...one }) => (state === 'Kept' ? [] : [{ ...one, state }]));
    const worst = counted.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0];
    if (worst === undefined) return [];
    const state = worst.state === 'Pending' && begun.has(key) ? 'Progressing' : worst.state;
    return [{ key, isCanary: isCanary(worst), state, ...(worst.state === 'Done' && lastDoneAt && { doneAt: lastDoneAt }) }];
  });
}

const maxRejected = 10;

function reject({ base, now }: Acting, failed: readonly Restart[]): NonNullable<BaseStatus['rejected']>[number] {
  const message = listFew(failed, ({ workload, message = 'its restart failed' }) => `${formatWorkload(workload)}: ${message}`);
  return { ...base, at: new Date(now).toISOString(), message: cut(message, maxLengths.message) };
}

interface Counts {
  readonly count: (state: Restart['state']) => number;
  readonly started: number;
  /** Counted as progressing, which they may be. */
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
    ...(lastDoneAt !== undefined && { lastDoneAt }),
    ...(stopped !== undefined && { stopped }),
  };
}

/** Undefined where pods run the image of the tag without our doing. */
async function examine(candidate: Candidate, acting: Acting, ports: RestartPorts): Promise<Restart | undefined> {
  const { image, workload, containers } = candidate;
  const pods = await ports.restarts.read(workload, acting.signal);
  // What was created anew under its name may be none of the policy's.
  if (pods === undefined || !acting.selects({ ...workload, ...(pods.labels !== undefined && { labels: pods.labels }) })) return undefined;
  const isPulled = (name: string) => pods.pullsAlways.includes(name);
  const areOutdated = (names: readonly string[]) => {
    const running = new Set(names.flatMap((name) => [...(pods.digests.get(name) ?? [])]));
    running.delete(image.digest);
    return isOutdated([...running], image, acting, ports);
  };
  const restart = examinePulled(candidate, { pods, areOutdated: await areOutdated(containers.filter(isPulled)) }, acting, ports);
  if (restart !== undefined && restart.state !== 'Done') return restart;
  const kept = containers.filter((name) => !isPulled(name));
  if (!(await areOutdated(kept))) return restart;
  const message = `${formatWorkload(workload)} runs the image before, and a restart may not pull the new one: set imagePullPolicy: Always for ${listFew(kept, (name) => name)}`;
  return { ...candidate, pods, state: 'Kept', message: cut(message, maxLengths.message) };
}

interface Examined {
  readonly pods: RunningPods;
  readonly areOutdated: boolean;
}

/** The same of the containers that pull their image at each start. */
function examinePulled(candidate: Candidate, examined: Examined, { policy, now }: Acting, ports: RestartPorts): Restart | undefined {
  const { image, workload, containers } = candidate;
  const { pods, areOutdated } = examined;
  if (!containers.some((name) => pods.pullsAlways.includes(name))) return undefined;
  // After a release, a restart that failed is repeated.
  const isOurs = pods.restartedFor.includes(image.digest) && !isReleased(new Date(pods.restartedAt ?? ''), policy.actions, new Date(now));
  if (isOurs) return progress(candidate, examined, now);
  if (!areOutdated) return undefined;
  const { haltedBecause } = pods.rollout ?? {};
  if (haltedBecause !== undefined) return { ...candidate, pods, state: 'Kept', message: haltedBecause };
  const isAllowed = hasConsent(workload, pods, ports.cluster.namespaceConsent(workload.namespace), policy, ports);
  return isAllowed ? { ...candidate, pods, state: 'Pending' } : undefined;
}

function hasConsent(
  workload: WorkloadRef,
  { allowPoliciesFrom: onTarget }: RunningPods,
  onNamespace: string | null | undefined,
  policy: Acting['policy'],
  { cluster: { crossNamespace } }: RestartPorts,
): boolean {
  return (
    !needsConsent(workload, policy, crossNamespace) || evaluateConsent(policy, workload, { onTarget, onNamespace }, crossNamespace).granted
  );
}

/** How far a restart has come, as every rollout is evaluated; undefined if there is nothing to report any more. */
function progress(candidate: Candidate, { pods, areOutdated }: Examined, now: number): Restart | undefined {
  const { workload, image } = candidate;
  const { generation, rollout, restartedAt = '' } = pods;
  const at = Date.parse(restartedAt);
  const keep = (why: string): Restart | undefined => (areOutdated ? { ...candidate, pods, state: 'Kept', message: why } : undefined);
  // Who owns the workload may write any time; a replica whose clock is ahead writes one that is a little late.
  if (!(at <= now + graceMs))
    return keep('its annotation kubectl.kubernetes.io/restartedAt is no time of a restart: restart it with kubectl');
  const since = Math.min(at, now);
  const whyStale = `it was restarted for ${image.digest} at ${restartedAt}, and its pods run the image before: restart it with kubectl`;
  const rolledOut = { ...workload, generation, ...(rollout && { rollout }) };
  const { kind, message } = evaluateRollout(rolledOut, { since: new Date(since), timeoutMs: patienceMs }, new Date(now));
  const fail = (why: string): Restart => {
    const hint = 'the tag has no former image to go back to: push a better one';
    return { ...candidate, pods, state: 'Failed', message: `${why}; ${hint}` };
  };
  if (kind === 'notWatched') return keep(message);
  if (kind !== 'done' && now - since > patienceMs + graceMs) return keep(whyStale);
  if (kind === 'failed') return fail(message);
  if (kind === 'progressing') return { ...candidate, pods, state: 'Progressing' };
  // A partition keeps some pods as they are.
  const hasPartition = rollout !== undefined && rollout.toUpdate < rollout.wanted;
  if (!areOutdated || hasPartition) return { ...candidate, pods, state: 'Done' };
  if (now - since > patienceMs + graceMs) return keep(whyStale);
  if (now - since <= patienceMs) return { ...candidate, pods, state: 'Progressing' };
  return fail(`its pods do not run ${image.digest} 15 minutes after the restart`);
}

/** Restarts a workload, for all of its images that are outdated. Throws if it is not restarted. */
async function begin(own: readonly Restart[], { policy, confirm, now, signal }: Acting, ports: RestartPorts): Promise<void> {
  const [first] = own;
  if (first === undefined) return;
  const { workload, pods } = first;
  const { restarts } = ports;
  // The consent of the workload itself is tested by its patch; that of its Namespace may have been withdrawn.
  if (!hasConsent(workload, pods, null, policy, ports)) {
    const onNamespace = await restarts.readConsent(workload.namespace, signal);
    if (!hasConsent(workload, pods, onNamespace, policy, ports))
      throw new PermanentError('NoConsent', 'its owners have withdrawn their consent');
  }
  await confirm();
  const restartedFor = [...own.map(({ image }) => image.digest), ...pods.restartedFor];
  const isDone = await restarts.restart(workload, { ...pods, restartedFor, at: new Date(now) }, signal);
  if (!isDone) throw new Error(`${formatWorkload(workload)} has changed meanwhile`);
}

/** Whether one of the digests is built on another version of the base. Runtimes report the digest of an index or of a manifest in it, so they are not compared. */
async function isOutdated(digests: readonly string[], { source }: ImageBehind, acting: Acting, ports: RestartPorts): Promise<boolean> {
  if (digests.length === 0) return false;
  const images = digests.map((digest) => ({ source, digest }));
  const found = await recognizeImages(images, acting.versions, { reader: ports.facts, signal: acting.signal });
  return found.some(({ recognition }) => baseState(recognition, acting.base) === 'Behind');
}
