/** Where the image that waits for approval, and the one that runs, were built from. */
import { ownDigestOf } from '../../core/model/companions.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import type { ImageOrigin, Origins } from '../../core/model/image-origin.ts';
import { type RegistryAliases, sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';

export interface OriginMeans {
  /** The origin of an image, as far as it is known. */
  readonly find: (source: ImageSource, reference: string) => ImageOrigin | undefined;
  /** The source of a policy's image, with the access of the policy. */
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  readonly mayUseRegistry: ((registry: string) => boolean) | undefined;
  readonly aliases: RegistryAliases;
}

/** Creates the finder of the origins of what waits. It answers at once: what is not known yet is absent. */
export function createPendingOrigins({ find, sourceOf, mayUseRegistry, aliases }: OriginMeans): (policy: ImagePolicy) => Origins {
  return (policy) => {
    const { spec, status } = policy;
    const { pendingApproval: pending } = status;
    if (pending === undefined || !isUsable(spec) || mayUseRegistry?.(spec.repository.registry) === false) return {};
    const source = sourceOf(policy, spec);
    const running = runningReference(policy, spec, aliases);
    return defined({ now: find(source, ownDigestOf(pending)), before: running === undefined ? undefined : find(source, running) });
  };
}

/** The digest or tag of what runs instead of the image that waits; undefined if that is another repository, or only its tag is known, which was moved. */
export function runningReference(
  { status: { targets = [], history = [], pendingApproval } }: Pick<ImagePolicy, 'status'>,
  { repository }: Pick<PolicySpec, 'repository'>,
  aliases: RegistryAliases,
): string | undefined {
  const waits = pendingApproval && ownDigestOf(pendingApproval);
  for (const { image = '', state } of targets) {
    const found = state === 'UpToDate' ? undefined : tryParseImageReference(image, aliases);
    if (found === undefined || !sameRepository(found.repository, repository)) continue;
    const digest = found.digest ?? history.find(({ to }) => to === image)?.digest;
    const reference = digest ?? (found.tag === pendingApproval?.tag ? undefined : found.tag);
    if (reference !== undefined && reference !== waits) return reference;
  }
  return undefined;
}
