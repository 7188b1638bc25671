/** The kinds whose images can be updated. */
import { PermanentError } from '../../core/model/errors.ts';
import type { NamedConfigMap } from '../../core/model/config-map-target.ts';
import type { FieldRule } from '../../core/model/field-rules.ts';
import { isCustomVersion, type KindRef } from '../../core/model/workload.ts';

/** A kind that can be updated: the location of its objects, and of the pod template in them. */
export interface TargetKind {
  readonly kind: string;
  /** `v1` or `group/version`, as in manifests. */
  readonly apiVersion: string;
  /** The plural of the kind in URLs. */
  readonly resource: string;
  readonly podSpecPath: readonly string[];
  /** Whether objects that have a controller are left out. */
  readonly withoutControlled?: true;
  /** The fields that policies may write; only for custom resources and ConfigMaps. */
  readonly fields?: readonly FieldRule[];
  /** The only objects that are read; only for ConfigMaps. */
  readonly objects?: readonly NamedConfigMap[];
}

const apps = { apiVersion: 'apps/v1', podSpecPath: ['spec', 'template', 'spec'] };

export const deployment: TargetKind = { ...apps, kind: 'Deployment', resource: 'deployments' };
export const statefulSet: TargetKind = { ...apps, kind: 'StatefulSet', resource: 'statefulsets' };
export const daemonSet: TargetKind = { ...apps, kind: 'DaemonSet', resource: 'daemonsets' };

/** The target CronJob. Running jobs are not changed, and the next one has the new image. */
export const cronJob: TargetKind = {
  kind: 'CronJob',
  apiVersion: 'batch/v1',
  resource: 'cronjobs',
  podSpecPath: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

/** The target ReplicaSet, without ReplicaSets that have a controller. Deployments manage theirs, which are ten times as many. */
export const replicaSet: TargetKind = { ...apps, kind: 'ReplicaSet', resource: 'replicasets', withoutControlled: true };

/** Every built-in kind of Kubernetes whose images can be updated. Custom resources are found by discovery. */
export const targets: readonly TargetKind[] = [deployment, statefulSet, daemonSet, cronJob, replicaSet];

/** The target of a built-in kind; undefined for custom resources, which only discovery finds. */
export function findBuiltIn({ apiVersion, kind }: KindRef): TargetKind | undefined {
  return isCustomVersion(apiVersion) ? undefined : targets.find((candidate) => candidate.kind === kind);
}

/** The target of a built-in kind. Throws PermanentError(UnsupportedTargetKind) with a list of the supported kinds. */
export function findTarget(ref: KindRef): TargetKind {
  const target = findBuiltIn(ref);
  if (target) return target;
  const known = targets.map((candidate) => candidate.kind).join(', ');
  throw new PermanentError('UnsupportedTargetKind', `"${ref.kind}" cannot be updated; supported kinds: ${known}`);
}
