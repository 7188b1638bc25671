/** The tag of a rebased image. */
import { formatRepository, isTag, type Repository } from '../../core/model/image-reference.ts';
import { isRebasedTag, originTag } from '../../core/model/rebased-tag.ts';
import { type Refusal, refuse } from './refusal.ts';

/** The values of `$tag` and `$date`. */
export interface TagValues {
  /** The tag of the application; for a rebased application, the tag that it was rebased from. */
  readonly tag: string | undefined;
  readonly date: Date;
}

/** A tag to write, or one that the image has already. */
export interface ChosenTag {
  readonly tag: string;
  readonly exists: boolean;
}

const maxAttempts = 99;

/** The tag that a template gives: `$tag-base.$date` → `1.2.3-base.20261123`. */
export function formatTag(template: string, { tag, date }: TagValues): string | Refusal {
  if (tag === undefined && template.includes('$tag')) {
    return refuse('InvalidTag', 'the image is named by its digest, so that its tag is not known: name a tag for the rebased image');
  }
  const day = date.toISOString().slice(0, 10).replaceAll('-', '');
  const formatted = template.replaceAll('$tag', () => originTag(tag ?? '')).replaceAll('$date', day);
  return isTag(formatted)
    ? formatted
    : refuse('InvalidTag', `"${formatted.slice(0, 200)}" is not a tag: it has other characters, or more than 128`);
}

/** The first of `1.2.3-base.20261123`, `….2`, `….3` that is free or has the digest already. */
export async function chooseTag(
  first: string,
  digest: string,
  repository: Repository,
  digestOf: (tag: string) => Promise<string | undefined>,
): Promise<ChosenTag | Refusal> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const tag = attempt === 1 ? first : numbered(first, attempt);
    if (!isTag(tag))
      return refuse(
        'InvalidTag',
        `${formatRepository(repository)}:${first} is another image, and a longer tag has more than 128 characters`,
      );
    const known = await digestOf(tag);
    if (known === undefined || known === digest) return { tag, exists: known !== undefined };
  }
  return refuse('InvalidTag', `${formatRepository(repository)} has ${maxAttempts} other images under ${first} and the tags after it`);
}

/** The tag of a further attempt. If the template has a text after the date, the number is appended without a dot. */
function numbered(first: string, attempt: number): string {
  const tag = `${first}.${attempt}`;
  return isRebasedTag(first) && !isRebasedTag(tag) ? `${first}${attempt}` : tag;
}
