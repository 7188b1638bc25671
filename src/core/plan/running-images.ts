import { type ImagePolicy, isUsable, type PolicyScope, type PolicySpec, type PolicyTarget } from '../model/image-policy.ts';
import { type ImageReference, type RegistryAliases, sameRepository, tryParseImageReference } from '../model/image-reference.ts';
import { imageOfFields } from './plan-fields.ts';
import { originTag } from '../model/rebased-tag.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { resolveTarget, targetImages, type WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, type Workload } from '../model/workload.ts';
import { runningTag } from '../model/running-image.ts';
import { isArtifactTag } from '../model/artifact.ts';
import type { UnchangedContainer, UpdatePlan } from './plan-update.ts';
import type { Outcome } from './outcome.ts';

/** The images of the policy's repository that its targets run. */
function runningReferences(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): RunningImage[] {
  return spec.targets.flatMap((target) =>
    resolveTarget(target, view).flatMap((workload) =>
      runningImagesOf(target, workload, spec, { aliases, findWorkload: view.findWorkload }),
    ),
  );
}

/** The tags of the policy's repository that its targets run. A tag of a rebased image counts as the tag from which it was made. */
export function runningTags({ spec, status }: Remembering, view: WorkloadView, aliases: RegistryAliases): string[] {
  const tags = runningReferences(spec, view, aliases).flatMap((running) => runningTag(running.reference, { ...running, status }) ?? []);
  return tags.map(originTag);
}

/** The digests of the policy's repository that its targets run and whose tags are not known. */
export function runningDigests({ spec, status }: Remembering, view: WorkloadView, aliases: RegistryAliases): string[] {
  return runningReferences(spec, view, aliases).flatMap(({ reference, ...running }) =>
    runningTag(reference, { ...running, status }) === undefined ? (reference.digest ?? []) : [],
  );
}

/** A usable policy with its status. */
interface Remembering {
  readonly spec: PolicySpec;
  readonly status: PolicyStatus;
}

/**
 * The known digests of a tag: those that the policy's targets run and those in its status. The history is left out, because moving a tag back to an older image
 * is legitimate. A registry that returns one of these digests right after a push may be serving outdated data.
 */
export function knownDigests(
  tag: string,
  { spec, status: { latest, waiting, pendingApproval, rejected = [] } }: Remembering,
  view: WorkloadView,
  aliases: RegistryAliases,
): ReadonlySet<string> {
  const remembered = [latest, waiting, pendingApproval, ...rejected].filter((image) => (image?.tag ?? tag) === tag);
  const running = runningReferences(spec, view, aliases)
    .map(({ reference }) => reference)
    .filter((image) => (image.tag ?? tag) === tag);
  return new Set([...remembered, ...running].flatMap((image) => image?.digest ?? []));
}

/** Whether only image volumes of the policy's targets use its image: their content need not be runnable. */
export function isForVolumesAlone(spec: PolicySpec, view: WorkloadView, aliases: RegistryAliases): boolean {
  if (runningReferences(spec, view, aliases).length === 0) return false;
  const targets = spec.targets.map((target) => ({ ...target, volumes: false }));
  return runningReferences({ ...spec, targets }, view, aliases).length === 0;
}

/** An image of the policy's repository, and where it runs. */
export interface RunningImage {
  readonly workload: Workload;
  /** The container, or the name under which fields of a custom resource are shown. */
  readonly container: string;
  /** The image as the workload names it. */
  readonly image: string;
  readonly reference: ImageReference;
}

/** The images of the policy's repository that a target selects in a workload. */
export function runningImagesOf(
  target: PolicyTarget,
  workload: Workload,
  spec: PolicyScope,
  { aliases, findWorkload }: Pick<WorkloadView, 'findWorkload'> & { readonly aliases: RegistryAliases },
): RunningImage[] {
  if (target.fields !== undefined) {
    const found = imageOfFields(target.fields, workload, { spec, aliases, findWorkload });
    return found === undefined ? [] : [{ workload, ...found }];
  }
  return targetImages(target, workload).flatMap(({ container: { name: container, image } }) => {
    const reference = tryParseImageReference(image, aliases);
    return reference !== undefined && sameRepository(reference.repository, spec.repository)
      ? { workload, container, image, reference }
      : [];
  });
}

