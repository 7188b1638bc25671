import { PermanentError } from '../../core/errors.ts';
import { groupsOfTemplate } from '../../core/tag-pattern.ts';
import { fieldOf, type Finding } from '../rules.ts';
import { tryCompile } from './check-pattern.ts';

/** `tags.extract` uses groups, and `tags.allow` has them. */
export function checkExtract(tags: unknown): Finding[] {
  const extract = fieldOf(tags, 'extract');
  const allow = fieldOf(tags, 'allow');
  if (typeof extract !== 'string' || extract === '') return [];
  const wanted = groupsOfTemplate(extract);
  if (wanted.length === 0) {
    return [finding(`"${extract}" names no group of allow, so all tags would be equal: write a group, such as "$version" or "$1"`)];
  }
  const pattern = typeof allow === 'string' ? tryCompile(allow) : undefined;
  // What is wrong with allow is told there.
  if (pattern === undefined || pattern instanceof PermanentError) return [];
  const { groupCount, groupNames } = pattern;
  const hasGroup = (group: string) => (/^\d+$/.test(group) ? Number(group) <= groupCount : groupNames.includes(group));
  return [...new Set(wanted)].filter((group) => !hasGroup(group)).map((group) => finding(describeMissing(group, groupCount, groupNames)));
}

function finding(message: string): Finding {
  return { keys: ['extract'], message, reason: 'InvalidTagPolicy' };
}

function describeMissing(group: string, count: number, names: readonly string[]): string {
  const known = [...names.map((name) => `"${name}"`), ...(count > 0 ? [`1${count > 1 ? ` to ${count}` : ''}`] : [])];
  const longer = names.find((name) => group.startsWith(name));
  const hint = longer === undefined ? '' : `; write "\${${longer}}" where letters, digits or "_" follow`;
  return `allow has no group "${group}"; its groups are ${known.join(', ') || 'none'}${hint}`;
}
