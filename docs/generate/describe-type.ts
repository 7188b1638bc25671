import type { JsonSchema } from './json-schema.ts';
import { english, type Wording } from './wording.ts';

/** The type of a field with its bounds: `list of string, 1–64 entries`. */
export function describeType(schema: JsonSchema, words: Wording = english): string {
  const { items, additionalProperties } = schema;
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => describeType(one, words)))].join(words.or);
  const bounds = describeBounds(schema, words)
    .map((bound) => `${words.comma}${bound}`)
    .join('');
  if (items !== undefined) return `${words.listOf(describeEntry(items, words))}${bounds}`;
  if (typeof additionalProperties === 'object') return `${words.mapOf(describeEntry(additionalProperties, words))}${bounds}`;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(words.and);
  return `${nameOf(schema, words)}${bounds}`;
}

function describeEntry(items: JsonSchema, words: Wording): string {
  const entry = describeType(items, words);
  return entry.includes(words.comma.trim()) || entry.includes(words.or) ? words.grouped(entry) : entry;
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'time',
  duration: 'duration',
  uri: 'URL',
  ipv4: 'IP address',
  ipv6: 'IP address',
  cidrv4: 'CIDR',
  cidrv6: 'CIDR',
};

function nameOf({ type, format, properties }: JsonSchema, { type: named }: Wording): string {
  const known = formats[format ?? ''];
  if (known !== undefined) return named(known);
  if (type === 'object') {
    const names = Object.keys(properties ?? {});
    return names.length === 1 ? `\`{${names.join()}}\`` : named('object');
  }
  return named(String(type));
}

const unbounded = 9_007_199_254_740_991;

function describeBounds(schema: JsonSchema, words: Wording): string[] {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, exclusiveMinimum, maxProperties, pattern } = schema;
  const least = minimum === -unbounded ? undefined : minimum;
  const most = maximum === unbounded ? undefined : maximum;
  // The length of a time follows from its form.
  const isTime = schema.format === 'date-time';
  return [
    isTime ? '' : range(minLength, maxLength, words.characters, words),
    range(minItems, maxItems, words.entries, words),
    range(undefined, maxProperties, words.entries, words),
    range(least, most, '', words),
    exclusiveMinimum === undefined ? '' : `${words.moreThan} ${exclusiveMinimum}`,
    schema['x-kubernetes-list-type'] === 'set' ? words.eachOnce : '',
    pattern === undefined || schema.format !== undefined ? '' : `${words.matching} \`${pattern}\``,
  ].filter((bound) => bound !== '');
}

function range(least: number | undefined, most: number | undefined, unit: string, words: Wording): string {
  if (least === undefined && most === undefined) return '';
  if (least === 1 && most === undefined && unit !== '') return words.notEmpty;
  const bounds = least === undefined ? `${words.atMost} ${most}` : most === undefined ? `${words.atLeast} ${least}` : `${least}–${most}`;
  return unit === '' ? bounds : `${bounds} ${unit}`;
}
