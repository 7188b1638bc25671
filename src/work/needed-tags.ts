import type { ImagePolicy, PolicySpec } from '../core/image-policy.ts';
import { sameRepository, tryParseImageReference } from '../core/image-reference.ts';
import type { PlanPorts } from './plan-with.ts';

/** The tags with which a candidate is compared: what the targets run, what was selected before and what waits. */
export function neededTags(
  { status }: Pick<ImagePolicy, 'status'>,
  { targets, repository, strategy }: PolicySpec,
  { findWorkload, aliases }: Pick<PlanPorts, 'findWorkload' | 'aliases'>,
): string[] {
  const running = targets
    .flatMap((target) => findWorkload(target)?.containers ?? [])
    .flatMap(({ image }) => {
      const reference = tryParseImageReference(image, aliases);
      if (reference === undefined || !sameRepository(reference.repository, repository)) return [];
      return reference.tag ?? (reference.digest === undefined ? 'latest' : []);
    });
  const remembered = [status.latest?.tag, status.waiting?.tag].filter((tag) => tag !== undefined);
  return [...new Set([...running, ...remembered])].filter((tag) => strategy.reject(tag) === undefined);
}
