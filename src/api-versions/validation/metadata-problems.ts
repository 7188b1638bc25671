import { isDraft } from '../rules.ts';
import { checkLabelKey } from './check-label-key.ts';
import { problem, type Problem } from './problem.ts';

const subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What is wrong with the parts of `metadata` that people write: name, namespace, labels and annotations. */
export function metadataProblems(metadata: unknown): Problem[] {
  if (!isDraft(metadata)) return [problem(['metadata'], 'is missing: write at least metadata.name')];
  const { name, generateName, namespace } = metadata;
  const problems: Problem[] = [];
  const add = (key: string, message: string) => void problems.push(problem(['metadata', key], message));
  if (name === undefined || name === null) {
    if (typeof generateName !== 'string') add('name', 'is missing: write a name, such as "web"');
  } else if (typeof name !== 'string' || name.length > 253 || !subdomain.test(name)) {
    add('name', `${JSON.stringify(name)} is no name: lower-case letters, digits, "-" and "." between letters or digits`);
  }
  if (namespace !== undefined && namespace !== null && (typeof namespace !== 'string' || !label.test(namespace))) {
    add('namespace', `${JSON.stringify(namespace)} is no namespace: lower-case letters, digits and "-", at most 63`);
  }
  return [...problems, ...['labels', 'annotations'].flatMap((key) => textProblems(metadata[key], key))];
}

function textProblems(map: unknown, field: string): Problem[] {
  if (map === undefined || map === null) return [];
  if (!isDraft(map)) return [problem(['metadata', field], 'is not a list of names with their values')];
  return Object.entries(map).flatMap(([key, value]) => [
    ...(typeof value === 'string' ? [] : [problem(['metadata', field, key], `is ${JSON.stringify(value)}: write a text in quotes`)]),
    ...checkLabelKey(key).map(() => problem(['metadata', field, key], 'is no name such as "app" or "example.com/app"')),
  ]);
}
