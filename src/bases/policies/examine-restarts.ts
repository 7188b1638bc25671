/** Which workloads run an older image than their tag has, and the progress of their restarts. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { judge } from '../recognize/recognize-base.ts';
import { recognizeImages, requireRead } from '../recognize/recognize-images.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import { cut, listFew } from '../../core/model/text.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import type { WorkloadRef } from '../../core/model/workload.ts';
import { type ConsentSources, evaluateConsent, needsConsent, type ConsentRules } from '../../core/plan/consent.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import { evaluateRollout } from '../../core/rollout/evaluate-rollout.ts';
import type { RunningPods } from '../../core/rollout/running-pods.ts';
import type { Acting, ImageBehind } from './act.ts';
import { type Candidate, type Restart } from './restart-states.ts';

export interface RestartPorts {
  readonly facts: FactsReader;
  readonly cluster: ConsentRules;
  readonly restarts: {
    readonly read: (workload: WorkloadRef, signal: AbortSignal) => Promise<RunningPods | undefined>;
    /** Restarts a workload, and records `restartedFor` in the same patch. Returns false if the workload has changed since it was read. */
    readonly restart: (
      workload: WorkloadRef,
      state: Pick<RunningPods, 'uid' | 'resourceVersion' | 'restartedFor'> & { readonly at: Date },
      signal: AbortSignal,
    ) => Promise<boolean>;
    /** The current consent annotation of a Namespace, null where it has none. Throws PermanentError(NoConsent) where it may not be read. */
    readonly readConsent: (namespace: string, signal: AbortSignal) => Promise<string | null>;
  };
}

