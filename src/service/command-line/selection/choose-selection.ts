/** Chooses how a policy selects the successors of a running tag, given the tags in the registry. Pure. */
import { defined } from '../../../core/model/defined.ts';
import { compilePattern } from '../../../core/model/pattern.ts';
import { buildStrategy } from '../../resources/build-strategy.ts';
import type { Spec } from '../../resources/v1.ts';
import { selectTag, naturalOrder } from '../../../core/select/select-tag.ts';
import { filterTags } from '../../../core/select/filter-tags.ts';
import { strategies } from '../../../core/select/strategies/index.ts';
import { withoutRebased } from '../../../core/select/without-rebased.ts';
import { areOtherTracks } from '../../../core/select/tag-track.ts';
import { isRebasedTag, originTag } from '../../../core/model/rebased-tag.ts';
import type { TagStrategy } from '../../../core/model/tag-strategy.ts';
import { escape, isYear, readTagForm, type TagForm } from './tag-form.ts';

/** How a policy selects, the reason for it, and notes for the user. */
export interface Selection {
  readonly select: Spec['select'];
  readonly tags?: NonNullable<Spec['tags']>;
  /** The reason for the comment of the policy. It does not contain the running tag, so that workloads with several tags share a policy. */
  readonly why: string;
  readonly notes: readonly string[];
}

/** Why no selection fits a tag. */
export interface NoSelection {
  readonly problem: string;
}

/**
 * The selection that fits a tag. The tag itself is always a candidate, and the selected tag is that tag or a newer one of its form. A tag that moves, judging
 * by the other tags, is followed by its digest.
 */
export function chooseSelection(tag: string, tags: readonly string[]): Selection | NoSelection {
  // A rebased image is followed like the image from which it was made.
  const running = isRebasedTag(tag) ? originTag(tag) : tag;
  const form = readTagForm(running);
  const chosen = isFloating(form, running, tags)
    ? follow(running, `${running} moves with the releases that the registry has of it, and is followed by its digest.`)
    : chooseFor(form, running, tags);
  const strategy = strategyOf(chosen);
  if (tags.some((tag) => strategy.reject(tag) === undefined)) return chosen;
  return { problem: `the registry does not have the tag ${running}, which runs, nor any other that could follow it` };
}

/** The strategy of a policy with this selection. */
export function strategyOf({ select, tags = {}, artifact }: Pick<Selection, 'select' | 'tags'> & Pick<Spec, 'artifact'>): TagStrategy {
  return withoutRebased(filterTags(buildStrategy(select, artifact), tags));
}

/** Whether a version stands for a line of versions, as 1.27-alpine does if 1.27.3-alpine exists. */
function isFloating(form: TagForm, running: string, tags: readonly string[]): boolean {
  if (form.kind !== 'version' || form.numbers.length > 2 || form.stage !== undefined) return false;
  const start = `${form.prefix}${form.numbers.join('.')}.`;
  const isLonger = (tag: string) => tag.startsWith(start) && /^[0-9]/.test(tag.slice(start.length, tag.length - form.suffix.length));
  return tags.some((tag) => tag !== running && tag.endsWith(form.suffix) && isLonger(tag));
}

function chooseFor(form: TagForm, running: string, tags: readonly string[]): Selection {
  switch (form.kind) {
    case 'version':
      return chooseVersion(form, running, tags);
    case 'number':
      return { select: { numerical: {} }, tags: tagsOf(form), why: 'The highest number of a build is selected.', notes: [] };
    case 'date':
      return { select: { alphabetical: {} }, tags: tagsOf(form), why: 'The latest date is selected.', notes: [] };
    case 'commit':
      return {
        select: { newest: {} },
        tags: tagsOf(form),
        why: 'The image that was created last is selected: commits have no order.',
        notes: [],
      };
    case 'name':
      return followName(running, tags);
  }
}

function tagsOf(form: { readonly allow: string; readonly extract?: string }): NonNullable<Selection['tags']> {
  return { allow: form.allow, ...defined({ extract: form.extract }) };
}

function follow(tag: string, why: string, notes: readonly string[] = []): Selection {
  return {
    select: { digest: { tag } },
    why,
    notes: [...notes, `Its first change writes the digest into the workloads (${tag}@sha256:…).`],
  };
}

