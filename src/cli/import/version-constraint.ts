/** Converts version constraints of Masterminds/semver, which Flux and Argo CD Image Updater use, to `select.semver` and `tags.ignore`. */
import type { Spec } from '../../service/resources/v1.ts';
import { describeError } from '../../core/model/errors.ts';
import { escapePattern } from './tag-patterns.ts';
import { parseVersionRange } from '../../core/select/version-range.ts';

/** The fields of a policy for a constraint. */
export interface ConvertedConstraint {
  readonly semver: NonNullable<Spec['select']['semver']>;
  /** Patterns for the versions that `!=` excludes. */
  readonly ignore: readonly string[];
  readonly notes: readonly string[];
}

interface Comparator {
  readonly operator: string;
  /** The comparator in the syntax of npm; empty for any version. */
  readonly text: string;
  readonly numbers: readonly string[];
  readonly hasPrerelease: boolean;
  readonly prerelease: string | undefined;
}

const maxLength = 256;
// Linear, because each part is bounded or begins with a character that the one before it cannot have.
const comparator =
  /[\s,]*(=>|=<|>=|<=|~>|!=|[=<>~^])?\s*v?([0-9]+|[xX*])(?:\.([0-9]+|[xX*]))?(?:\.([0-9]+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?(?=[\s,]|$)/y;
const spelling: Readonly<Record<string, string>> = { '=>': '>=', '=<': '<=', '~>': '~', '=': '' };

/** Converts a constraint, or says why a policy cannot express it. */
export function convertConstraint(written: string): ConvertedConstraint | { readonly problem: string } {
  const unreadable = { problem: `"${written.slice(0, maxLength)}" is no version constraint that can be converted` };
  if (written.length > maxLength) return unreadable;
  const alternatives = written.split('||').map(readAlternative);
  if (alternatives.some((one) => one === undefined)) return unreadable;
  const groups = alternatives.flatMap((one) => (one === undefined ? [] : [one]));
  const all = groups.flat();
  const excluded = all.filter(({ operator }) => operator === '!=');
  if (excluded.length > 0 && groups.length > 1)
    return { problem: `"${written}" has "!=" beside "||": write a policy with tags.ignore for each alternative` };
  const range = groups.map(formatGroup).join(' || ');
  const isAny = groups.some((group) => formatGroup(group) === '');
  const prereleases = all.some(({ hasPrerelease }) => hasPrerelease);
  try {
    if (!isAny) parseVersionRange(range, prereleases);
  } catch (error) {
    return { problem: describeError(error) };
  }
  return {
    semver: { ...(!isAny && { range }), ...(prereleases && { prereleases: true }) },
    ignore: excluded.map(patternOf),
    notes: [
      ...(prereleases && groups.some((group) => group.every(({ hasPrerelease }) => !hasPrerelease))
        ? [`In "${written}" only some alternatives admit prereleases; here all of them do.`]
        : []),
      ...(all.length > 0 && all.every(isExact) ? [`Only ${range} is in the range, so nothing newer is selected.`] : []),
    ],
  };
}

/** Parses a part between `||`. A range with a hyphen (`1.2 - 1.4`) becomes two comparators. Undefined if the text is not a constraint. */
function readAlternative(text: string): Comparator[] | undefined {
  const parts = text.trim().split(/\s-\s/);
  const [from = '', to, ...more] = parts;
  if (more.length > 0) return undefined;
  const ranged = to === undefined ? from : `>=${from.trim()} <=${to.trim()}`;
  const found: Comparator[] = [];
  comparator.lastIndex = 0;
  while (comparator.lastIndex < ranged.length) {
    const match = comparator.exec(ranged);
    if (match === null) return undefined;
    found.push(readComparator(match));
  }
  return found.length === 0 ? undefined : found;
}

function readComparator([, operator = '', major = '', minor, patch, prerelease]: RegExpExecArray): Comparator {
  const written = [major, minor, patch].filter((part) => part !== undefined);
  const wild = written.findIndex((part) => /^[xX*]$/.test(part));
  const numbers = wild === -1 ? written : written.slice(0, wild);
  // The constraint `~0.0.0` admits every version.
  const isAny = numbers.length === 0 || (operator.startsWith('~') && written.join('.') === '0.0.0');
  // npm accepts a prerelease only after three numbers.
  const suffix = numbers.length === 3 && prerelease !== undefined ? `-${prerelease}` : '';
  const text = isAny ? '' : `${spelling[operator] ?? operator}${written.join('.')}${suffix}`;
  return { operator, text, numbers, hasPrerelease: prerelease !== undefined, prerelease };
}

function formatGroup(group: readonly Comparator[]): string {
  return group
    .filter(({ operator, text }) => operator !== '!=' && text !== '')
    .map(({ text }) => text)
    .join(' ');
}

function isExact({ operator, numbers }: Comparator): boolean {
  return (operator === '' || operator === '=') && numbers.length === 3;
}

/** The pattern for the tags that `!=` excludes: one version, or all that begin with its numbers, with its prerelease if it has one. */
function patternOf({ text, numbers, prerelease }: Comparator): string {
  const version = text.slice('!='.length);
  if (numbers.length === 3) return `^v?${escapePattern(version)}$`;
  const start = `^v?${numbers.map((number) => `${number}\\.`).join('')}`;
  return prerelease === undefined ? start : `${start}[0-9.]+-${escapePattern(prerelease)}$`;
}
