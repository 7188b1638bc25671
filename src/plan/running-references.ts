import type { PolicySpec, PolicyTarget } from '../model/image-policy.ts';
import { sameRepository, tryParseImageReference, type ImageReference, type RegistryAliases } from '../model/image-reference.ts';
import { imageOfFields } from './plan-fields.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { meantImages, resolveTarget, type WorkloadView } from '../model/resolve-target.ts';
import type { Workload } from '../model/workload.ts';

/** The images of the policy's repository that its targets run. */
function runningReferences(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): ImageReference[] {
  return spec.targets.flatMap((target) => resolveTarget(target, view).flatMap((workload) => referencesOf(target, workload, spec, aliases)));
}

/** The tags of the policy's repository that its targets run. */
export function runningTags(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): string[] {
  return runningReferences(spec, view, aliases).flatMap(({ tag, digest }) => tag ?? (digest === undefined ? 'latest' : []));
}

/**
 * The known digests of a tag: those that the policy's targets run and those in its status. The history is left out, because moving a tag back to an older
 * image is legitimate. A registry that returns one of these digests right after a push may be serving stale data.
 */
export function knownDigests(
  tag: string,
  spec: PolicySpec,
  { latest, waiting, pendingApproval, rejected = [] }: PolicyStatus,
  view: WorkloadView,
  aliases: RegistryAliases,
): ReadonlySet<string> {
  const remembered = [latest, waiting, pendingApproval, ...rejected].filter((image) => (image?.tag ?? tag) === tag);
  const running = runningReferences(spec, view, aliases).filter((image) => (image.tag ?? tag) === tag);
  return new Set([...remembered, ...running].flatMap((image) => image?.digest ?? []));
}

/** Whether only image volumes of the policy's targets use its image: their content need not be runnable. */
export function isForVolumesAlone(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): boolean {
  if (runningReferences(spec, view, aliases).length === 0) return false;
  const targets = spec.targets.map((target) => ({ ...target, volumes: false }));
  return runningReferences({ ...spec, targets }, view, aliases).length === 0;
}

/** The images of the policy's repository that a target selects in a workload. */
export function referencesOf(target: PolicyTarget, workload: Workload, spec: PolicySpec, aliases: RegistryAliases): ImageReference[] {
  if (target.fields !== undefined) {
    const image = imageOfFields(target.fields, workload, { spec, aliases });
    return image === undefined ? [] : [image];
  }
  return meantImages(target, workload).flatMap(({ container }) => {
    const reference = tryParseImageReference(container.image, aliases);
    return reference !== undefined && sameRepository(reference.repository, spec.repository) ? reference : [];
  });
}
