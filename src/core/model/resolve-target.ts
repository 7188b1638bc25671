import { defined } from './defined.ts';
import { type ImagePolicy, type PolicyTarget, scopeOf } from './image-policy.ts';
import { type LabelSelector, matchesSelector } from './label-selector.ts';
import { type ImageList, imagesOf, kindKey, type KindRef, readVolumeName, type Workload, type WorkloadRef } from './workload.ts';

/** Looks up workloads in the caches without any request. */
export interface WorkloadView {
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  /** Lists at least the workloads that the selector matches, in any order; with `annotated`, at least those of them with a consent annotation. */
  readonly listWorkloads: (kind: KindRef, namespace: string, selector: LabelSelector, annotated?: 'annotated') => Iterable<Workload>;
}

/** The workloads that a target selects, sorted by name, except those that are being deleted. `findWorkload` takes precedence over the list. */
export function resolveTarget(target: PolicyTarget, { findWorkload, listWorkloads }: WorkloadView): Workload[] {
  if (target.selector === undefined) {
    const workload = findWorkload(target);
    return workload === undefined || workload.isDeleted === true ? [] : [workload];
  }
  const found: Workload[] = [];
  for (const listed of listWorkloads(target, target.namespace, target.selector)) {
    if (!matchesSelector(target.selector, listed.labels)) continue;
    const workload = findWorkload(listed);
    if (workload?.isDeleted === true) continue;
    if (workload !== undefined && (workload === listed || matchesSelector(target.selector, workload.labels))) found.push(workload);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The workloads of all targets, each once. */
export function resolveTargets(targets: readonly PolicyTarget[], view: WorkloadView): Workload[] {
  return [...new Set(targets.flatMap((target) => resolveTarget(target, view)))];
}

/** Whether a target selects this container of a workload. A target that names fields selects no containers. */
export function isTargetContainer(
  target: PolicyTarget,
  workload: WorkloadRef & Pick<Workload, 'labels' | 'initContainers'>,
  container: string,
): boolean {
  if (target.fields !== undefined || !matchesTarget(target, workload)) return false;
  if (readVolumeName(container) !== undefined) return isTargetIn('volumes', target, container);
  const isInit = workload.initContainers?.some(({ name }) => name === container) === true;
  return isTargetIn(isInit ? 'initContainers' : 'containers', target, container);
}

/** The images of a workload that a target without fields selects, of any repository. */
export function targetImages(target: PolicyTarget, workload: Workload): ReturnType<typeof imagesOf> {
  return imagesOf(workload).filter(({ container, position: { list = 'containers' } }) => isTargetIn(list, target, container.name));
}

/** Whether a target selects images of this list. Init containers and image volumes must be requested. Names listed in a target are those of containers. */
function isTargetIn(list: ImageList, { containers, initContainers, volumes }: PolicyTarget, name: string): boolean {
  if (list === 'volumes') return volumes === true;
  return (list === 'containers' || initContainers === true) && containers?.includes(name) !== false;
}

/** Whether a target selects this workload. */
export function matchesTarget(target: PolicyTarget, workload: WorkloadRef & Pick<Workload, 'labels'>): boolean {
  if (target.namespace !== workload.namespace || kindKey(target) !== kindKey(workload)) return false;
  return target.selector === undefined ? target.name === workload.name : matchesSelector(target.selector, workload.labels);
}

/** The kinds of a policy's targets. They must be known before the policy can be evaluated. */
export function wantedKinds({ spec }: ImagePolicy): KindRef[] {
  const { targets = [] } = scopeOf(spec) ?? {};
  return targets.flatMap(kindsOf);
}

/** The kind of a target, and the one that holds the URL of its chart, if that is another object. */
export function kindsOf({ apiVersion, kind, fields }: PolicyTarget): KindRef[] {
  const source = fields?.chart?.source;
  return [{ ...defined({ apiVersion }), kind }, ...(source === undefined ? [] : [{ apiVersion: source.apiVersion, kind: source.kind }])];
}
