import type { ImagePolicy } from '../model/image-policy.ts';
import { isPending, isSameImage, type PendingCandidate } from '../plan/pending-candidate.ts';
import type { ChoosePorts, Chosen } from './choice.ts';
import { findLack } from './examine-tag.ts';

/**
 * The pending candidate, if it is still valid: the policy selects it, and the registry still gives the same digest. Costs one request to the registry unless it
 * is the image that was just chosen.
 */
export async function confirmPending(
  policy: ImagePolicy,
  { candidate, spec }: Chosen,
  ports: ChoosePorts,
  signal: AbortSignal,
): Promise<PendingCandidate | undefined> {
  const { waiting } = policy.status;
  if (spec.minAgeMs === undefined || !isPending(waiting) || spec.strategy.reject(waiting.tag) !== undefined) return undefined;
  if (waiting.tag === candidate.tag) return isSameImage(waiting, candidate) ? waiting : undefined;
  const source = ports.sourceOf(policy, spec);
  const head = await ports.headManifest(source, waiting.tag, signal);
  if (head === undefined || head.digest !== waiting.digest) return undefined;
  return (await findLack(waiting.tag, head.digest, spec, source, ports, signal)) === undefined ? waiting : undefined;
}
