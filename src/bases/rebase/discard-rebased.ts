/** Takes back what was rebased on a base that is rejected: the image is marked, and its tag is deleted where the registry allows that. */
import type { Discard, Discarded } from '../../core/model/discarded-image.ts';
import type { RegistryPush } from '../../service/registry/push.ts';
import { type RebaseOrder, type RebasePorts, rebaseImage } from './rebase-image.ts';
import { rejectionMark } from './rejection-mark.ts';

/**
 * Plans the rebase again. Because its result depends on the images alone, a tag that has the digest of the plan is one that a rebase has written, and no other tag is
 * touched. Undefined if there is none. May be repeated.
 */
export async function discardRebased(
  order: RebaseOrder,
  { message, isInUse }: Discard,
  ports: RebasePorts & { readonly push: RegistryPush },
): Promise<Discarded | undefined> {
  const { push, signal } = ports;
  const found = await rebaseImage(order, { ...ports, push: undefined });
  if (found.kind !== 'planned' || !found.existed) return undefined;
  const { plan, newBase, tag } = found;
  const { digest } = plan.image;
  if (isInUse({ tag, digest })) return { tag, result: 'InUse' };
  const { blobs, manifest } = rejectionMark(plan, newBase, message);
  for (const blob of blobs) await push.pushBlob(blob, signal);
  await push.pushReferrer(manifest, digest, signal);
  // Somebody may have given the tag to another image meanwhile.
  const current = await ports.registry.headManifest(order.application.source, tag, signal);
  if (current !== undefined && current.digest !== digest) return undefined;
  return { tag, result: (await push.deleteTag(tag, signal)) ? 'Deleted' : 'Kept' };
}
