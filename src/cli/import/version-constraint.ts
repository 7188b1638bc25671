/** Version constraints of Masterminds/semver, which Flux and Argo CD Image Updater read, as `select.semver` and `tags.ignore`. */
import type { Spec } from '../../service/resources/v1.ts';
import { describeError } from '../../core/model/errors.ts';
import { parseVersionRange } from '../../core/select/version-range.ts';

/** What a constraint means in a policy. */
export interface ConvertedConstraint {
  readonly semver: NonNullable<Spec['select']['semver']>;
  /** What `!=` leaves out. */
  readonly ignore: readonly string[];
  readonly notes: readonly string[];
}

interface Comparator {
  readonly operator: string;
  /** As it is written in a range of npm; empty for any version. */
  readonly text: string;
  readonly numbers: readonly string[];
  readonly hasPrerelease: boolean;
}

const maxLength = 256;
// Each part is bounded or begins with a character that the one before it cannot have.
const comparator =
  /[\s,]*(=>|=<|>=|<=|~>|!=|[=<>~^])?\s*v?([0-9]+|[xX*])(?:\.([0-9]+|[xX*]))?(?:\.([0-9]+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?(?=[\s,]|$)/y;
const spelling: Readonly<Record<string, string>> = { '=>': '>=', '=<': '<=', '~>': '~', '=': '' };

/** The same constraint for a policy, or why it has none. */
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

/** Undefined for what is no constraint. A range with a hyphen (`1.2 - 1.4`) is two comparators. */
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
  // `~0.0.0` admits every version.
  const isAny = numbers.length === 0 || (operator.startsWith('~') && written.join('.') === '0.0.0');
  // npm reads a prerelease only behind three numbers.
  const suffix = numbers.length === 3 && prerelease !== undefined ? `-${prerelease}` : '';
  const text = isAny ? '' : `${spelling[operator] ?? operator}${written.join('.')}${suffix}`;
  return { operator, text, numbers, hasPrerelease: prerelease !== undefined };
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

/** The tags that `!=` leaves out: one version, or all that begin with its numbers. */
function patternOf({ text, numbers }: Comparator): string {
  const version = text.slice('!='.length);
  return numbers.length === 3
    ? `^v?${version.replaceAll(/[.+]/g, String.raw`\$&`)}$`
    : `^v?${numbers.map((number) => `${number}\\.`).join('')}`;
}
