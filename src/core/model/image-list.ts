/** The list of images that belong together, as the image that a policy selects names them itself (`alongside.match: SameDigestList`). Pure. */
import { formatRepository, sameRepository, tryParseImageReference, type RegistryAliases, type Repository } from './image-reference.ts';

/** The annotation, or the label, with the list: `REPOSITORY:TAG@sha256:…`, separated by commas or white space. */
export const imageListAnnotation = 'operator.technomad.dev/images';

const maxCharacters = 16 * 1_024;
const maxEntries = 64;

/** The entries of a list as they are written; undefined if there are too many of them, or of characters. */
export interface ImageList {
  readonly entries: readonly string[] | undefined;
}

/** The list in annotations or labels; undefined if they have none. */
export function readImageList(texts: Readonly<Record<string, string>>): ImageList | undefined {
  const text = texts[imageListAnnotation];
  if (text === undefined) return undefined;
  const entries = text.length > maxCharacters ? undefined : text.split(/[\s,]+/).filter((entry) => entry !== '');
  return { entries: entries !== undefined && entries.length <= maxEntries ? entries : undefined };
}

/** The only entry of a list for a companion, or what is missing, for people. Any image can be beside it, but each entry must be the name of one. */
export function findListed(
  list: ImageList | undefined,
  companion: Repository,
  aliases: RegistryAliases,
): { readonly tag: string; readonly digest: string } | { readonly missing: string } {
  const [name, where] = [formatRepository(companion), imageListAnnotation];
  if (list === undefined) return { missing: `${name} (the image does not list what belongs to it in ${where})` };
  const { entries } = list;
  if (entries === undefined)
    return { missing: `${name} (the list of the image in ${where} has more than ${maxEntries} entries, or ${maxCharacters} characters)` };
  const read = entries.map((entry) => tryParseImageReference(entry, aliases));
  // What cannot be read may be what is looked for, so nothing else is taken for it. It is not quoted, because anybody who pushes wrote it.
  const unreadable = read.indexOf(undefined);
  if (unreadable !== -1) return { missing: `${name} (entry ${unreadable + 1} of the list of the image in ${where} is no image name)` };
  const [found, ...others] = read.filter((one) => one !== undefined && sameRepository(one.repository, companion));
  if (found === undefined) return { missing: `${name} (the list of the image in ${where} does not name it)` };
  const { tag, digest } = found;
  if (tag === undefined || digest === undefined)
    return { missing: `${name} (the list of the image in ${where} names it without a tag or a digest)` };
  if (others.some((other) => other?.tag !== tag || other.digest !== digest))
    return { missing: `${name} (the list of the image in ${where} names it twice, with different tags or digests)` };
  return { tag, digest };
}
