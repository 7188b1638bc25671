/**
 * Reads how a controller installs a chart, from the status of its custom resource. Each controller says in its own way which spec its status is about; a status about
 * another spec counts as none. Invalid and missing parts count as absent, and then nothing has failed and nothing is installed.
 */
import type { Side } from '../../core/model/failure-side.ts';
import type { Installation } from '../../core/model/installation.ts';
import { cut } from '../../core/model/text.ts';
import { fieldsOf, isSameJson, textOrEmpty, type JsonObject } from '../../core/model/untyped.ts';
import type { KindRef } from '../../core/model/workload.ts';

/** The parts of an object that say how its chart is installed. */
interface Parts {
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly generation: number;
}

const readers: Readonly<Record<string, (parts: Parts) => Installation>> = {
  'helm.toolkit.fluxcd.io/HelmRelease': readHelmRelease,
  'source.toolkit.fluxcd.io/OCIRepository': readOciRepository,
  'argoproj.io/Application': readApplication,
};

const maxMessage = 500;
/** Argo CD and Flux set a handful of conditions. Whoever may write a status could list ten thousand. */
const maxEntries = 50;

/** Raw object → how its chart is installed; undefined for kinds whose controller does not report that. */
export function projectInstallation({ apiVersion = '', kind }: KindRef, raw: unknown): Installation | undefined {
  const key = `${apiVersion.split('/')[0]}/${kind}`;
  const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
  if (read === undefined) return undefined;
  const { metadata, spec, status } = fieldsOf(raw);
  const { generation } = fieldsOf(metadata);
  const found = read({ spec: fieldsOf(spec), status: fieldsOf(status), generation: typeof generation === 'number' ? generation : 0 });
  return { ...found, message: cut(found.message, maxMessage) };
}

const unseen: Installation = { state: 'unseen', message: 'its controller has not seen the change yet' };

/**
 * A HelmRelease of Flux (https://fluxcd.io/flux/components/helm/helmreleases/#conditions, and kstatus):
 * - `Reconciling` is True while it upgrades, tests, or tries again ("Reconciling HelmRelease");
 * - `Ready` is True when the release is installed with this chart and its tests have passed ("Ready HelmRelease");
 * - `observedGeneration` is the generation "which resulted in either a ready state, or stalled due to error it can not recover from" ("Observed Generation");
 * - `Stalled` is True with RetriesExceeded when `upgrade.remediation.retries` are used up. `Ready` may then be about the remediation, and
 *   `Released` and `TestSuccess` say what failed ("Failed HelmRelease").
 */
function readHelmRelease(parts: Parts): Installation {
  const found = readFlux(parts);
  if (found.state !== 'failed') return found;
  const failed = ['Released', 'TestSuccess'].map((type) => conditionOf(parts, type)).find(({ status }) => status === 'False');
  if (failed === undefined) return found;
  // `lastAttemptedGeneration` is newer than the oldest versions of the kind. Without an attempt, no chart has failed.
  const { lastAttemptedGeneration: attempted = parts.generation } = parts.status;
  const isAttempted = attempted === parts.generation && failed.isCurrent;
  return isAttempted ? { state: 'failed', message: failed.message || failed.reason, against: sideOf(failed.message) } : found;
}

/**
 * An OCIRepository of Flux (https://fluxcd.io/flux/components/source/ocirepositories/#ocirepository-status): `Ready` is True when the artifact of this spec is stored
 * ("Ready OCIRepository"), and `Stalled` when its spec cannot work; a failed pull is tried again ("Failed OCIRepository"). What installs the artifact has a status of its own.
 */
function readOciRepository(parts: Parts): Installation {
  return readFlux(parts);
}

/** The conditions that all objects of Flux have, as kstatus reads them: https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus#conditions */
function readFlux(parts: Parts): Installation {
  const { spec, status, generation } = parts;
  if (spec['suspend'] === true) return { state: 'halted', message: 'it is suspended' };
  const [ready, stalled, reconciling] = ['Ready', 'Stalled', 'Reconciling'].map((type) => conditionOf(parts, type));
  const isFinal = status['observedGeneration'] === generation;
  if (isFinal && isTrue(stalled)) {
    const message = (ready?.isCurrent === true && ready.status === 'False' && ready.message) || stalled?.message;
    return { state: 'failed', message: message || 'it is stalled', against: 'configuration' };
  }
  // After a failed attempt, the time of the change counts, because the conditions have the time of the last attempt.
  const released = conditionOf(parts, 'Released');
  const hasFailed = released.isCurrent && released.status === 'False';
  const since = (condition: ReadCondition | undefined) => (hasFailed || !condition?.at ? {} : { since: condition.at });
  if (isTrue(reconciling))
    return { state: 'underway', message: reconciling?.message || 'its controller works on it', ...since(reconciling) };
  if (isFinal && isTrue(ready)) return { state: 'installed', message: ready?.message || 'it is ready' };
  return ready?.isCurrent === true ? { state: 'underway', message: ready.message || ready.reason, ...since(ready) } : unseen;
}

