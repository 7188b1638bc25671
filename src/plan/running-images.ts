import type { Workload } from '../model/workload.ts';

/** The same text as long as these workloads run the same images. */
export function runningImages(workloads: readonly Workload[]): string {
  return JSON.stringify(
    workloads.map(({ uid, containers, initContainers = [], volumes = [], fields = {} }) => [
      uid,
      ...[...containers, ...initContainers, ...volumes].map(({ image }) => image),
      ...Object.values(fields).map((field) => ('value' in field ? field.value : field.unusable)),
    ]),
  );
}
