import { isArtifactTag } from '../model/artifact.ts';
import { tryParseImageReference, type RegistryAliases } from '../model/image-reference.ts';
import type { KeptContainer, UpdatePlan } from './plan-update.ts';
import { formatWorkload } from '../model/workload.ts';

/**
 * Adds what is known of the registry's tags to a plan: a container that is kept because nothing newer is left, and whose own tag is gone, is reported as such.
 * It is still kept: a deleted tag is no reason to downgrade.
 */
export function tellGoneTags(plan: UpdatePlan, tags: ReadonlySet<string>, aliases: RegistryAliases): UpdatePlan {
  const tell = (kept: KeptContainer): KeptContainer => {
    const tag = tryParseImageReference(kept.image, aliases)?.tag;
    // Tag lists leave out the tags of signatures and the like.
    if (kept.reason !== 'OlderThanRunning' || tag === undefined || tags.has(tag) || isArtifactTag(tag)) return kept;
    const message = `${tag} runs, which the registry does not hold any more; it is kept, because ${plan.candidate.tag} is older`;
    return { ...kept, reason: 'TagGone', message };
  };
  return { ...plan, targets: plan.targets.map((target) => ({ ...target, kept: target.kept.map(tell) })) };
}

/** The containers of a plan whose tags are gone: `Deployment shop/web: web runs registry.example.com/shop/web:1.3.0`. */
export function goneContainers({ targets }: UpdatePlan): string[] {
  return targets.flatMap(({ target, kept }) =>
    kept
      .filter(({ reason }) => reason === 'TagGone')
      .map(({ container, image }) => `${formatWorkload(target)}: ${container} runs ${image}`),
  );
}

/** Explains that tags are gone, and what to do; the same text as long as the same tags are gone. */
export function describeGone(gone: readonly string[]): string {
  return (
    `the registry does not hold what runs any more, and nothing newer; it is kept, but a new pod may fail to pull it. ` +
    `Push it again, or change the image by hand: ${gone.join('; ')}`
  );
}
