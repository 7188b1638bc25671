import { asSeenBy, type Asker } from '../plan/consent.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import { formatRepository, type Repository, type Candidate } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { describeMissing, missingPlatforms } from '../select/missing-platforms.ts';
import { hasChanges } from '../plan/plan-update.ts';
import type { Reason } from '../model/reasons.ts';
import { isForVolumesAlone, knownDigests, runningTags } from '../plan/running-images.ts';
import type { ChoiceRequest } from './select.ts';
import { planWith, type PlanPorts } from './plan.ts';
import { formatTag, resolveCandidate, toUse, type HeadManifest } from './resolve-tag.ts';
import { inSlices } from '../async/in-parallel.ts';

export interface ExaminePorts {
  readonly headManifest: HeadManifest;
  readonly whyNoImage: WhyNoImage;
  readonly readPlatforms: ReadPlatforms;
  readonly now: () => number;
}

/** On whose behalf a tag is examined, and what for. */
export interface Examination {
  readonly policy: ImagePolicy;
  readonly spec: PolicySpec;
  readonly source: ImageSource;
  readonly request: ChoiceRequest;
}

/** The examined candidate, or why it cannot be used. */
type Examined = { readonly candidate: Candidate } | { readonly reason: Reason; readonly message: string };

/** Asks the registry what a tag points to, and whether that image meets the policy's demands. A tag that would change nothing costs no request. */
export async function examineTag(
  tag: string,
  { policy, spec, source, request }: Examination,
  ports: ExaminePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Examined> {
  // Where names have no order, it is not known yet whether the image is newer than what runs.
  const isComparable = spec.strategy.knowing === undefined || request.hint === undefined;
  if (isComparable && spec.pin === 'Tag' && !hasChanges(planWith(policy, spec, { tag }, ports))) return { candidate: { tag } };
  if (request.isOnlyFound === true && spec.pin === 'Tag' && spec.platforms === undefined)
    return findByName(tag, { policy, spec, source }, ports, signal);
  const isHinted = request.hint?.tag === tag;
  // A poll that asks for digests mostly finds nothing new, so a HEAD is enough.
  const resolveTag = request.isOnlyFound === true ? ports.headManifest : toUse(ports.headManifest);
  const lackOf = async (digest: string) => findLack(tag, digest, spec, source, ports, signal);
  const isNew = (digest: string) => !isKnown({ tag, digest }, policy, spec, ports);
  const { resolved } = request;
  // An answer that was shared between policies waited neither for all platforms nor for a digest that is new to this policy.
  const isDone =
    request.hint?.digest !== undefined || (spec.platforms === undefined && resolved?.digest !== undefined && isNew(resolved.digest));
  const candidate =
    resolved?.tag === tag && isDone
      ? resolved
      : await resolveCandidate(source, (isHinted ? request.hint : undefined) ?? { tag }, resolveTag, {
          announced: request.announced && isHinted,
          announcedAt: request.announcedAt,
          signal,
          now: ports.now,
          mayBePushed: async (digest) => isNew(digest) && (await lackOf(digest)) === undefined,
        });
  if (candidate?.digest === undefined)
    return { reason: 'TagNotFound', message: `the registry holds no ${formatTag(spec.repository, tag)}` };
  const mayChange = !isComparable || hasChanges(planWith(policy, spec, candidate, ports));
  const noImage = mayChange ? await ports.whyNoImage(source, candidate.digest, signal) : undefined;
  if (noImage !== undefined && !mayBeArtifact(policy, spec, ports)) return notAnImage(spec.repository, tag, noImage);
  const lack = await lackOf(candidate.digest);
  return lack === undefined ? { candidate } : { reason: 'PlatformMissing', message: lack };
}

/** A better name is enough to be found, unless it is known to be an artifact. The reconcile that applies it asks and reports for itself. */
async function findByName(
  tag: string,
  { policy, spec, source }: Pick<Examination, 'policy' | 'spec' | 'source'>,
  ports: ExaminePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Examined> {
  try {
    const head = await ports.headManifest(source, tag, signal, 'use');
    const noImage = head && (await ports.whyNoImage(source, head.digest, signal));
    if (noImage !== undefined && !mayBeArtifact(policy, spec, ports)) return notAnImage(source, tag, noImage);
  } catch {
    signal.throwIfAborted();
  }
  return { candidate: { tag } };
}

/** Whether a policy may select a plain artifact: image volumes mount it and need not run it. Artifacts have no known creation time. */
function mayBeArtifact(policy: ImagePolicy, spec: PolicySpec, ports: PlanPorts): boolean {
  return spec.strategy.knowing === undefined && isForVolumesAlone(spec, asSeenBy(policy, ports), ports.aliases);
}

function notAnImage(repository: Repository, tag: string, why: string): Examined {
  return { reason: 'NotAnImage', message: `${formatTag(repository, tag)} is no image that can run: ${why}` };
}

/** Why a policy cannot use an image. A digest never changes its content, so asking again costs nothing. */
export async function findLack(
  tag: string,
  digest: string,
  { platforms }: PolicySpec,
  source: ImageSource,
  { readPlatforms }: Pick<ExaminePorts, 'readPlatforms'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (platforms === undefined) return undefined;
  const image = await readPlatforms(source, digest, signal);
  if (image === undefined) throw new Error(`${formatRepository(source)} holds no image ${digest}, which it named a moment ago`);
  const missing = missingPlatforms(platforms, image.platforms);
  return missing.length === 0 ? undefined : describeMissing(tag, missing, image.platforms);
}

/** The tags that a candidate is compared with: the running, the selected and the pending ones. */
export function neededTags(policy: Asker & Pick<ImagePolicy, 'status'>, spec: PolicySpec, ports: PlanPorts): string[] {
  const { status } = policy;
  const running = runningTags(spec, asSeenBy(policy, ports), ports.aliases);
  const remembered = [status.latest?.tag, status.waiting?.tag].filter((tag) => tag !== undefined);
  return [...new Set([...running, ...remembered])].filter((tag) => spec.strategy.reject(tag) === undefined);
}

/** Whether a policy knew this digest of a tag before the registry was asked. */
export function isKnown(
  { tag, digest }: Candidate,
  policy: Asker & Pick<ImagePolicy, 'status'>,
  spec: PolicySpec,
  ports: PlanPorts,
): boolean {
  return digest !== undefined && knownDigests(tag, spec, policy.status, asSeenBy(policy, ports), ports.aliases).has(digest);
}

/**
 * The spec with a strategy that caches its answers about tags for one reconcile. The running tags are evaluated first, in slices, because plans compare all of
 * them at once.
 */
export async function rememberTags(policy: Asker, spec: PolicySpec, ports: PlanPorts, signal: AbortSignal): Promise<PolicySpec> {
  const strategy = spec.strategy.remembering?.();
  if (strategy === undefined) return spec;
  await inSlices(runningTags(spec, asSeenBy(policy, ports), ports.aliases), signal, (tag) => strategy.reject(tag));
  return { ...spec, strategy };
}

/** What the registry says about an image. */
export interface ImageFacts {
  readonly digest: string;
  /** `linux/amd64`, `linux/arm/v7`; empty for an artifact that is no image. */
  readonly platforms: readonly string[];
  /** When it was created, as the image itself states. */
  readonly created?: Date;
  /** Why it cannot be run, for the end of a sentence; absent where it can. */
  readonly noImage?: string;
}

/** Reads what a tag or digest points to; undefined when it does not exist. A digest that was read before costs no request. */
export type ReadImage = (source: ImageSource, reference: string, signal: AbortSignal) => Promise<ImageFacts | undefined>;

/** The same without the creation time, for fewer requests. */
export type ReadPlatforms = (
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
) => Promise<Pick<ImageFacts, 'digest' | 'platforms'> | undefined>;

/** Why a digest is not an image that can run, for the end of a sentence; undefined where it is one. Rejects where it does not exist. */
export type WhyNoImage = (source: ImageSource, digest: string, signal: AbortSignal) => Promise<string | undefined>;
