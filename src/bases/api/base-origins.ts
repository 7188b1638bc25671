/** Where the base that waits for approval, and the one that was selected before it, were built from. */
import { type BaseImagePolicy, isUsableBase } from '../../core/model/base-policy.ts';
import { defined } from '../../core/model/defined.ts';
import type { Origins } from '../../core/model/image-origin.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { OriginMeans } from '../../service/api/pending-origins.ts';
import type { UsableBasePolicy } from '../policies/act.ts';

/** Creates the finder of these origins. It answers at once: what is not known yet is absent. */
export function createBaseOrigins(
  { find }: Pick<OriginMeans, 'find'>,
  sourceOf: (policy: UsableBasePolicy) => ImageSource,
  mayUseRegistry: ((registry: string) => boolean) | undefined,
): (policy: BaseImagePolicy) => Origins {
  return ({ spec, ...policy }) => {
    const { pendingApproval: pending, history = [] } = policy.status;
    if (pending === undefined || !isUsableBase(spec) || mayUseRegistry?.(spec.base.repository.registry) === false) return {};
    const source = sourceOf({ ...policy, spec });
    const before = history.find(({ digest, result }) => digest !== pending.digest && result === 'Selected')?.digest;
    return defined({ now: find(source, pending.digest), before: before === undefined ? undefined : find(source, before) });
  };
}
