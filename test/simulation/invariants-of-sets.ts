/** What must hold where images are changed together. */
import { valid } from 'semver';
import { heldBy } from './chart-kinds.ts';
import { buildOf, partsOf, shorten } from './images.ts';
import { describe, isRollback } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { ImagePatch } from './patch-log.ts';
import { commitOf } from './set-setup.ts';
import type { PolicySetup } from './setup.ts';
import type { World } from './world.ts';

export const setInvariants: readonly Invariant[] = [
  {
    name: 'no mixed pair',
    promise:
      'A change by the service, forwards or back, leaves an image and its companion of one commit, or with one tag, unless somebody else has set the companion.',
    onPatch(patch, world) {
      const setup = setOf(patch, world);
      if (!patch.isOurs || setup === undefined) return undefined;
      const images = heldBy(patch.after);
      const [own, other] = [images.get(setup.container) ?? '', images.get(setup.alongside.container) ?? ''];
      if (commitIn(own) === commitIn(other) || isSetByOthers(patch, setup.alongside.container, other, world)) return undefined;
      // Somebody may also have set the own image alone, and a rollback goes back to what ran.
      if (isRollback(patch) && isSetByOthers(patch, setup.container, own, world)) return undefined;
      return `${describe(patch)}, and then ${shorten(own)} runs with ${shorten(other)}`;
    },
  },
  {
    name: 'nothing without its companion',
    promise: 'An image is applied only after the registry has shown the companion that belongs to it.',
    onPatch(patch, world) {
      const setup = setOf(patch, world);
      if (!patch.isOurs || setup === undefined || isRollback(patch) || patch.container !== setup.container) return undefined;
      return companionsShown(setup, world).has(commitIn(patch.to)) ? undefined : describe(patch);
    },
  },
  {
    name: 'a complete set is applied',
    promise: 'When faults end and nobody interferes, each target runs the newest image whose companion is there, with that companion.',
    atEnd(world) {
      if (world.hasInterference || world.wipedAt > 0) return [];
      return world.setup.policies.flatMap((setup) => {
        const { alongside, repository, spec, follows } = setup;
        if (alongside === undefined || JSON.stringify(spec).includes('Approval')) return [];
        if ([repository, alongside.repository].some((one) => world.mayBeUnknown.has(one))) return [];
        const best = newestComplete({ ...setup, alongside }, world);
        if (best === undefined) return [];
        return world.setup.workloads.flatMap(({ resource, namespace, name }) => {
          const object = world.server.get(resource, namespace, name);
          const images = object === undefined ? new Map<string, string>() : heldBy(object);
          const [own, other] = [images.get(setup.container), images.get(alongside.container)];
          if (own === undefined || other === undefined) return [];
          const isIt = commitIn(own) === best && commitIn(other) === best && (follows === undefined || partsOf(own).tag === follows);
          return isIt ? [] : [`${name} runs ${shorten(own)} with ${shorten(other)}, and commit ${best} is complete`];
        });
      });
    },
  },
];

type SetSetup = PolicySetup & { readonly alongside: NonNullable<PolicySetup['alongside']> };

/** The policy with companions for the workload of a change. */
function setOf({ after }: ImagePatch, { setup }: World): SetSetup | undefined {
  return setup.policies
    .flatMap((one): SetSetup[] => (one.alongside === undefined ? [] : [{ ...one, alongside: one.alongside }]))
    .find(({ alongside }) => heldBy(after).has(alongside.container));
}

/** The commit that an image of a set was built from, by its version or its digest. */
function commitIn(image: string): number {
  const { tag, digest } = partsOf(image);
  if (valid(tag) !== null) return Number(tag.split('.').at(-1));
  return commitOf(buildOf(digest ?? ''));
}

/** Whether what runs of the companion was written last by somebody else. */
function isSetByOthers(patch: ImagePatch, container: string, image: string, { patches }: World): boolean {
  const { resource, before } = patch;
  const earlier = patches.all.filter(
    (one) => one.resource === resource && one.after.metadata.uid === before.metadata.uid && one.container === container,
  );
  // A rollback brings back what ran, also what somebody had set.
  if (isRollback(patch)) return earlier.some(({ isOurs, to }) => !isOurs && to === image);
  const last = earlier.at(-1);
  return patch.container !== container && last !== undefined && !last.isOurs && last.to === image;
}

/** The commits of which the registry has shown a companion. */
function companionsShown({ alongside: { repository }, follows }: SetSetup, { registry }: World): Set<number> {
  if (follows === undefined) return new Set([...registry.tags(repository).keys()].map((tag) => commitIn(`${repository}:${tag}`)));
  const all = registry.store.manifests(repository).map(({ digest }) => digest);
  return new Set(
    all.filter((digest) => registry.hasShown(repository, follows, digest, 0)).map((digest) => commitIn(`${repository}@${digest}`)),
  );
}

/** The newest commit of which both images are there, by tag; for a tag that moves, that of both of its images, if it is one. */
function newestComplete(setup: SetSetup, { registry }: World): number | undefined {
  const { repository, alongside, follows } = setup;
  const [own, others] = [registry.tags(repository), registry.tags(alongside.repository)];
  if (follows !== undefined) {
    const [one, other] = [own, others].map((tags) => commitOf(buildOf(tags.get(follows) ?? '')));
    return one === other ? one : undefined;
  }
  const complete = [...own.keys()].filter((tag) => others.has(tag)).map((tag) => commitIn(`${repository}:${tag}`));
  return Math.max(...complete);
}
