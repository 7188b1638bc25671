/**
 * Limits the work of a template. It is counted and not timed, so the same template with the same values always fails or never. The limits that LiquidJS documents do
 * not count the conditions of a block: with `templateLimit` and `memoryLimit`, a small template takes a second (measured). So two methods are wrapped that are declared
 * and not documented, `renderTemplates` and `memoryLimit.use`. If an update no longer calls the first one, `test/notify/render-template.test.ts` fails.
 */
import { Context, defaultOperators, Liquid, type Template } from 'liquidjs';

/** The maximum work of one message, which takes some milliseconds. Each character that is read or made counts 1. */
const maxWork = 100_000;
/** The work of a block, such as one iteration of a loop, in addition to its content. */
const blockWork = 100;
/** The work of a comparison in addition to its operands. */
const operatorWork = 10;
/** The work of a date, which may search a time zone, in addition to its texts. */
const dateWork = 400;
/** The work of one part of a date's format, which may search the name of a month or a day. */
const datePartWork = 200;
/** Tags whose conditions are evaluated with the tag, and may come after its own text. */
const branching = new Set(['if', 'unless', 'case']);
/** Filters whose work is proportional to the texts that they read and make. */
export const filters: ReadonlySet<string> = new Set(
  `abs append at_least at_most capitalize ceil compact concat date default divided_by downcase escape first floor join json last lstrip minus modulo plus prepend raw
   remove remove_first replace replace_first reverse round rstrip size slice sort sort_natural split strip times truncate uniq upcase url_decode url_encode`.split(
    /\s+/,
  ),
);

/** Renders templates until their common budget of work is used up. */
export interface BoundedRenderer {
  /** Renders a template. Throws if the template is invalid, or the budget is used up. */
  render(template: string, values: object, escape: (value: string) => string): string;
}

/** Creates one budget for all templates of a message. */
export function createBoundedRenderer(): BoundedRenderer {
  let left = maxWork;
  const spend = (work: number) => {
    if (work > 0) left -= work;
    if (left < 0) throw new Error('it takes too much work: shorten its loops or its texts');
  };

  return {
    render(template, values, escape) {
      const engine = createEngine(spend, escape);
      const { renderer } = engine;
      const renderTemplates = renderer.renderTemplates.bind(renderer);
      renderer.renderTemplates = (templates, context, emitter) => {
        spend(blockWork + lengthOf(templates, template.length));
        return renderTemplates(templates, context, emitter);
      };
      const context = new Context(values, engine.options, { sync: true }, { liquid: engine });
      // Counts ranges, and the results of filters, before they are made.
      context.memoryLimit.use = spend;
      return String(engine.renderSync(engine.parse(template), context));
    },
  };
}

function createEngine(spend: (work: number) => void, escape: (value: string) => string): Liquid {
  const engine = new Liquid({
    parseLimit: 10_000,
    ownPropertyOnly: true,
    strictFilters: true,
    // Templates cannot include files.
    templates: {},
    operators: Object.fromEntries(
      Object.entries(defaultOperators).map(([name, operator]) => [
        name,
        (...operands: unknown[]) => {
          // The last operand is the context.
          spend(operatorWork + sizeOf(operands.slice(0, -1)));
          return (operator as (...operands: unknown[]) => boolean)(...operands);
        },
      ]),
    ),
    outputEscape: (value: unknown) => {
      spend(sizeOf(value));
      return escape(typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value));
    },
  });
  // The filter `raw` is disabled, so that all inserted values are escaped.
  engine.registerFilter('raw', (value: unknown) => value);
  engine.registerFilter('replace', (value: unknown, pattern: unknown, replacement: unknown = '') => {
    const parts = textOf(value).split(textOf(pattern));
    const text = textOf(replacement);
    spend(parts.length * text.length);
    return parts.join(text);
  });
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (!filters.has(name)) delete engine.filters[name];
    else {
      const handler = typeof filter === 'function' ? filter : filter.handler;
      engine.registerFilter(name, function* (...values: unknown[]) {
        spend(sizeOf(values) + (name === 'date' ? workOfDate(values[1]) : 0));
        const made: unknown = yield handler.apply(this, values as Parameters<typeof handler>);
        spend(sizeOf(made));
        return made;
      });
    }
  }
  return engine;
}

/** The number of characters of a block with its conditions, limited to that of the template. */
function lengthOf(templates: readonly Template[], max: number): number {
  const first = templates[0]?.token;
  const last = templates.at(-1)?.token;
  if (first === undefined || last === undefined) return 0;
  const end = 'name' in last && branching.has(String(last.name)) ? max : last.end;
  return Math.max(end - first.begin, 0);
}

/** The work of a date with a format, of which the default has eight parts. */
function workOfDate(format: unknown): number {
  const parts = format === undefined || format === null ? 8 : textOf(format).split('%').length - 1;
  return dateWork + datePartWork * parts;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, one) => sum + sizeOf(one), 1) : 1;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}
