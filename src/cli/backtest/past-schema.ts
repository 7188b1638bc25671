/** The schema of images of the past in files. */
import { z } from 'zod';
import { imageListAnnotation, readImageList } from '../../core/model/image-list.ts';
import { isDigest, isTag, normaliseRepository, type Repository } from '../../core/model/image-reference.ts';
import { standInDigest, type PastImage } from './past-image.ts';

const words = {
  tag: 'a tag in quotes, such as "1.10": without them, YAML reads a number',
  time: 'a time such as "2026-03-01T12:00:00Z"',
  digest: 'a digest such as "sha256:…", with all of its 64 digits',
};

const maxShown = 60;

/** What is wrong with a text that is no tag. */
export function describeNoTag(text: string): string {
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return `"${shown}" is no tag: letters, digits and . _ -, at most 128, none of . - first`;
}

export const tagSchema = z.string(words.tag).refine(isTag, { error: ({ input }) => describeNoTag(String(input)) });
export const timeSchema = z.iso.datetime({ offset: true, error: words.time });

/** An image in a file. */
export const pastImageSchema = z.strictObject({
  tag: tagSchema,
  at: timeSchema.describe('When the tag was pushed.'),
  digest: z.string().refine(isDigest, words.digest).optional().describe('The digest; unless given, each push of a tag is another image.'),
  created: timeSchema.optional().describe('When the image says that it was created; unless given, when it was pushed.'),
  platforms: z
    .array(z.string())
    .max(50)
    .optional()
    .describe('Its platforms, such as "linux/amd64"; unless given, those that the policy demands.'),
  revision: z.string().max(200).optional().describe('The commit that it was built from.'),
  images: z.string().max(20_000).optional().describe('The images that belong to it, as in its annotation operator.technomad.dev/images.'),
  repository: z
    .string()
    .max(500)
    .optional()
    .describe("The path of a companion in the registry of the policy; unless given, the policy's own image."),
});

/** A file with the past of an image. */
export const historySchema = z.strictObject({ images: z.array(pastImageSchema).min(1).max(100_000) });

export type WrittenImage = z.output<typeof pastImageSchema>;

/** The images of a file in the order of their times, in the registry of a repository. */
export function readPastImages(written: readonly WrittenImage[], of: Repository): PastImage[] {
  const pushes = new Map<string, number>();
  return written
    .map(({ tag, at, digest, created = at, platforms, revision, images, repository: path }): PastImage => {
      const repository = path === undefined ? of : normaliseRepository(of.registry, path);
      const count = (pushes.get(`${repository.path}:${tag}`) ?? 0) + 1;
      pushes.set(`${repository.path}:${tag}`, count);
      return {
        repository,
        tag,
        digest: digest ?? standInDigest(repository, tag, count),
        pushedAt: Date.parse(at),
        created: new Date(created),
        platforms,
        revision,
        list: images === undefined ? undefined : readImageList({ [imageListAnnotation]: images }),
      };
    })
    .toSorted((a, b) => a.pushedAt - b.pushedAt);
}
