/** The repositories that a policy would push to without permission. They are reported while nothing is behind, before the next base needs the permission. Pure. */
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { UsableBasePolicy } from './act.ts';
import { actionFor } from './action-for.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { BasePorts } from './ports.ts';

/** The repositories of images on the base whose rebase names no pushSecret, and that the configuration does not let the policy push to. */
export function unpermittedOf(
  { namespace, spec }: Pick<UsableBasePolicy, 'namespace' | 'spec'>,
  images: readonly Pick<ExaminedImage, 'image'>[],
  mayPush: BasePorts['mayPush'],
): Repository[] {
  const found = images.flatMap(({ image: { repository } }) => {
    const action = actionFor({ source: repository }, spec.onNewBase);
    const isPermitted = action.kind !== 'rebase' || action.pushSecret !== undefined || mayPush(namespace, repository);
    return isPermitted ? [] : [[formatRepository(repository), repository] as const];
  });
  return [...new Map(found).values()];
}