/** A text that changes whenever somebody changes the images of these workloads, even if an image was replaced and set again. */
export function runningImages(workloads: readonly Workload[]): string {
  return JSON.stringify(
    workloads.map(({ uid, containers, initContainers = [], volumes = [], fields = {} }) => [
      uid,
      ...[...containers, ...initContainers, ...volumes].map(({ image, imageOwner, lastUpdate }) => [image, imageOwner, lastUpdate?.at]),
      ...Object.values(fields).map((field) => ('value' in field ? field.value : field.unusable)),
    ]),
  );
}

/**
 * Marks containers of a plan whose tag is gone from the registry, if they are unchanged because nothing newer is left. They stay unchanged: a deleted tag is no
 * reason to downgrade.
 */
export function markGoneTags(plan: UpdatePlan, tags: ReadonlySet<string>, aliases: RegistryAliases): UpdatePlan {
  const withGone = (unchanged: UnchangedContainer): UnchangedContainer => {
    const tag = tryParseImageReference(unchanged.image, aliases)?.tag;
    // Tag lists do not contain the tags of signatures and the like.
    if (unchanged.reason !== 'OlderThanRunning' || tag === undefined || tags.has(tag) || isArtifactTag(tag)) return unchanged;
    const message = `${tag} runs, which the registry does not hold any more; it is kept, because ${plan.candidate.tag} is older`;
    return { ...unchanged, reason: 'TagGone', message };
  };
  return { ...plan, targets: plan.targets.map((target) => ({ ...target, unchanged: target.unchanged.map(withGone) })) };
}

/** The containers of a plan whose tags are gone: `Deployment shop/web: web runs registry.example.com/shop/web:1.3.0`. */
export function goneContainers({ targets }: UpdatePlan): string[] {
  return targets.flatMap(({ target, unchanged }) =>
    unchanged
      .filter(({ reason }) => reason === 'TagGone')
      .map(({ container, image }) => `${formatWorkload(target)}: ${container} runs ${image}`),
  );
}

/** Explains to users that tags are gone, and what to do. The text is the same as long as the same tags are gone. */
export function describeGone(gone: readonly string[]): string {
  return (
    `the registry does not hold what runs any more, and nothing newer; it is kept, but a new pod may fail to pull it. ` +
    `Push it again, or change the image by hand: ${gone.join('; ')}`
  );
}

/** The tag and digest that a webhook reported. */
interface Announcement {
  readonly announced: boolean;
  readonly hint?: { readonly tag: string; readonly digest?: string };
}

/**
 * The outcome of a push that changes nothing because the tag runs already. If another digest is known for it, the message says that the tag has moved; if none
 * is, as of a workload that was started by hand, that what runs may be other content. The registry is not asked, because the outcome does not depend on it, and
 * because what it has for the tag now need not be what runs.
 */
export function noteRetagged(outcome: Outcome, policy: ImagePolicy, { announced, hint }: Announcement): Outcome {
  const { spec } = policy;
  const pinsTags = isUsable(spec) && spec.pin === 'Tag';
  if (!announced || !pinsTags || outcome.kind !== 'unchanged' || outcome.reason !== 'UpToDate') return outcome;
  if (hint?.digest === undefined || hint.tag !== outcome.tag) return outcome;
  const known = knownDigestOf(hint.tag, outcome, policy);
  if (known === hint.digest) return outcome;
  if (known === undefined) {
    const message = `${hint.tag} runs already, and it is not known whether as ${hint.digest}, as which it is announced; the policy pins tags, so nothing changes`;
    return { ...outcome, reason: 'Retagged', message };
  }
  const message = `${hint.tag} was pushed again: it was ${known}, and is announced as ${hint.digest}; the policy pins tags, so nothing changes`;
  return { ...outcome, reason: 'Retagged', message, ...(outcome.running !== undefined && { running: `${outcome.running}; ${message}` }) };
}

/** The digest as which a tag runs; undefined if it is not known. What was applied under the tag says more than what the registry has shown since. */
function knownDigestOf(
  tag: string,
  { digest, selection, seen }: Outcome,
  { status: { latest, history = [] } }: ImagePolicy,
): string | undefined {
  const applied = history.find((entry) => entry.tag === tag && entry.digest !== undefined) ?? latest;
  if (applied?.tag === tag && applied.digest !== undefined) return applied.digest;
  if (digest !== undefined) return digest;
  const images = (selection?.containers ?? seen ?? []).filter((one) => one.companion !== true).map(({ image = '' }) => image);
  const pinned = new Set(images.map((image) => tryParseImageReference(image)?.digest));
  return pinned.size === 1 ? [...pinned][0] : undefined;
}
