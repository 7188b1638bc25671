/** Recognizes the form of a tag from its name: the parts that change from one release to the next, and those that stay. */
import { stages } from '../../../core/select/tag-track.ts';

/** The form of a tag. Patterns are RE2, and match whole tags. */
export type TagForm =
  /** A version: `1.4.2`, `v1.4.2-alpine`, `app-16.3-r2`. `allow` matches tags that differ only in their numbers. */
  | {
      readonly kind: 'version';
      readonly numbers: readonly number[];
      readonly allow: string;
      /** A template of named groups of `allow`, which gives the value to compare. */
      readonly extract: string;
      /** The name of the prerelease stage: `rc` of `2.0.0-rc.1`. */
      readonly stage?: string;
      /** Whether the whole tag is a semantic version. */
      readonly isPlain: boolean;
      /** The text of the tag before its numbers. */
      readonly prefix: string;
      readonly suffix: string;
    }
  /** A build number, which is not a version: `build-57`. */
  | { readonly kind: 'number'; readonly allow: string; readonly extract: string }
  /** A date: `20260301`, `RELEASE.2026-01-16T16-07-38Z`. Tags are ordered as texts. */
  | { readonly kind: 'date'; readonly allow: string }
  /** A commit: `main-3f2a1b7`. Names give no order. */
  | { readonly kind: 'commit'; readonly allow: string }
  /** Any other tag: `latest`, `bookworm-slim`, `24.04`. */
  | { readonly kind: 'name' };

const versionPattern = /^((?:[A-Za-z][A-Za-z0-9]*[-_])*)(v?)([0-9]+(?:\.[0-9]+)*)((?:[-_].*|\.[^0-9].*)?)$/;
const datePattern = /^((?:[A-Za-z][A-Za-z0-9]*[-_.])*)((?:19|20)[0-9]{2}([-.]?)(?:0[1-9]|1[0-2])\3(?:0[1-9]|[12][0-9]|3[01]))(.*)$/;
/** A time after a date: `T16-07-38Z`, `-1607`, `.160738`; or a variant without digits. */
const timePattern = /^(?:[T._-]?[0-2][0-9][-:.]?[0-5][0-9](?:[-:.]?[0-5][0-9])?Z?)?(?:[-_.][^0-9]*)?$/;
const commitNames = /^(?:sha|git|commit)$/i;
const buildNames = /^(?:.*[-_])?(?:build|b|ci|run|job|pipeline)[-_]$/i;

/** Reads the form of a tag. */
export function readTagForm(tag: string): TagForm {
  return readCommit(tag) ?? readDate(tag) ?? readVersion(tag) ?? { kind: 'name' };
}

function readCommit(tag: string): TagForm | undefined {
  const words = tag.split(/([-_.])/);
  const at = words.findIndex((word, index) => isCommit(word, words[index - 2]));
  if (at === -1) return undefined;
  const parts = words.map((word, index) => (index === at ? commitOf(word) : anyDigits(word)));
  return { kind: 'commit', allow: `^${parts.join('')}$` };
}

/** Whether a word is a commit id. Digits alone may be a date or a number, and letters alone a word. */
function isCommit(word: string, before: string | undefined): boolean {
  if (/^[0-9a-f]{40}$/.test(word)) return true;
  if (before !== undefined && commitNames.test(before)) return /^[0-9a-f]{7,40}$/.test(word);
  return /^g?[0-9a-f]{7,40}$/.test(word) && /[0-9]/.test(word) && /[a-f]/.test(word.replace(/^g/, ''));
}

function commitOf(word: string): string {
  return `${word.startsWith('g') ? 'g' : ''}[0-9a-f]{7,40}`;
}

function readDate(tag: string): TagForm | undefined {
  const [, prefix = '', date = '', , rest = ''] = datePattern.exec(tag) ?? [];
  if (date === '') return undefined;
  if (!timePattern.test(rest)) return { kind: 'commit', allow: `^${escape(prefix)}${sameDigits(date)}${anyDigits(rest)}$` };
  return { kind: 'date', allow: `^${escape(prefix)}${sameDigits(date)}${sameDigits(rest)}$` };
}

