import { z } from 'zod';
import { configSchema } from '../../src/service/config/schema.ts';
import { describeDefault, fieldTable } from './field-table.ts';
import { fieldsOf, type Field, type JsonSchema } from './json-schema.ts';
import { code } from './markdown.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/configuration.md. */
export const configurationParts: Parts = {
  /** A section for each setting at the top, so that none can be forgotten. */
  settings: () => sections().join('\n\n'),
};

function sections(): string[] {
  const schema = JSON.parse(JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' }))) as JsonSchema;
  return Object.entries(schema.properties ?? {}).map(([name, setting]) => {
    const fields: Field[] = [...fieldsOf(setting, name)].filter(({ path }) => !isRepeated(path));
    const [own, ...inner] = fields;
    const isSimple = inner.length === 0;
    const standard = own === undefined ? '' : describeDefault(own.schema.default);
    const introduction = [own?.schema.description ?? '', standard && `Default: ${standard}.`].filter(Boolean).join(' ');
    if (!isSimple) return `### ${code(name)}\n\n${introduction}\n\n${fieldTable(inner)}`;
    return `### ${code(name)}\n\n${fieldTable(fields)}`;
  });
}

/** The fields of defaults for some namespaces are those of the defaults for all, which stand above them. */
export function isRepeated(path: string): boolean {
  return /^policyDefaults\.namespaces\[\]\.(?:poll|windows|rollout)\W/.test(path);
}
