/** What an image is chosen with, and the choice. */
import type { Candidate } from '../model/image-reference.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { CreationTimes } from '../model/tag-strategy.ts';
import type { ListTags } from './select-best.ts';
import type { CreationTimePorts } from './creation-times.ts';
import { type ReadPlatforms, type WhyNoImage, findLack } from './examine-tag.ts';
import type { HeadManifest, Hint } from './resolve-tag.ts';
import { isPending, isSameImage, type PendingCandidate } from '../plan/pending-candidate.ts';

export interface ChoosePorts extends CreationTimePorts {
  readonly headManifest: HeadManifest;
  readonly whyNoImage: WhyNoImage;
  readonly listTags: ListTags;
  readonly readPlatforms: ReadPlatforms;
  /** Where a policy's images come from, and on whose behalf the registry is asked. */
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
}

/** Which image to consider, and how far the hint is trusted. */
export interface ChoiceRequest {
  /** Without a hint, the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may still be about to show it. */
  readonly announced: boolean;
  /** When it was announced, in ms since 1970. */
  readonly announcedAt?: number;
  /** What the registry answered about the hint a moment ago. */
  readonly resolved?: Candidate;
  /** The tag that was chosen before the running images changed: a tag of equal rank does not replace it. */
  readonly chosenBefore?: string;
  /** Whether the image is only to be found and not yet applied: then a name is enough where policies pin names. */
  readonly isOnlyFound?: boolean;
}

/** The image that should run. */
export interface Chosen {
  readonly candidate: Candidate;
  /** Whether it is the best of all tags, not just the one in the hint. */
  readonly isComplete: boolean;
  /** The policy's spec that it was chosen with, including all that its strategy has to know. */
  readonly spec: PolicySpec;
  /** Creation times, for strategies that order by them. */
  readonly created?: CreationTimes;
  /** Remarks that a user needs to understand the choice. */
  readonly notes: readonly string[];
}

/** The candidate, with the time of its image where that is known. */
export function withTime(candidate: Candidate, { created }: Pick<Chosen, 'created'>): Candidate {
  const at = created?.get(candidate.tag);
  return at === undefined ? candidate : { ...candidate, createdAt: at.toISOString() };
}

/** Whether a policy may downgrade: then a pushed tag may be older than the best one, and only a comparison with all tags can say. */
export function mayGoBack({ allowDowngrade, strategy }: PolicySpec): boolean {
  return allowDowngrade && strategy.mutableTag === undefined;
}

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
