import type { PatternGroups } from '../model/pattern.ts';
import { PermanentError } from '../model/errors.ts';

/** The maximum length of what is extracted, twice that of a tag. A template may name a group hundreds of times, and there may be 200,000 tags. */
export const maxExtracted = 256;

type Part = string | number;

const reference = /\$(?:(?<escaped>\$)|\{(?<braced>[^}]*)\}|(?<bare>[A-Za-z0-9_]+))?/g;

/**
 * Reads a template in Go's syntax (regexp.Expand): `$name`, `${name}`, `$1`, and `$$` for a dollar sign. The longest possible name counts: `$1x` is the group
 * "1x". Unlike Go, which expands unknown groups to nothing, it throws PermanentError(InvalidTagPolicy).
 * A text that becomes longer than `maxExtracted` is not completed.
 */
export function parseTemplate(template: string, groups: PatternGroups): (groupOf: (index: number) => string | null) => string {
  const parts: Part[] = [];
  let end = 0;
  for (const match of template.matchAll(reference)) {
    const { escaped, braced, bare } = match.groups ?? {};
    parts.push(template.slice(end, match.index), escaped ?? findGroup(braced ?? bare, template, groups));
    end = match.index + match[0].length;
  }
  parts.push(template.slice(end));
  return (groupOf) => {
    let text = '';
    for (const part of parts) {
      text += typeof part === 'string' ? part : (groupOf(part) ?? '');
      if (text.length > maxExtracted) break;
    }
    return text;
  };
}

function findGroup(name: string | undefined, template: string, { count, names }: PatternGroups): number {
  if (name === undefined) throw invalid(`"${template}" has a dollar sign without the name of a group: write $name, $1 or $$`);
  const index = /^[0-9]+$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name] : undefined;
  if (index !== undefined && index <= count) return index;
  const known = [...Object.keys(names), ...Array.from({ length: count }, (_, group) => String(group + 1))].map((group) => `$${group}`);
  const hint = known.length === 0 ? 'which has none: write one, such as (?P<version>.*)' : `which has ${known.join(', ')}`;
  throw invalid(`"$${name}" is not a group of allow, ${hint}`);
}

function invalid(message: string): PermanentError {
  return new PermanentError('InvalidTagPolicy', message);
}
