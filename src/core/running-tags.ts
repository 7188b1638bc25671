import type { PolicySpec } from './image-policy.ts';
import { sameRepository, tryParseImageReference, type RegistryAliases } from './image-reference.ts';
import { imageOfFields } from './plan-fields.ts';
import { resolveTarget, type WorkloadView } from './resolve-target.ts';

/** The tags of the policy's repository that its targets run. */
export function runningTags(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): string[] {
  const references = spec.targets.flatMap((target) =>
    resolveTarget(target, view).flatMap((workload) => {
      if (target.fields !== undefined) return [imageOfFields(target.fields, workload, { spec, aliases })];
      const { containers, initContainers = [] } = workload;
      const meant = target.initContainers === true ? [...containers, ...initContainers] : containers;
      return meant.map(({ image }) => tryParseImageReference(image, aliases));
    }),
  );
  return references.flatMap((reference) => {
    if (reference === undefined || !sameRepository(reference.repository, spec.repository)) return [];
    return reference.tag ?? (reference.digest === undefined ? 'latest' : []);
  });
}
