/** Warns about valid parts of a policy of either version that may not mean what its author expects. `lint` shows these warnings, and nothing rejects them. */
import { compilePattern } from '../../core/model/pattern.ts';
import { describePrereleases, parseVersionRange } from '../../core/select/version-range.ts';
import { idleFields } from './idle-fields.ts';
import { findingOf, valueAt, problem, type Keys, type Problem } from '../../service/resources/validation/problem.ts';

/** All warnings about a policy. A field that has a problem has no warning. */
export function policyWarnings(document: unknown): Problem[] {
  return [...rangeWarnings(document), ...allowWarnings(document), ...idleFields(document)];
}

function rangeWarnings(document: unknown): Problem[] {
  const keys = oldStrategyOf(document) === 'SemVer' ? oldPattern : ['spec', 'select', 'semver', 'range'];
  const range = valueAt(document, keys);
  if (typeof range !== 'string' || valueAt(document, ['spec', 'select', 'semver', 'prereleases']) === true) return [];
  const written = range.trim();
  if (findingOf(() => parseVersionRange(written)).length > 0) return [];
  const note = describePrereleases(written, parseVersionRange(written));
  return note === undefined ? [] : [problem(keys, note, 'InvalidTagPolicy')];
}

/** Warnings about `allow`. Other tools search for a pattern in tags; here it must match the whole tag. */
function allowWarnings(document: unknown): Problem[] {
  const keys = oldStrategyOf(document) === 'Regex' ? oldPattern : ['spec', 'tags', 'allow'];
  const allow = valueAt(document, keys);
  if (typeof allow !== 'string' || findingOf(() => compilePattern(allow)).length > 0) return [];
  const parts = anchorsOf(allow);
  const has = (...field: string[]) => valueAt(document, ['spec', ...field]) !== undefined;
  const isIntended = (parts.start !== '' && parts.end !== '') || /^\(\?[a-zA-Z]+\)/.test(allow) || has('select', 'digest');
  if (isIntended) return [];
  const isVersion = has('select', 'semver') && !has('tags', 'extract');
  if (!matchesNoWholeTag(parts) && !(isVersion && matchesNoVersion(allow))) return [];
  const inside = parts.body.includes('|') ? `(?:${parts.body})` : parts.body;
  const found = `${parts.start === '' ? '.*' : '^'}${inside}${parts.end === '' ? '.*' : '$'}`;
  const message = `has to match the whole tag and is not searched for in it: write '${found}' to match longer tags as well, or '^${inside}$' to match this alone`;
  return [problem(keys, message, 'InvalidTagPolicy')];
}

interface Anchors {
  readonly start: string;
  readonly body: string;
  readonly end: string;
}

function anchorsOf(pattern: string): Anchors {
  const [, start = '', body = '', end = ''] = /^(\^|\\A)?([^]*?)((?<!\\)(?:\\\\)*(?:\$|\\z))?$/.exec(pattern) ?? [];
  return { start, body, end };
}

/** Whether a pattern begins with "-", "." or "+", as no tag does, or has no variable part. Single tags need no pattern. */
function matchesNoWholeTag({ start, body }: Anchors): boolean {
  const isInside = start === '' && /^(?:-|\\[-.+])(?![*?{])/.test(body);
  return isInside || !/[*+{[]|\\[dDwWpP]/.test(body.replace(/\\[^dDwWpP]/g, 'x'));
}

const suffixes = ['', '-rc.1', '-alpine', '-prod', '-debian-12'];
const versions = ['', 'v'].flatMap((v) =>
  Array.from({ length: 31 }, (_, number) => [`${number}.2.3`, `1.${number}.3`])
    .flat()
    .flatMap((version) => suffixes.map((suffix) => `${v}${version}${suffix}`)),
);

/** Whether a pattern matches no usual version as a whole, although it is found in some. */
function matchesNoVersion(allow: string): boolean {
  const pattern = compilePattern(allow);
  return versions.every((version) => pattern.matchWhole(version) === undefined) && versions.some((version) => pattern.isFoundIn(version));
}

const oldPattern: Keys = ['spec', 'tagPolicy', 'pattern'];

function oldStrategyOf(document: unknown): unknown {
  return valueAt(document, ['spec', 'tagPolicy', 'strategy']);
}
