/** Where the image that waits for approval, and the one that runs, were built from. */
import { ownDigestOf } from '../../core/model/companions.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { type ImageOrigin, originLinksOf, type OriginLink, type Origins } from '../../core/model/image-origin.ts';
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

/** What changed, for a reader of the API; undefined if the image that waits does not name its source, or that is not known yet. */
export function changesOf({ now, before }: Origins): Changes | undefined {
  if (now === undefined) return undefined;
  const { repository, revision, version } = now;
  const from = before?.repository === repository ? before.revision : undefined;
  return { repository, ...defined({ from, to: revision, version }), links: originLinksOf({ now, ...defined({ before }) }) };
}

/** The changes of the source between two images, with links to them. */
export interface Changes {
  /** The web address of the source repository. */
  readonly repository: string;
  readonly from?: string;
  readonly to?: string;
  readonly version?: string;
  readonly links: readonly OriginLink[];
}