/**
 * An Application of Argo CD. Its status names no generation, but the sources that it was compared to, and those of the last sync:
 * - `sync.status` is Synced when what runs matches `sync.comparedTo`, OutOfSync until somebody or automatic sync syncs it
 *   (https://argo-cd.readthedocs.io/en/stable/core_concepts/);
 * - `operationState.phase` is Running during a sync and its own retries, then Succeeded, Failed or Error. Automatic sync "will not reattempt a sync if the previous sync
 *   attempt against the same commit-SHA and parameters had failed" (https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/#automated-sync-semantics);
 * - `health.status` is Healthy, Progressing ("not healthy yet but still making progress"), Degraded, Suspended or Missing
 *   (https://argo-cd.readthedocs.io/en/stable/operator-manual/health/).
 */
function readApplication({ spec, status }: Parts): Installation {
  const wanted = sourcesOf(spec);
  const { status: sync, comparedTo } = fieldsOf(status['sync']);
  const health = fieldsOf(status['health']);
  const operation = fieldsOf(status['operationState']);
  const isOfOperation = isSameJson(sourcesOf(fieldsOf(operation['syncResult'])), wanted);
  const phase = isOfOperation ? textOrEmpty(operation['phase']) : '';
  const said = textOrEmpty(operation['message']);
  const finishedAt = textOrEmpty(operation['finishedAt']);
  // Without a time, a sync may have failed before the change.
  if ((phase === 'Failed' || phase === 'Error') && finishedAt !== '') {
    // An Error is one of Argo CD itself, such as an API server that does not answer.
    const against = phase === 'Failed' ? sideOf(said) : 'unknown';
    return { state: 'failed', message: said || `its sync ended as ${phase}`, against, at: finishedAt };
  }
  const since = (isOfOperation && textOrEmpty(operation['startedAt'])) || textOrEmpty(health['lastTransitionTime']);
  const underway = (message: string): Installation => ({ state: 'underway', message, ...(since !== '' && { since }) });
  if (phase === 'Running' || phase === 'Terminating') return underway(said || 'it is being synced');
  if (!isSameJson(sourcesOf(fieldsOf(comparedTo)), wanted)) return unseen;
  const healthMessage = textOrEmpty(health['message']);
  if (sync !== 'Synced') return phase === '' ? { state: 'unseen', message: 'it has not been synced' } : underway(describe(sync, said));
  if (health['status'] === 'Healthy') return { state: 'installed', message: 'it is Synced and Healthy' };
  if (health['status'] !== 'Degraded') return underway(describe(health['status'], healthMessage));
  const at = textOrEmpty(health['lastTransitionTime']);
  // Without a time, it may have been degraded before the change.
  return at === ''
    ? { state: 'unseen', message: 'it is Degraded, and does not say since when' }
    : { state: 'failed', message: healthMessage || 'it is Synced and Degraded', against: sideOf(healthMessage), at };
}

function describe(state: unknown, message: string): string {
  return [`it is ${textOrEmpty(state) || 'Unknown'}`, message].filter(Boolean).join(': ');
}

/** What the sources of an Application pull: one, or several. */
function sourcesOf({ source, sources }: JsonObject): readonly (readonly string[])[] {
  const all: readonly unknown[] = Array.isArray(sources) && sources.length > 0 ? sources : [source];
  return all
    .slice(0, maxEntries)
    .map((one) => ['repoURL', 'chart', 'path', 'targetRevision'].map((name) => textOrEmpty(fieldsOf(one)[name])));
}

/** The messages with which Helm and Argo CD pass on an error that the chart did not cause. The first that matches decides. */
const sides: readonly (readonly [message: RegExp, against: Side])[] = [
  [/failed calling webhook|connection refused|no route to host|i\/o timeout|etcdserver|exceeded quota|TLS handshake/i, 'cluster'],
  [/\bdenied (?:the )?request\b|\bis forbidden\b|\bcannot (?:create|get|list|patch|update|delete) resource\b/i, 'configuration'],
];

function sideOf(message: string): Side {
  return sides.find(([pattern]) => pattern.test(message.slice(0, 4_096)))?.[1] ?? 'image';
}

interface ReadCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** When the condition changed; empty if that is not known. */
  readonly at: string;
  /** Whether the condition is about the current spec. */
  readonly isCurrent: boolean;
}

function isTrue(condition: ReadCondition | undefined): boolean {
  return condition?.status === 'True' && condition.isCurrent;
}

function conditionOf({ status: { conditions }, generation }: Parts, wanted: string): ReadCondition {
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions.slice(0, maxEntries) : [];
  const found = all.map(fieldsOf).find(({ type }) => type === wanted) ?? {};
  const text = (field: string) => textOrEmpty(found[field]);
  return {
    status: text('status'),
    reason: text('reason'),
    message: text('message'),
    at: text('lastTransitionTime'),
    isCurrent: found['observedGeneration'] === generation,
  };
}
