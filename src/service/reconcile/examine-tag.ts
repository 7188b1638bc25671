import { artifactOf, artifacts, type Unusable } from '../../core/model/artifact.ts';
import { hasChanges, type UnchangedContainer, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { isForVolumesAlone, knownDigests, runningDigests, runningTags } from '../../core/plan/running-images.ts';
import { describeMissing, missingPlatforms } from '../../core/select/missing-platforms.ts';
import { policyKey, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { isNewerImage } from '../../core/select/select-tag.ts';
import { formatRepository, type Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { isRebasedTag } from '../../core/model/rebased-tag.ts';
import { tagOfImage } from '../../core/model/running-image.ts';
import { planWith } from './plan.ts';
import { imagesOf, type Reconcile } from './attempt.ts';
import type { Registry, SeenCluster } from './ports.ts';
import { formatTag, resolveCandidate } from './resolve-tag.ts';
import { abortable } from '../../core/async/deadline.ts';
import { inSlices } from '../../core/async/in-parallel.ts';

/** A reconcile with the source of its images, which is computed once. */
export interface Examination extends Reconcile {
  readonly source: ImageSource;
}

/** The examined candidate, or the reason why it cannot be used. */
type Examined = { readonly candidate: Candidate } | { readonly reason: Reason; readonly message: string };

/**
 * Asks the registry what a tag points to, and whether that image meets the policy's demands. A tag that would change nothing costs no request, unless it would be
 * the first time that it is selected: it may be an artifact of another kind.
 */
export async function examineTag(tag: string, examination: Examination, registry: Registry): Promise<Examined> {
  const { policy, spec, source, request, cluster, signal } = examination;
  const planFor = (candidate: Candidate) => planWith(policy, { spec, candidate }, cluster);
  // If names have no order, it is not known yet whether the image is newer than the running one.
  const isComparable = spec.strategy.withCreationTimes === undefined || request.hint === undefined;
  const named = isComparable && spec.pin === 'Tag' ? planFor({ tag }) : undefined;
  const isUseless =
    named !== undefined && !hasChanges(named) && isCompared(named) && !runsUnknownDigest(named) && !isFirstSelected(tag, examination);
  // The tag of a push is accepted without a request only if the policy may know it.
  if (isUseless && (request.hint === undefined || (await registry.hasRead(source)))) return { candidate: { tag } };
  if (request.isOnlyFound === true && spec.pin === 'Tag' && spec.platforms === undefined) return findByName(tag, examination, registry);
  const isHinted = request.hint?.tag === tag;
  // A poll that asks for digests mostly finds nothing new, so a HEAD is enough.
  const resolveTag = request.isOnlyFound === true ? registry.headManifest : registry.resolveTag;
  const lackOf = async (digest: string) => findLack(tag, digest, examination, registry);
  const isNew = (digest: string) => !isKnown({ tag, digest }, policy, spec, cluster);
  const recalled = isHinted ? await recallAnswer(tag, examination, registry) : undefined;
  // An answer that policies share did not wait for all platforms, nor for a digest that is new to this policy.
  const isDone =
    request.hint?.digest !== undefined || (spec.platforms === undefined && recalled?.digest !== undefined && isNew(recalled.digest));
  const candidate =
    recalled !== undefined && isDone
      ? recalled
      : await resolveCandidate(source, (isHinted ? request.hint : undefined) ?? { tag }, resolveTag, {
          announced: request.announced && isHinted,
          announcedAt: request.announcedAt,
          signal,
          now: cluster.now,
          mayBePushed: async (digest) => isNew(digest) && (await lackOf(digest)) === undefined,
        });
  if (candidate?.digest === undefined)
    return { reason: 'TagNotFound', message: `the registry holds no ${formatTag(spec.repository, tag)}` };
  if (isHinted && request.hint?.digest !== undefined && candidate.digest !== request.hint.digest) request.onOtherDigest?.(candidate.digest);
  // What is new and changes nothing, because something newer runs, is shown as selected all the same. A plan costs more than a comparison with what is known.
  const isShown = !isComparable || isNew(candidate.digest) || (named !== undefined && !isCompared(named)) || hasChanges(planFor(candidate));
  const unusable = isShown ? await registry.whyUnusable(source, candidate.digest, signal) : {};
  const other = otherKind(tag, unusable, examination);
  if (other !== undefined) return other;
  const lack = await lackOf(candidate.digest);
  return lack === undefined ? { candidate } : { reason: 'PlatformMissing', message: lack };
}

/** The answer of the registry from when this process made or stored the job, if it was asked on behalf of this policy. */
async function recallAnswer(tag: string, examination: Examination, { sharedAnswers }: Registry): Promise<Candidate | undefined> {
  const { policy, source, request, signal } = examination;
  if (request.answeredFor === undefined) return undefined;
  const answer = sharedAnswers.recall(
    { cause: request.answeredFor, source, tag },
    { policy: policyKey(policy), running: () => imagesOf(examination) },
  );
  // The process may stop while the registry has not answered yet.
  return abortable(answer, signal);
}

/** Whether a tag would become the selected one, and no target runs it. */
function isFirstSelected(tag: string, { policy: { status }, spec, request, cluster }: Examination): boolean {
  const { latest } = status;
  // Of all tags, also an older one may be the best, if others were deleted; a pushed one is selected only if it is newer.
  if (latest !== undefined && (latest.tag === tag || (request.hint !== undefined && !isNewerImage({ tag }, latest, spec)))) return false;
  return !runningTags({ spec, status }, cluster, cluster.aliases).includes(tag);
}

/** Whether any container runs the repository. If a target is not known yet, nothing shows that the tag is an image, because later only its name is compared. */
function isCompared({ targets }: UpdatePlan): boolean {
  return targets.some(({ unchanged }) => unchanged.length > 0);
}

/** Whether a container runs a digest without a known tag. It may be the digest of the candidate, which only the registry knows. */
function runsUnknownDigest({ targets }: UpdatePlan): boolean {
  return targets.some(({ unchanged }) => unchanged.some(isUnknownDigest));
}

function isUnknownDigest({ reason, image }: UnchangedContainer): boolean {
  return reason === 'NotComparable' && tagOfImage(image, {}) === undefined;
}

/** Finds an image by its name, which is enough unless it is known to be an artifact of another kind. The reconcile that applies the image asks the registry and reports. */
async function findByName(tag: string, examination: Examination, registry: Registry): Promise<Examined> {
  const { source, signal } = examination;
  try {
    const head = await registry.resolveTag(source, tag, signal);
    const other = head && otherKind(tag, await registry.whyUnusable(source, head.digest, signal), examination);
    if (other !== undefined) return other;
  } catch {
    signal.throwIfAborted();
  }
  return { candidate: { tag } };
}

/** Whether a policy may select a plain artifact: image volumes mount it and need not run it. Artifacts have no known creation time. */
function mayBeArtifact({ spec, cluster }: Reconcile): boolean {
  return spec.strategy.withCreationTimes === undefined && isForVolumesAlone(spec, cluster, cluster.aliases);
}

/** The reasons for a tag that is an artifact of another kind than the policy selects. */
const otherKinds = ['NotAnImage', 'OtherArtifact'] as const;
export type OtherKind = (typeof otherKinds)[number];

/** Whether a tag was passed over because it is an artifact of another kind. */
export function isOtherKind(reason: Reason): reason is OtherKind {
  return otherKinds.some((kind) => kind === reason);
}

/** Why a policy does not select a tag, if it is an artifact of another kind, and which kind would select it. */
function otherKind(tag: string, unusable: Unusable, examination: Examination): Extract<Examined, { reason: Reason }> | undefined {
  const { spec } = examination;
  const artifact = artifactOf(spec);
  const why = unusable[artifact];
  if (why === undefined || (artifact === 'Image' && mayBeArtifact(examination))) return undefined;
  const name = formatTag(spec.repository, tag);
  const fitting = artifacts.find((kind) => unusable[kind] === undefined);
  const hint = fitting === undefined ? '' : `; a policy with spec.artifact: ${fitting} selects it`;
  if (artifact === 'Image') return { reason: 'NotAnImage', message: `${name} is no image that can run: ${why}${hint}` };
  const what = artifact === 'Chart' ? 'no Helm chart' : 'no artifact of its own';
  return { reason: 'OtherArtifact', message: `${name} is ${what}: ${why}${hint}` };
}

/** The reason why a policy cannot use an image. A digest never changes its content, so the answer is cached. */
export async function findLack(
  tag: string,
  digest: string,
  { spec: { platforms }, source, signal }: Pick<Examination, 'spec' | 'source' | 'signal'>,
  { readPlatforms }: Registry,
): Promise<string | undefined> {
  if (platforms === undefined) return undefined;
  const image = await readPlatforms(source, digest, signal);
  if (image === undefined) throw new Error(`${formatRepository(source)} holds no image ${digest}, which it named a moment ago`);
  const missing = missingPlatforms(platforms, image.platforms);
  return missing.length === 0 ? undefined : describeMissing(tag, missing, image.platforms);
}

/** The tags that a candidate is compared with: the running, the selected and the pending ones. With creation times, also running digests without a known tag. */
export function neededTags({ policy, spec, cluster }: Reconcile): string[] {
  const { latest, waiting } = policy.status;
  const remembering = { spec, status: policy.status };
  const running = runningTags(remembering, cluster, cluster.aliases);
  const remembered = [latest?.tag, waiting?.tag].filter((tag) => tag !== undefined);
  // An image that was set by hand may be outside of what the policy selects, and still be older or newer than the candidate.
  const byAge =
    spec.strategy.compareAges === undefined
      ? []
      : [...running.filter((tag) => !isRebasedTag(tag)), ...runningDigests(remembering, cluster, cluster.aliases)];
  const candidates = [...running, ...remembered].filter((tag) => spec.strategy.reject(tag) === undefined);
  return [...new Set([...candidates, ...byAge])];
}

/** Whether a policy knew this digest of a tag before the registry was asked. */
export function isKnown({ tag, digest }: Candidate, policy: ImagePolicy, spec: PolicySpec, cluster: SeenCluster): boolean {
  return digest !== undefined && knownDigests(tag, { spec, status: policy.status }, cluster, cluster.aliases).has(digest);
}

/**
 * The spec with a strategy that caches its answers about tags for one reconcile. The running tags are evaluated first, in slices, because each plan
 * compares all of them.
 */
export async function rememberTags({ policy, spec, cluster, signal }: Reconcile): Promise<PolicySpec> {
  const strategy = spec.strategy.remembering?.();
  if (strategy === undefined) return spec;
  await inSlices(runningTags({ spec, status: policy.status }, cluster, cluster.aliases), signal, (tag) => strategy.reject(tag));
  return { ...spec, strategy };
}
