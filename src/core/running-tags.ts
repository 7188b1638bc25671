import type { PolicySpec, PolicyTarget } from './image-policy.ts';
import { sameRepository, tryParseImageReference, type ImageReference, type RegistryAliases } from './image-reference.ts';
import { imageOfFields } from './plan-fields.ts';
import { resolveTarget, type WorkloadView } from './resolve-target.ts';
import type { Workload } from './workload.ts';

/** The tags of the policy's repository that its targets run. */
export function runningTags(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): string[] {
  const references = spec.targets.flatMap((target) =>
    resolveTarget(target, view).flatMap((workload) => referencesOf(target, workload, spec, aliases)),
  );
  return references.flatMap(({ tag, digest }) => tag ?? (digest === undefined ? 'latest' : []));
}

/** The images of the policy's repository in what a target means of a workload. */
export function referencesOf(target: PolicyTarget, workload: Workload, spec: PolicySpec, aliases: RegistryAliases): ImageReference[] {
  if (target.fields !== undefined) {
    const image = imageOfFields(target.fields, workload, { spec, aliases });
    return image === undefined ? [] : [image];
  }
  const { containers, initContainers = [] } = workload;
  const meant = target.initContainers === true ? [...containers, ...initContainers] : containers;
  return meant.flatMap(({ image }) => {
    const reference = tryParseImageReference(image, aliases);
    return reference !== undefined && sameRepository(reference.repository, spec.repository) ? reference : [];
  });
}