function readVersion(tag: string): TagForm | undefined {
  const [, prefix = '', v = '', written = '', suffix = ''] = versionPattern.exec(tag) ?? [];
  const texts = written.split('.');
  // Numbers with a leading zero, as in 24.04, are not parts of a version.
  if (written === '' || texts.length > 4 || texts.some((text) => /^0[0-9]/.test(text) || text.length > 15)) return undefined;
  const numbers = texts.map(Number);
  const before = `${escape(prefix)}${v}`;
  if (texts.length === 1) return readNumber(numbers, { before, isBuild: buildNames.test(prefix), suffix });
  const stage = /^-([A-Za-z]+)(?:[.-]?[0-9]+(?:\.[0-9]+)*)?$/.exec(suffix)?.[1];
  const isStage = stage !== undefined && stages.test(stage);
  // A prerelease of two numbers cannot be extended to three. A prerelease without a number, such as 1.4.2-SNAPSHOT, moves.
  if (isStage && (texts.length !== 3 || !/[0-9]$/.test(suffix))) return undefined;
  const end = isStage ? `(?:-${stage}[0-9.-]+)?` : '';
  const revision = isStage || texts.length === 4 ? undefined : findRevision(suffix);
  const counts = '[0-9]+' + String.raw`\.[0-9]+`.repeat(Math.min(texts.length, 3) - 1);
  const fourth = texts.length === 4 ? String.raw`\.(?P<revision>[0-9]+)` : '';
  const inVersion = isStage ? `${counts}${end}` : counts;
  const tail = isStage ? '' : (revision ?? escape(suffix));
  const filled = `\${version}${texts.length === 2 ? '.0' : ''}`;
  const hasRevision = fourth !== '' || revision !== undefined;
  const isPlain = prefix === '' && texts.length === 3 && (suffix === '' || isStage);
  return {
    kind: 'version',
    numbers,
    allow: `^${before}(?P<version>${inVersion})${fourth}${tail}$`,
    extract: hasRevision ? `${filled}+\${revision}` : filled,
    isPlain,
    prefix: prefix + v,
    suffix,
    ...(isStage && { stage }),
  };
}

interface NumberParts {
  readonly before: string;
  readonly isBuild: boolean;
  readonly suffix: string;
}

/** A single number from here on is a build number: hardly any program has so many major versions. */
const firstBuild = 100;

/** Reads a tag with one number: a build number, or a major version, whose tag moves. */
function readNumber([number = 0]: readonly number[], { before, isBuild, suffix }: NumberParts): TagForm {
  const isCount = isBuild || (number >= firstBuild && !isYear(number));
  if (!isCount) return { kind: 'name' };
  return { kind: 'number', allow: `^${before}(?P<number>[0-9]+)${escape(suffix)}$`, extract: '$number' };
}

/** Whether a number is a year, as the first number of a version may be. */
export function isYear(number: number): boolean {
  return number >= 1990 && number < 2100;
}

/**
 * The suffix as a pattern that admits any number as the revision. The revision is the first word (`-1-ubi8`, `-v10`), or the last one if it has a prefix such
 * as `r` or is as long as a date (`-debian-12-r14`, `-20260301`). Other numbers belong to the variant: alpine3.20, jdk17, debian-12.
 */
function findRevision(suffix: string): string | undefined {
  const [, start = '', , end = ''] = /^([-_.](?:v|r|rev|b|build|p)?[.-]?)([0-9]+)((?:[-_.].*)?)$/i.exec(suffix) ?? [];
  if (start !== '') return `${escape(start)}(?P<revision>[0-9]+)${escape(end)}`;
  const [, before = ''] = /^(.*[-_.](?:r|rev|b|build)[.-]?)[0-9]+$/i.exec(suffix) ?? /^(.*[-_.])[0-9]{6,}$/.exec(suffix) ?? [];
  return before === '' ? undefined : `${escape(before)}(?P<revision>[0-9]+)`;
}

/** A pattern that matches only this text. */
export function escape(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function sameDigits(text: string): string {
  return escape(text).replaceAll(/[0-9]+/g, (digits) => `[0-9]{${digits.length}}`);
}

function anyDigits(text: string): string {
  return escape(text).replaceAll(/[0-9]+/g, '[0-9]+');
}
