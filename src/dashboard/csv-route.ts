/** The list of policies as a file for spreadsheets, with the filters of the page. */
import type { FastifyInstance } from 'fastify';
import { getPolicies } from '../service/api/routes/policies.ts';
import type { PolicySummary } from '../service/api/policy-view.ts';
import type { Api } from './api-client.ts';
import { requestOf } from './pages/policies.ts';
import { readListQuery, type ListQuery } from './parts/list-query.ts';
import type { DashboardOptions } from './add-dashboard.ts';
import { queryOf, startVisit } from './visit.ts';

const columns = [
  'namespace',
  'name',
  'state',
  'reason',
  'message',
  'image',
  'running',
  'selected',
  'digest',
  'since',
  'lastChangeAt',
] as const;

/** Adds the address of the file. */
export function addCsvRoute(app: FastifyInstance, options: DashboardOptions): void {
  app.get('/policies.csv', async (request, reply) => {
    const { api } = await startVisit(request, options);
    const text = await writeCsv(readListQuery(queryOf(request.query)), api, options.settings.teamLabel);
    return reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="policies.csv"').send(text);
  });
}

async function writeCsv(given: ListQuery, api: Api, teamLabel: string): Promise<string> {
  const lines = [columns.join(',')];
  for (let after: string | undefined; ;) {
    const { policies, next } = await api.read(getPolicies, { ...requestOf(given, teamLabel), after, limit: 500 });
    lines.push(...policies.map((policy) => rowOf(policy).map(cellOf).join(',')));
    if (next === undefined) return `${lines.join('\r\n')}\r\n`;
    after = next;
  }
}

function rowOf(policy: PolicySummary): (string | undefined)[] {
  const values = { ...policy, selected: policy.latest?.tag, digest: policy.latest?.digest };
  return columns.map((column) => values[column]);
}

/** A cell of RFC 4180. A text that a spreadsheet would take for a formula is marked as a text. */
function cellOf(value = ''): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