export const parallelReads = 8;
/** A restart has failed if pods still run the former image after this time. */
const patienceMs = 15 * 60_000;
/** How much later a failure is still attributed to the restart, in ms. After that, somebody may have deployed a change. */
const graceMs = 15 * 60_000;
/** The progress of the restarts for these images. Images that could not be read are failures. */
export async function examineAll(
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

/** Whether pods of a workload that was restarted are still starting, whichever image its tag has by now. */
export async function isStillStarting(workload: WorkloadRef, { now, signal }: Acting, { restarts }: RestartPorts): Promise<boolean> {
  const pods = await restarts.read(workload, signal);
  const at = Date.parse(pods?.restartedAt ?? '');
  if (pods === undefined || pods.restartedFor.length === 0 || !(at <= now + graceMs)) return false;
  const rolledOut = { ...workload, generation: pods.generation, ...defined({ rollout: pods.rollout }) };
  const since = new Date(Math.min(at, now));
  return evaluateRollout(rolledOut, { since, timeoutMs: patienceMs }, new Date(now)).kind === 'progressing';
}

/** The restart of a workload. Undefined if its pods run the image of the tag although the policy has not restarted them. */
async function examine(candidate: Candidate, acting: Acting, ports: RestartPorts): Promise<Restart | undefined> {
  const { image, workload, containers } = candidate;
  const pods = await ports.restarts.read(workload, acting.signal);
  // The policy may not select a workload that was created again under its name.
  if (pods === undefined || !acting.selects({ ...workload, ...defined({ labels: pods.labels }) })) return undefined;
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
  const message = `it runs the image before, and a restart may not pull the new one: set imagePullPolicy: Always for ${listFew(kept, (name) => name)}`;
  return { ...candidate, pods, state: 'Kept', message: cut(message, maxLengths.message) };
}

interface Examined {
  readonly pods: RunningPods;
  readonly areOutdated: boolean;
}

/** Examines the containers that pull their image at each start. Undefined if there are none, or nothing to restart. */
function examinePulled(candidate: Candidate, examined: Examined, { policy, now }: Acting, ports: RestartPorts): Restart | undefined {
  const { image, workload, containers } = candidate;
  const { pods, areOutdated } = examined;
  if (!containers.some((name) => pods.pullsAlways.includes(name))) return undefined;
  // A failed restart is repeated after a release.
  const isOurs = pods.restartedFor.includes(image.digest) && !isReleased(new Date(pods.restartedAt ?? ''), policy.actions, new Date(now));
  if (isOurs) return progress(candidate, examined, now);
  if (!areOutdated) return undefined;
  const { haltedBecause } = pods.rollout ?? {};
  if (haltedBecause !== undefined) return { ...candidate, pods, state: 'Kept', message: haltedBecause };
  const isAllowed = hasConsent(
    workload,
    { onTarget: pods.allowPoliciesFrom, onNamespace: ports.cluster.namespaceConsent(workload.namespace) },
    policy,
    ports,
  );
  return isAllowed ? { ...candidate, pods, state: 'Pending' } : undefined;
}

/** Whether the owners of a workload consent, according to the annotations that were read. */
export function hasConsent(
  workload: WorkloadRef,
  consent: ConsentSources,
  policy: Acting['policy'],
  { cluster: { crossNamespace } }: RestartPorts,
): boolean {
  return !needsConsent(workload, policy, crossNamespace) || evaluateConsent(policy, workload, consent, crossNamespace).granted;
}

/** The progress of a restart, evaluated like every rollout. Undefined if there is nothing to report any more. */
function progress(candidate: Candidate, { pods, areOutdated }: Examined, now: number): Restart | undefined {
  const { workload, image } = candidate;
  const { generation, rollout, restartedAt = '' } = pods;
  const at = Date.parse(restartedAt);
  const keep = (why: string): Restart | undefined => (areOutdated ? { ...candidate, pods, state: 'Kept', message: why } : undefined);
  // The owner of the workload may write any time into the annotation, and the clock of a replica may be a little ahead.
  if (!(at <= now + graceMs))
    return keep('its annotation kubectl.kubernetes.io/restartedAt is no time of a restart: restart it with kubectl');
  const since = Math.min(at, now);
  const whyStale = `it was restarted for ${image.digest} at ${restartedAt}, and its pods run the image before: restart it with kubectl`;
  const rolledOut = { ...workload, generation, ...defined({ rollout }) };
  const { kind, message } = evaluateRollout(rolledOut, { since: new Date(since), timeoutMs: patienceMs }, new Date(now));
  const fail = (why: string): Restart => {
    const hint = 'the tag has no former image to go back to: push a better one';
    return { ...candidate, pods, state: 'Failed', message: `${why}; ${hint}` };
  };
  if (kind === 'notWatched') return keep(message);
  if (kind !== 'done' && now - since > patienceMs + graceMs) return keep(whyStale);
  if (kind === 'failed') return fail(message);
  if (kind === 'progressing') return { ...candidate, pods, state: 'Progressing' };
  // A partition keeps some pods on the former revision.
  const hasPartition = rollout !== undefined && rollout.toUpdate < rollout.wanted;
  if (!areOutdated || hasPartition) return { ...candidate, pods, state: 'Done' };
  if (now - since > patienceMs + graceMs) return keep(whyStale);
  if (now - since <= patienceMs) return { ...candidate, pods, state: 'Progressing' };
  return fail(`its pods do not run ${image.digest} 15 minutes after the restart`);
}

/** Whether one of the digests is built on another version of the base. Throws if that is not known because the registry does not answer. A runtime reports the digest of an index or a manifest, so digests are not compared. */
async function isOutdated(digests: readonly string[], { source }: ImageBehind, acting: Acting, ports: RestartPorts): Promise<boolean> {
  if (digests.length === 0) return false;
  const images = digests.map((digest) => ({ source, digest }));
  const found = await recognizeImages(images, acting.versions, { reader: ports.facts, signal: acting.signal });
  const standard = { digest: acting.base.digest, line: acting.versions.line };
  if (found.images.some(({ recognition }) => judge(recognition, standard).state === 'Behind')) return true;
  requireRead(found.images);
  return false;
}
