/** Lists as files for spreadsheets, with the filters of their pages. */
import type { FastifyInstance } from 'fastify';
import type { PlaceView } from '../service/api/image-view.ts';
import type { PolicySummary } from '../service/api/policy-view.ts';
import { getImages } from '../service/api/routes/images.ts';
import { getPolicies } from '../service/api/routes/policies.ts';
import type { Api } from './api-client.ts';
import type { Query } from './page.ts';
import { requestOf } from './pages/policies.ts';
import { readListQuery } from './parts/list-query.ts';
import { readPlaceQuery } from './parts/place-query.ts';
import type { DashboardOptions } from './add-dashboard.ts';
import { queryOf, startVisit } from './visit.ts';

type Row = Readonly<Record<string, string | undefined>>;

/** A file, and how its rows are read. `after`: the `next` of the page before. */
interface CsvFile {
  readonly name: string;
  readonly columns: readonly string[];
  readonly read: (page: {
    readonly api: Api;
    readonly query: Query;
    readonly after: string | undefined;
    readonly teamLabel: string;
  }) => Promise<{ readonly rows: readonly Row[]; readonly next?: string }>;
}

const files: readonly CsvFile[] = [
  {
    name: 'policies.csv',
    columns: ['namespace', 'name', 'state', 'reason', 'message', 'image', 'running', 'selected', 'digest', 'since', 'lastChangeAt'],
    async read({ api, query, after, teamLabel }) {
      const { policies, ...page } = await api.read(getPolicies, { ...requestOf(readListQuery(query), teamLabel), after, limit: 500 });
      return { rows: policies.map(rowOfPolicy), ...page };
    },
  },
  {
    name: 'places.csv',
    columns: [
      'repository',
      'tag',
      'digest',
      'namespace',
      'kind',
      'name',
      'container',
      'state',
      'selected',
      'selectedDigest',
      'reason',
      'message',
      'since',
      'behindSince',
      'policy',
      'policyState',
      'pods',
    ],
    async read({ api, query, after }) {
      const { images, ...page } = await api.read(getImages, { ...readPlaceQuery(query), after, limit: 500 });
      return { rows: images.map(rowOfPlace), ...page };
    },
  },
];

/** Adds the addresses of the files. */
export function addCsvRoutes(app: FastifyInstance, options: DashboardOptions): void {
  for (const file of files)
    app.get(`/${file.name}`, async (request, reply) => {
      const { api } = await startVisit(request, options);
      const text = await writeCsv(file, queryOf(request.query), api, options.settings.teamLabel);
      return reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${file.name}"`).send(text);
    });
}

async function writeCsv({ columns, read }: CsvFile, query: Query, api: Api, teamLabel: string): Promise<string> {
  const lines = [columns.join(',')];
  for (let after: string | undefined; ;) {
    const { rows, next } = await read({ api, query, after, teamLabel });
    lines.push(...rows.map((row) => columns.map((column) => cellOf(row[column])).join(',')));
    if (next === undefined) return `${lines.join('\r\n')}\r\n`;
    after = next;
  }
}

function rowOfPolicy({ namespace, name, state, reason, message, image, running, latest, since, lastChangeAt }: PolicySummary): Row {
  return { namespace, name, state, reason, message, image, running, selected: latest?.tag, digest: latest?.digest, since, lastChangeAt };
}

function rowOfPlace({ policy, wants, pods, ...place }: PlaceView): Row {
  return {
    ...place,
    selected: wants?.tag,
    selectedDigest: wants?.digest,
    policy: `${policy.namespace}/${policy.name}`,
    policyState: policy.state,
    pods: pods?.toString(),
  };
}

/** A cell of RFC 4180. A text that a spreadsheet would take for a formula is marked as a text. */
function cellOf(value = ''): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
