import { defined } from '../../core/model/defined.ts';
import type { Spec } from '../../service/resources/v1.ts';
import { type Repository, sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import type { SourceWorkload } from './workload.ts';

type Target = Spec['targets'][number];

/** The names of the containers that another updater changes, by list. */
export interface MarkedContainers {
  readonly containers: readonly string[];
  readonly initContainers: readonly string[];
}

/** The target for these containers of a workload. It names them only if other containers run the same image. */
export function targetOf(workload: SourceWorkload, marked: MarkedContainers, repository: Repository | undefined): Target {
  const { apiVersion, kind, name } = workload;
  const runs = (image: string) => {
    const parsed = tryParseImageReference(image)?.repository;
    return repository !== undefined && parsed !== undefined && sameRepository(parsed, repository);
  };
  const chosen = [...marked.containers, ...marked.initContainers];
  const read = [...workload.containers, ...(marked.initContainers.length > 0 ? workload.initContainers : [])];
  const isAll = read.every((container) => chosen.includes(container.name) || !runs(container.image));
  return {
    ...defined({ apiVersion }),
    kind,
    name,
    ...(!isAll && { containers: chosen }),
    ...(marked.initContainers.length > 0 && { initContainers: true }),
  };
}

/** The repository of an image reference, or of the name of a repository. */
export function repositoryOf(image: unknown): Repository | undefined {
  return typeof image === 'string' ? tryParseImageReference(image)?.repository : undefined;
}