function followName(tag: string, tags: readonly string[]): Selection {
  const highest = selectTag(strategies.semver({}), tags);
  const hint =
    highest === undefined ? [] : [`There are versions, too: with semver: {} and a version in the workload, ${highest} would be selected.`];
  const number = /^v?[0-9]+$/.test(tag) ? ['If that is the number of a build, write numerical: {}.'] : [];
  const what = /^v?[0-9]/.test(tag) ? 'names a line of versions' : 'is no version';
  return follow(tag, `${tag} ${what}, and is followed by its digest.`, [...number, ...hint]);
}

type Version = Extract<TagForm, { kind: 'version' }>;

function chooseVersion(form: Version, running: string, tags: readonly string[]): Selection {
  const { range, why } = rangeOf(form);
  const select = { semver: { range, ...(form.stage !== undefined && { prereleases: true }) } };
  const exact = { select, tags: tagsOf(form) };
  const isEnough = form.isPlain && !admitsOthers({ select }, exact, tags);
  const notes = [...laterLines(form, exact, tags), ...otherSuffixes(form, exact, { running, tags })];
  const suffix = form.suffix === '' || form.stage !== undefined ? '' : ` The suffix ${form.suffix} stays.`;
  return { ...(isEnough ? { select } : exact), why: why + suffix, notes };
}

/** The range of the major version. Below 1.0.0 every minor version may be incompatible. A year as the first number is not limited. */
export function rangeOf({ numbers: [major = 0, minor = 0], numbers, stage }: Pick<Version, 'numbers' | 'stage'>): {
  readonly range: string;
  readonly why: string;
} {
  const what = stage === undefined ? 'The highest' : `The highest (also a prerelease, as it runs: ${stage})`;
  if (isYear(major)) return { range: `>=${major}.0.0`, why: `${what} version is selected: the first number is a year, which is no limit.` };
  if (major > 0) return { range: `${major}.x`, why: `${what} ${major}.x is selected.` };
  if (numbers.length === 2) return { range: '0.x', why: `${what} 0.x is selected.` };
  return {
    range: `0.${minor}.x`,
    why: `${what} 0.${minor}.x is selected: below 1.0.0 each minor version may break; 0.x would follow them.`,
  };
}

/** Whether tags of other forms would be candidates without a filter. */
function admitsOthers(plain: Pick<Selection, 'select'>, exact: Pick<Selection, 'select' | 'tags'>, tags: readonly string[]): boolean {
  const [wide, narrow] = [strategyOf(plain), strategyOf(exact)];
  return tags.some((tag) => wide.reject(tag) === undefined && narrow.reject(tag) !== undefined);
}

/** A note on the highest version of this form, if it is outside of the range. */
export function laterLines({ stage }: Pick<Version, 'stage'>, exact: Parameters<typeof strategyOf>[0], tags: readonly string[]): string[] {
  const unbounded = strategyOf({ ...exact, select: { semver: stage === undefined ? {} : { prereleases: true } } });
  const highest = selectTag(unbounded, tags);
  return highest === undefined || strategyOf(exact).reject(highest) === undefined
    ? []
    : [`${highest} is outside of the range: widen it to follow that.`];
}

/** A note on a later version with another number in the suffix, such as alpine3.21 where alpine3.20 runs. */
function otherSuffixes(
  form: Version,
  exact: Pick<Selection, 'select' | 'tags'>,
  has: { running: string; tags: readonly string[] },
): string[] {
  if (!/[0-9]/.test(form.suffix) || form.stage !== undefined) return [];
  const { running, tags } = has;
  const anySuffix = compilePattern(`${escape(form.prefix)}[0-9.]+${escape(form.suffix).replaceAll(/[0-9]+/g, '[0-9]+')}`);
  const best = selectTag(strategyOf(exact), tags) ?? running;
  const others = tags.filter(
    (tag) => !tag.endsWith(form.suffix) && anySuffix.matchWhole(tag) !== undefined && !areOtherTracks(tag, running),
  );
  const [latest] = others.filter((tag) => naturalOrder(tag, best) > 0).toSorted((a, b) => naturalOrder(b, a));
  return latest === undefined ? [] : [`${latest} has another suffix: change tags.allow to follow that.`];
}
