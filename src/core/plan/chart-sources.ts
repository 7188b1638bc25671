/** The objects that hold the URLs of the charts that targets install: the HelmRepositories of HelmReleases. */
import { builtInTargets } from '../model/built-in-targets.ts';
import type { PolicyTarget } from '../model/image-policy.ts';
import { resolveTarget, type WorkloadView } from '../model/resolve-target.ts';
import { kindKey, workloadKey, type KindRef, type WorkloadRef } from '../model/workload.ts';
import { sourceOf } from './plan-fields.ts';

const kinds: ReadonlySet<string> = new Set(
  builtInTargets.flatMap(({ fields }) => fields.flatMap(({ chart }) => (chart?.source === undefined ? [] : kindKey(chart.source)))),
);

/** Whether objects of a kind hold URLs of charts. */
export function isSourceKind(kind: KindRef): boolean {
  return kinds.has(kindKey(kind));
}

/** The objects to which the targets refer, each once, whether or not they exist and may be seen. */
export function sourcesOf(targets: readonly PolicyTarget[], view: WorkloadView): WorkloadRef[] {
  const referring = targets.filter(({ fields }) => fields?.chart?.source !== undefined);
  const sources = referring.flatMap((target) => resolveTarget(target, view).flatMap((workload) => sourceOf(target.fields, workload) ?? []));
  return [...new Map(sources.map((source) => [workloadKey(source), source])).values()];
}
