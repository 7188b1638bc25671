import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { ContainerChange, ImageList, Workload, WorkloadContainer } from '../../../src/core/model/workload.ts';

/** What the API server makes of a patch. */
export function change(
  workload: Workload,
  changes: readonly (Pick<ContainerChange, 'index' | 'list' | 'to' | 'update'> &
    Partial<Pick<ContainerChange, 'container' | 'fields' | 'alongside'>>)[],
): Workload {
  const all = changes.flatMap((one): Pick<ContainerChange, 'index' | 'list' | 'to' | 'update'>[] => [one, ...(one.alongside ?? [])]);
  const patch = <T extends WorkloadContainer>(entries: readonly T[], name: ImageList, indexOf: (entry: T, index: number) => number) =>
    entries.map((container, at) => {
      const made = all.find(({ index, list = 'containers' }) => index === indexOf(container, at) && list === name);
      if (made === undefined) return container;
      return { ...container, image: made.to, imageOwner: 'image-watcher', ...(made.update && { lastUpdate: made.update }) };
    });
  const { initContainers, volumes, fieldUpdates = [] } = workload;
  const byPlace = (_: WorkloadContainer, index: number) => index;
  const fields = changes.flatMap((one) => one.fields ?? []);
  const updates = changes.flatMap((one): [string, LastUpdate][] =>
    one.fields === undefined || one.update === undefined ? [] : [[one.container ?? '', one.update]],
  );
  return {
    ...workload,
    ...(fields.length > 0 && {
      fields: {
        ...workload.fields,
        ...Object.fromEntries(fields.flatMap(({ path, to }) => (to === undefined ? [] : [[path, { value: to, owner: 'image-watcher' }]]))),
      },
      fieldUpdates: new Map([...fieldUpdates, ...updates]),
    }),
    containers: patch(workload.containers, 'containers', byPlace),
    ...(initContainers && { initContainers: patch(initContainers, 'initContainers', byPlace) }),
    ...(volumes && { volumes: patch(volumes, 'volumes', ({ index }) => index) }),
    generation: workload.generation + 1,
    resourceVersion: `${Number(workload.resourceVersion) + 1}`,
  };
}
