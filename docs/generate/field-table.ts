import { describeType } from './describe-type.ts';
import type { Field } from './json-schema.ts';
import { code, table } from './markdown.ts';
import { english } from './wording.ts';

/** A table of fields: path, type with its bounds, whether it must be written or what it is else, and what it is for. */
export function fieldTable(fields: readonly Field[], words = english): string {
  const rows = fields.map(({ path, schema, isRequired }) => [
    code(path),
    describeType(schema, words),
    isRequired ? words.required : describeDefault(schema.default),
    schema.description === undefined ? '' : words.text(schema.description),
  ]);
  return table(words.headings, rows);
}

/** The rules between fields, as the API server says them. */
export function ruleList(fields: readonly Field[], words = english): string {
  const rules = fields.flatMap(({ path, schema }) =>
    (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `- ${words.rule(code(path), message)}`),
  );
  return rules.length === 0 ? '' : `${words.refused}\n\n${[...new Set(rules)].join('\n')}`;
}

/** What a field is when it is not written; nothing where that is to be absent. */
export function describeDefault(value: unknown): string {
  // Empty objects only make room for the defaults inside of them.
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0))
    return '';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}
