/** The controllers of Argo CD and Flux: they install what a resource names, which takes seconds, and fails where it is broken. Transitions as in `project-installation.ts`. */
import type { JsonObject } from '../../src/core/model/untyped.ts';
import type { ApiObject, ApiServer, Change } from './api-server.ts';
import { heldBy, isChartResource } from './chart-kinds.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

type Phase = 'begun' | 'installed' | 'failed';

/** Starts them. `broken`: what cannot be installed, by what its name contains. */
export function startInstallers(server: ApiServer, clock: Clock, random: Random, broken: ReadonlySet<string>): void {
  const isBroken = (object: ApiObject) => [...heldBy(object).values()].some((image) => [...broken].some((part) => image.includes(part)));
  const report = (
    resource: string,
    { metadata: { namespace = '', name, uid, generation } }: ApiObject,
    phaseOf: (now: ApiObject) => Phase,
  ) => {
    const now = server.get(resource, namespace, name);
    if (now?.metadata.uid !== uid || now.metadata.generation !== generation) return;
    const at = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const status = statusOf(now, phaseOf(now), at);
    server.edit({ resource, namespace, name, by: 'installer' }, (object) => ({ ...object, status }));
  };
  server.onChange(({ resource, before, after }: Change) => {
    if (after === undefined || !isChartResource(resource) || before?.metadata.generation === after.metadata.generation) return;
    clock.schedule(undefined, random.between(20, 400), () => report(resource, after, () => 'begun'));
    clock.schedule(undefined, random.between(500, 6_000), () =>
      report(resource, after, (now) => (isBroken(now) && now.kind !== 'OCIRepository' ? 'failed' : 'installed')),
    );
  });
}

function statusOf(object: ApiObject, phase: Phase, at: string): JsonObject {
  return object.kind === 'Application' ? statusOfApplication(object, phase, at) : statusOfFlux(object, phase, at);
}

function statusOfApplication({ spec: { source }, status: before }: ApiObject, phase: Phase, at: string): JsonObject {
  const operation = { syncResult: { source }, startedAt: at };
  if (phase === 'begun')
    return { ...before, sync: { status: 'OutOfSync', comparedTo: { source } }, operationState: { ...operation, phase: 'Running' } };
  const isDone = phase === 'installed';
  const message = isDone ? 'successfully synced (all tasks run)' : 'one or more objects failed to apply, reason: the chart is broken';
  return {
    sync: { status: isDone ? 'Synced' : 'OutOfSync', comparedTo: { source } },
    health: { status: isDone ? 'Healthy' : 'Missing', lastTransitionTime: at },
    operationState: { ...operation, phase: isDone ? 'Succeeded' : 'Failed', message, finishedAt: at },
  };
}

function statusOfFlux(
  { kind, metadata: { generation: observedGeneration }, status: before = {} }: ApiObject,
  phase: Phase,
  at: string,
): JsonObject {
  const condition = (type: string, status: string, reason: string, message = '') => {
    return { type, status, reason, message, lastTransitionTime: at, observedGeneration };
  };
  const attempted = kind === 'HelmRelease' ? { lastAttemptedGeneration: observedGeneration } : {};
  if (phase === 'begun')
    return {
      ...before,
      ...attempted,
      conditions: [condition('Reconciling', 'True', 'Progressing'), condition('Ready', 'Unknown', 'Progressing')],
    };
  if (phase === 'installed')
    return {
      ...attempted,
      observedGeneration,
      conditions: [condition('Ready', 'True', 'Succeeded'), condition('Released', 'True', 'UpgradeSucceeded')],
    };
  const failed = 'Helm upgrade failed: the chart is broken';
  return {
    ...attempted,
    observedGeneration,
    conditions: [
      condition('Stalled', 'True', 'RetriesExceeded', 'Failed to upgrade after 1 attempt(s)'),
      condition('Ready', 'False', 'UpgradeFailed', failed),
      condition('Released', 'False', 'UpgradeFailed', failed),
    ],
  };
}
