import { ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { type ApiDocument, apiDocument, namedIn, nameOf, type Operation, operationsOf, type Schema } from '../parts/api-document.ts';
import { boundsOf, prose, schemaSection, typeOf } from '../parts/schema-table.ts';
import { table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

export const apiOperation: Page = {
  path: '/api-reference/:operation',
  async show({ api, params, texts }) {
    const document = await api.read(apiDocument);
    const operation = operationsOf(document).find(({ operationId }) => operationId === params['operation']);
    if (operation === undefined) throw new ApiFailure(404, texts.noPage);
    const { summary, description, parameters, requestBody, method, path } = operation;
    const own = texts.ofReference;
    const answers = answersOf(operation, document);
    const bodies = Object.entries(requestBody?.content ?? {});
    const roots = [...parameters, ...bodies.map(([, one]) => one), ...answers.flatMap(({ contents }) => contents.map(([, one]) => one))];
    const schemas = namedIn(
      roots.map(({ schema }) => schema),
      document,
    );
    const body = html`
      <p><a href="/api-reference">${own.title}</a></p>
      <p><code>${method} ${path}</code></p>
      <p>${prose(description)}</p>
      ${parameters.length > 0 && parameterSection(parameters, texts)}
      ${bodies.map(([media, { schema, example }]) => contentSection(own.body, { media, schema, example }, texts))}
      ${answers
        .filter(({ isError }) => !isError)
        .flatMap(({ status, contents }) =>
          contents.map(([media, { schema, example }]) => contentSection(`${own.answer} ${status}`, { media, schema, example }, texts)),
        )}
      <section>
        <h2>${own.errors}</h2>
        ${table(
          [own.status, own.code, own.meaning],
          answers.filter(({ isError }) => isError).map(({ status, name, about }) => [status, html`<code>${name}</code>`, prose(about)]),
          'errors',
          own.errors,
        )}
      </section>
      <section>
        <h2>${own.schemas}</h2>
        ${schemas.map(([name, schema]) => schemaSection(name, schema, texts))}
      </section>
    `;
    return { title: summary, body };
  },
};

interface Answer {
  readonly status: string;
  /** The code of an error. */
  readonly name: string;
  readonly about: string;
  readonly isError: boolean;
  readonly contents: [media: string, { readonly schema: Schema; readonly example?: unknown }][];
}

/** The answers by status. Errors are components of the document. */
function answersOf({ responses }: Operation, { components }: ApiDocument): Answer[] {
  return Object.entries(responses).map(([status, response]) => {
    const isError = '$ref' in response;
    const name = isError ? nameOf(response.$ref) : '';
    const { description: about = '', content = {} } = isError ? (components.responses[name] ?? {}) : response;
    return { status, name, about, isError, contents: Object.entries(content) };
  });
}

function parameterSection(parameters: Operation['parameters'], texts: Texts): Html {
  const own = texts.ofReference;
  return html`
    <section>
      <h2>${own.parameters}</h2>
      ${table(
        [own.name, own.place, own.type, own.meaning, own.example],
        parameters.map(({ name, in: place, required, schema, description, example }) => [
          html`<code>${name}</code>`,
          html`<code>${place}</code> ${!required && html`<small>${own.optional}</small>`}`,
          html`${typeOf(schema)} ${boundsOf(schema).map((one) => html`<small class="why"><code>${one}</code></small>`)}`,
          prose(description),
          example !== undefined && html`<code>${String(example)}</code>`,
        ]),
        'parameters',
        own.parameters,
      )}
    </section>
  `;
}

interface Content {
  readonly media: string;
  readonly schema: Schema;
  readonly example: unknown;
}

function contentSection(title: string, { media, schema, example }: Content, texts: Texts): Html {
  return html`
    <section>
      <h2>${title}</h2>
      <p><code>${media}</code>: ${typeOf(schema)}</p>
      ${
        example !== undefined &&
        html`<pre tabindex="0" role="region" aria-label=${`${texts.ofReference.example}: ${title}`}><code>${
          typeof example === 'string' ? example : JSON.stringify(example, undefined, 2)
        }</code></pre>`
      }
    </section>
  `;
}
