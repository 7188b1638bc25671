import { describeType, type Field } from './json-schema.ts';
import { code, table } from './markdown.ts';

/** A table of fields: path, type with its bounds, whether it must be written or what it is else, and what it is for. */
export function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ path, schema, isRequired }) => [
    code(path),
    describeType(schema),
    isRequired ? 'required' : describeDefault(schema.default),
    schema.description ?? '',
  ]);
  return table(['Field', 'Type', 'Default', 'Description'], rows);
}

/** The rules between fields, as the API server says them. */
export function ruleList(fields: readonly Field[]): string {
  const rules = fields.flatMap(({ path, schema }) =>
    (schema['x-kubernetes-validations'] ?? []).map(({ message }) => `- ${code(path)}: ${message}`),
  );
  return rules.length === 0 ? '' : `Refused by the API server:\n\n${[...new Set(rules)].join('\n')}`;
}

/** What a field is when it is not written; nothing where that is to be absent. */
export function describeDefault(value: unknown): string {
  // Empty objects only make room for the defaults inside of them.
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0))
    return '';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}
