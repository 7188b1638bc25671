import { defined } from '../../model/defined.ts';
import { findContainer, type Workload, type WorkloadContainer, type ContainerChange } from '../../model/workload.ts';

type Owner = Pick<WorkloadContainer, 'imageOwner' | 'imageSetAt'>;

/** The field manager that last wrote the image to be replaced, and when; undefined without such a container. Of several fields, the changed one counts. */
export function imageOwner(workload: Workload | undefined, { container, fields }: ContainerChange): Owner | undefined {
  if (fields === undefined) return workload && findContainer(workload, container);
  const path = (fields.find(({ to }) => to !== undefined) ?? fields[0])?.path ?? '';
  const field = workload?.fields?.[path];
  if (field === undefined || !('value' in field)) return undefined;
  const { owner, setAt } = field;
  return { ...defined({ imageOwner: owner, imageSetAt: setAt }) };
}
