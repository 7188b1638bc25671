/**
 * The resources that install charts, with the status that the controllers of Flux and Argo CD write, when a test says so. The transitions are those of their documentation:
 * https://fluxcd.io/flux/components/helm/helmreleases/#helmrelease-status, https://fluxcd.io/flux/components/source/ocirepositories/#ocirepository-status,
 * https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/
 */
import { parseFieldPath } from '../../src/core/model/field-path.ts';
import { valueAt } from '../../src/service/resources/validation/problem.ts';
import { waitFor } from '../harness/wait-for.ts';
import { pathOf } from '../service/kube/targets/custom-definition.ts';
import { type ChartKind, chartKinds } from './chart-world.ts';
import type { World } from './world.ts';

/** A resource that installs a chart, as far as tests look at it. */
export interface Installer {
  readonly metadata: { readonly name: string; readonly generation: number; readonly annotations?: Record<string, string> };
  readonly spec: object;
}

/** A condition: its type, its status, its reason and its message. */
export type FluxCondition = readonly [type: string, status: string, reason: string, message: string];

export const typeOf = (kind: ChartKind) => ({
  apiVersion: `${chartKinds[kind].group}/${chartKinds[kind].version}`,
  kind: chartKinds[kind].kind,
});

interface CreateOptions {
  readonly labels?: Record<string, string>;
  /** Another namespace than that of the world. */
  readonly within?: string;
}

/** The resources of a world that install charts. */
export function chartResources({ cluster, namespace }: World) {
  const pathTo = (kind: ChartKind) => pathOf(chartKinds[kind], namespace);
  const read = (kind: ChartKind, name: string) => cluster.request<Installer>('GET', `${pathTo(kind)}/${name}`);
  const patchStatus = (path: string, status: object) => cluster.request('PATCH', path, { status }, 'application/merge-patch+json');
  return {
    pathTo,
    read,
    create: (kind: ChartKind, name: string, spec: object, { labels = {}, within = namespace }: CreateOptions = {}) =>
      cluster.request('POST', pathOf(chartKinds[kind], within), { ...typeOf(kind), metadata: { name, labels }, spec }),
    waitForValue: (kind: ChartKind, name: string, path: string, value: string) =>
      waitFor(`${path} of ${kind} ${name} to be ${value}`, async () => {
        const raw = await read(kind, name);
        return valueAt(raw, parseFieldPath(path)) === value && raw;
      }),
    /** Writes the conditions of a HelmRelease or an OCIRepository, all about its current generation. */
    async reportFlux(kind: 'helmrelease' | 'ocirepository', name: string, conditions: readonly FluxCondition[]) {
      const { generation } = (await read(kind, name)).metadata;
      const isFinal = !conditions.some(([type]) => type === 'Reconciling');
      await patchStatus(`${pathTo(kind)}/${name}/status`, {
        ...(kind === 'helmrelease' && { lastAttemptedGeneration: generation }),
        ...(isFinal && { observedGeneration: generation }),
        conditions: conditions.map(([type, value, reason, message]) => ({
          type,
          status: value,
          reason,
          message,
          observedGeneration: generation,
          lastTransitionTime: new Date().toISOString(),
        })),
      });
    },
    /** Reports a sync of the Application as it is now, and its health. */
    async reportApplication(name: string, phase: string, message: string, health: string) {
      const source = valueAt((await read('application', name)).spec, ['source']);
      const now = new Date().toISOString();
      await patchStatus(`${pathTo('application')}/${name}`, {
        sync: { status: phase === 'Succeeded' ? 'Synced' : 'OutOfSync', comparedTo: { source, destination: { namespace: 'shop' } } },
        health: { status: health, lastTransitionTime: now },
        operationState: { phase, message, operation: { sync: {} }, startedAt: now, finishedAt: now, syncResult: { revision: '1', source } },
      });
    },
  };
}

/** The conditions of a HelmRelease whose upgrade succeeded, and of one whose retries are used up. */
export const upgraded: readonly FluxCondition[] = [
  ['Ready', 'True', 'UpgradeSucceeded', 'Helm upgrade succeeded'],
  ['Released', 'True', 'UpgradeSucceeded', 'Helm upgrade succeeded'],
];
export const failedWith = (message: string): readonly FluxCondition[] => [
  ['Stalled', 'True', 'RetriesExceeded', 'Failed to upgrade after 1 attempt(s)'],
  ['Ready', 'False', 'RollbackSucceeded', 'Helm rollback to previous release shop/release.v2 succeeded'],
  ['Released', 'False', 'UpgradeFailed', message],
  ['Remediated', 'True', 'RollbackSucceeded', 'Helm rollback to previous release shop/release.v2 succeeded'],
];
