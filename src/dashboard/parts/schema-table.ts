/** Schemas of the API as tables. */
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { type Field, fieldsOf, nameOf, type Schema } from './api-document.ts';
import { table } from './tables.ts';

/** The table of the fields of a schema with a name, folded; the type of what has no fields. A link to it opens it, because its id is inside of what is folded. */
export function schemaSection(name: string, schema: Schema, texts: Texts): Html {
  const fields = fieldsOf(schema);
  return html`
    <details>
      <summary><code>${name}</code></summary>
      <div id=${`schema-${name}`}>
        ${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}
        ${fields.length === 0 ? html`<p>${typeOf(schema)}</p>` : fieldTable(name, fields, texts)}
      </div>
    </details>
  `;
}

/** A text of the document, which is in English, with its code. */
export function prose(text: string | undefined): Html {
  return html`<span lang="en">${text?.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</span>`;
}

function fieldTable(name: string, fields: readonly Field[], { ofReference: own }: Texts): Html {
  return table(
    [own.field, own.type, own.meaning],
    fields.map(({ path, schema, isRequired }) => [
      html`<code>${path}</code>`,
      html`${typeOf(schema)} ${!isRequired && html`<small>${own.optional}</small>`}`,
      prose(schema.description),
    ]),
    'fields',
    name,
  );
}

/** The type of a value; a schema with a name is a link to its section. */
export function typeOf(schema: Schema): Html {
  const { $ref, type = 'any', enum: values, const: only, items, additionalProperties, oneOf, anyOf, format } = schema;
  if ($ref !== undefined) return html`<a href=${`#schema-${nameOf($ref)}`}>${nameOf($ref)}</a>`;
  const choices = oneOf ?? anyOf;
  if (choices !== undefined) return html`${choices.map((one, index) => html`${index > 0 ? ' | ' : ''}${typeOf(one)}`)}`;
  if (values !== undefined)
    return html`${values.map((value, index) => html`${index > 0 ? ' | ' : ''}<code>${JSON.stringify(value)}</code>`)}`;
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (items !== undefined) return html`${typeOf(items)}[]`;
  if (type === 'object' && additionalProperties?.type !== undefined) return html`{ string: ${typeOf(additionalProperties)} }`;
  return html`${type}${format === undefined ? '' : ` (${format})`}`;
}

/** The bounds of a parameter in words of JSON Schema. */
export function boundsOf({ minimum, maximum, maxLength, pattern, default: unlessGiven }: Schema): string[] {
  const named = { minimum, maximum, maxLength, pattern, default: unlessGiven };
  return Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${String(value)}`]));
}
