/** The images and charts of a workload whose rollouts can be followed: those of its pod template, the charts in fields of a custom resource whose controller reports how it installs them, and the fields of a ConfigMap whose workloads are restarted. */
import { isConfigMap } from '../model/config-map-target.ts';
import { defined } from '../model/defined.ts';
import { isUsable, type ImagePolicy, type PolicySpec, type TargetFields } from '../model/image-policy.ts';
import { isTargetContainer, matchesTarget } from '../model/resolve-target.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { imagesOf, type ImagePosition, type Workload, type WorkloadContainer, type WorkloadRef } from '../model/workload.ts';
import { fieldOf } from '../plan/chart-fields.ts';
import { imageOfFields, labelOf } from '../plan/plan-fields.ts';

/** An image, or the fields of a chart in the form of one. */
export interface WatchedImage {
  readonly container: WorkloadContainer;
  readonly position: ImagePosition;
  /** The fields that hold the chart; absent for an image of a pod template. */
  readonly fields?: TargetFields;
}

/** Where to find the objects that hold the URLs of charts, and the aliases of registries. */
export type ImageView = Pick<TargetSnapshot, 'findWorkload' | 'aliases'>;

/** The images of a pod template, and the charts of the policy in fields of a custom resource. */
export function watchedImages(workload: Workload, { spec }: ImagePolicy, view: ImageView): WatchedImage[] {
  const images: readonly WatchedImage[] = imagesOf(workload);
  if ((workload.installation ?? workload.restarts) === undefined || !isUsable(spec)) return [...images];
  const charts = followedFields(spec.targets, workload).flatMap((fields): [string, WatchedImage][] => {
    const found = imageOfFields(fields, workload, { spec, ...view });
    if (found === undefined) return [];
    const { container: name, image } = found;
    const main = fieldOf(workload, fields.digest ?? fields.tag ?? '');
    const { owner, setAt } = 'value' in main ? main : {};
    const lastUpdate = workload.fieldUpdates?.get(name);
    const container = { name, image, ...defined({ imageOwner: owner, imageSetAt: setAt, lastUpdate }) };
    return [[name, { container, position: { index: 0 }, fields }]];
  });
  return [...images, ...new Map(charts).values()];
}

/** Whether the policy has this container, or this chart, of a workload as a target. */
export function isWatchedTarget(
  targets: PolicySpec['targets'],
  workload: WorkloadRef & Pick<Workload, 'labels' | 'initContainers'>,
  container: string,
): boolean {
  return targets.some((target) => isTargetContainer(target, workload, container)) || isFollowedField(targets, workload, container);
}

/** Whether a name is that of fields that are followed: with a chart, or of a ConfigMap, rather than with an image of a custom resource. */
export function isFollowedField(
  targets: PolicySpec['targets'],
  workload: WorkloadRef & Pick<Workload, 'labels'>,
  container: string,
): boolean {
  return followedFields(targets, workload).some((fields) => labelOf(fields) === container);
}

function followedFields(targets: PolicySpec['targets'], workload: WorkloadRef & Pick<Workload, 'labels'>): TargetFields[] {
  return targets.flatMap(({ fields, ...target }) => {
    const isFollowed = fields !== undefined && (fields.chart !== undefined || isConfigMap(target));
    return isFollowed && matchesTarget(target, workload) ? [fields] : [];
  });
}
