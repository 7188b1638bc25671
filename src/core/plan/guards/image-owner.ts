import { findContainer, type Workload, type WorkloadContainer, type ContainerChange } from '../../model/workload.ts';

type Owner = Pick<WorkloadContainer, 'imageOwner' | 'imageSetAt'>;

/** Who last wrote the image that a change would replace, and when; undefined if the workload has no such container. Of several fields, the one that changes. */
export function imageOwner(workload: Workload | undefined, { container, fields }: ContainerChange): Owner | undefined {
  if (fields === undefined) return workload && findContainer(workload, container);
  const path = (fields.find(({ to }) => to !== undefined) ?? fields[0])?.path ?? '';
  const field = workload?.fields?.[path];
  if (field === undefined || !('value' in field)) return undefined;
  const { owner, setAt } = field;
  return { ...(owner !== undefined && { imageOwner: owner }), ...(setAt !== undefined && { imageSetAt: setAt }) };
}
