import { describeApi } from '../../src/service/api/openapi.ts';
import { problemKinds } from '../../src/service/api/problem.ts';
import { routeGroups } from '../../src/service/api/route.ts';
import { readVersion } from '../../src/service/config/version.ts';
import { recordExamples } from '../../test/service/api/record-examples.ts';
import { routes } from './routes.ts';
import { code } from './markdown.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/operations/api.md. */
export const apiParts: Parts = {
  /** Every route, by section. */
  routes: () => Object.keys(routeGroups).map(section).join('\n\n'),
  /** Every code of an error. */
  problems: () => {
    const rows = Object.entries(problemKinds).map(([name, { status, about }]) => `| ${code(name)} | ${status} | ${about} |`);
    return ['| `code` | status | when |', '| --- | --- | --- |', ...rows].join('\n');
  },
};

function section(group: string): string {
  const rows = routes
    .filter((route) => route.group === group)
    .map(({ method, path, summary, query }) => {
      const parameters = Object.keys(query?.shape ?? {}).map((name) => code(name));
      return `| ${code(`${method} /api/v1${path}`)} | ${summary} | ${parameters.join(', ')} |`;
    });
  return [`| ${group} | | parameters |`, '| --- | --- | --- |', ...rows].join('\n');
}

const examples = await recordExamples(routes);

/** The examples in the document that a process serves. */
export function examplesText(): string {
  return `${JSON.stringify(examples, undefined, 2)}\n`;
}

/** The document for programs. */
export function openApiText(): string {
  return `${JSON.stringify(describeApi(routes, readVersion(), examples), undefined, 2)}\n`;
}
