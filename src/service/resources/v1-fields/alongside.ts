import { z } from 'zod';
import { companionMatches } from '../../../core/model/companions.ts';
import { maxCompanions } from '../../../core/model/companion-status.ts';
import { tryParseImageReference, sameRepository, type RegistryAliases, type Repository } from '../../../core/model/image-reference.ts';
import { fieldOf, has, type CheckContext, type Finding } from '../rules.ts';
import { repositoryField } from './image.ts';
import { distinct, duration, label } from './scalars.ts';

const companion = z
  .object({
    image: repositoryField('match'),
    containers: distinct(
      z.array(label('Name of a container.')).min(1).max(16).describe('The containers that run it; by default all that run this image.'),
    ).exactOptional(),
  })
  .describe('An image that is changed together with that of the policy.');

/** Schema of `spec.alongside`. */
export const alongside = z
  .object({
    images: z.array(companion).min(1).max(maxCompanions).describe('The companions, such as a sidecar.'),
    match: z
      .enum(companionMatches)
      .default('SameTag')
      .describe(
        'Which image of a companion belongs to the selected one. SameTag: the one with the same tag. SameRevision: the newest that was built from the same commit, as org.opencontainers.image.revision says in its annotations or labels. SameDigestList: the one that the selected image lists by repository, tag and digest in its annotation or label operator.technomad.dev/images.',
      ),
    within: duration('How long an image waits for missing companions before it is passed over.').default('30m'),
  })
  .describe('Images that are changed together with the selected one, in the same patch: a workload never runs a part of them.');

/** The rule for tags that move: two of them are of one release only if their images say so. */
export const alongsideRule = {
  rule: "!has(self.alongside) || !has(self.select) || !has(self.select.digest) || (has(self.alongside.match) && self.alongside.match != 'SameTag')",
  message:
    'a tag that moves does not show which images belong together: write alongside.match: SameRevision or SameDigestList, or select another way than by select.digest',
};

/** Checks that the companions differ from the image of the policy and from one another, and that containers run them: charts and other artifacts are in fields. */
export function checkAlongside(spec: unknown, { aliases }: CheckContext): Finding[] {
  const images = fieldOf(fieldOf(spec, 'alongside'), 'images');
  if (!Array.isArray(images)) return [];
  const seen: Repository[] = [...read(fieldOf(spec, 'image'), aliases)];
  const twice = images.flatMap((one: unknown, index): Finding[] => {
    const [repository] = read(fieldOf(one, 'image'), aliases);
    const isKnown = repository !== undefined && seen.some((other) => sameRepository(other, repository));
    if (repository !== undefined) seen.push(repository);
    return isKnown ? [{ keys: ['alongside', 'images', index, 'image'], message: 'the image is named already: write each image once' }] : [];
  });
  const targets = fieldOf(spec, 'targets');
  const withFields = (Array.isArray(targets) ? targets : []).flatMap((target: unknown, index): Finding[] =>
    has(target, 'fields')
      ? [{ keys: ['targets', index, 'fields'], message: 'only containers are changed together: remove fields, or alongside' }]
      : [],
  );
  const replaces = has(fieldOf(spec, 'select'), 'replace');
  const replaced = replaces
    ? [{ keys: ['select', 'replace'], message: 'a tag that replaces another has no companions: remove alongside' }]
    : [];
  return [...twice, ...withFields, ...replaced];
}

function read(image: unknown, aliases: RegistryAliases | undefined): Repository[] {
  const found = typeof image === 'string' ? tryParseImageReference(image, aliases) : undefined;
  return found === undefined ? [] : [found.repository];
}
