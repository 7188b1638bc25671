/** Lists as files, with the filters of their pages: for spreadsheets, and as JSON, in the form of the API. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { activityReads, type ActivityEntry } from '../service/api/activity-view.ts';
import type { PlaceView } from '../service/api/image-view.ts';
import type { PolicySummary } from '../service/api/policy-view.ts';
import { getImages } from '../service/api/routes/images.ts';
import { getPolicies } from '../service/api/routes/policies.ts';
import type { Api } from './api-client.ts';
import type { Query } from './page.ts';
import { requestOf } from './pages/policies.ts';
import { activityRequest } from './parts/activity-query.ts';
import { apiDocument } from './parts/api-document.ts';
import { readListQuery } from './parts/list-query.ts';
import { readPlaceQuery } from './parts/place-query.ts';
import type { DashboardOptions } from './add-dashboard.ts';
import { queryOf, startVisit } from './visit.ts';

type Row = Readonly<Record<string, string | undefined>>;

/** What a page of a list is read with. `after`: the `next` of the page before. */
interface PageOf {
  readonly api: Api;
  readonly query: Query;
  readonly after: string | undefined;
  readonly teamLabel: string;
}

/** A list, and its columns as a spreadsheet. */
interface List<T> {
  /** The name of the files without their ending. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly read: (page: PageOf) => Promise<{ readonly items: readonly T[]; readonly next?: string }>;
  readonly rowOf: (item: T) => Row;
}

const pageSize = 500;
/** The most items of a file. */
const maxItems = 100_000;

/** Adds the files of all lists. */
export function addListFiles(app: FastifyInstance, options: DashboardOptions): void {
  addFiles(app, options, policies);
  addFiles(app, options, places);
  addFiles(app, options, activity);
  addApiDocument(app, options);
}

function addFiles<T>(app: FastifyInstance, options: DashboardOptions, list: List<T>): void {
  const { name, columns, rowOf } = list;
  const forms = {
    csv: { type: 'text/csv; charset=utf-8', write: (items: readonly T[]) => writeCsv(columns, items.map(rowOf)) },
    json: { type: 'application/json; charset=utf-8', write: (items: readonly T[]) => `${JSON.stringify(items, undefined, 1)}\n` },
  };
  for (const [ending, { type, write }] of Object.entries(forms))
    app.get(`/${name}.${ending}`, async (request, reply) => {
      const { api } = await startVisit(request, options);
      const items = await readAll(list, { api, query: queryOf(request.query), teamLabel: options.settings.teamLabel });
      return reply.type(type).header('content-disposition', `attachment; filename="${name}.${ending}"`).send(write(items));
    });
}

/** Adds the OpenAPI document, which a process that has only the dashboard gets from the API. */
function addApiDocument(app: FastifyInstance, options: DashboardOptions): void {
  const whole = { path: apiDocument.path, answer: z.looseObject({}) };
  app.get('/api-reference.json', async (request, reply) => {
    const { api } = await startVisit(request, options);
    return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(await api.read(whole), undefined, 2)}\n`);
  });
}

async function readAll<T>({ read }: List<T>, page: Omit<PageOf, 'after'>): Promise<T[]> {
  const all: T[] = [];
  for (let after: string | undefined; all.length < maxItems;) {
    const { items, next } = await read({ ...page, after });
    all.push(...items);
    if (next === undefined) break;
    after = next;
  }
  return all;
}

const policies: List<PolicySummary> = {
  name: 'policies',
  columns: ['namespace', 'name', 'state', 'reason', 'message', 'image', 'running', 'selected', 'digest', 'since', 'lastChangeAt'],
  async read({ api, query, after, teamLabel }) {
    const { policies: items, ...page } = await api.read(getPolicies, {
      ...requestOf(readListQuery(query), teamLabel),
      after,
      limit: pageSize,
    });
    return { items, ...page };
  },
  rowOf: rowOfPolicy,
};

const places: List<PlaceView> = {
  name: 'places',
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
    const { images: items, ...page } = await api.read(getImages, { ...readPlaceQuery(query), after, limit: pageSize });
    return { items, ...page };
  },
  rowOf: rowOfPlace,
};

const activity: List<ActivityEntry> = {
  name: 'activity',
  columns: [
    'at',
    'type',
    'what',
    'namespace',
    'kind',
    'name',
    'user',
    'why',
    'value',
    'tag',
    'digest',
    'from',
    'workloads',
    'reason',
    'message',
    'push',
  ],
  async read({ api, query, after }) {
    const { activity: items, ...page } = await api.read(activityReads.list, { ...activityRequest(query), before: after, limit: pageSize });
    return { items, ...page };
  },
  rowOf: rowOfActivity,
};

function rowOfActivity(entry: ActivityEntry): Row {
  const { at, type } = entry;
  if (entry.type === 'push') {
    const { id, outcome, registry, repository, tag, digest, reason, message } = entry.push;
    return {
      at,
      type,
      what: outcome,
      kind: 'Image',
      name: [registry, repository].filter(Boolean).join('/'),
      tag,
      digest,
      reason,
      message,
      push: id,
    };
  }
  const about = { at, type, ...entry.subject };
  if (entry.type === 'action') return { ...about, what: entry.action, user: entry.user, why: entry.why, value: entry.value };
  const { kind: what, tag, digest, from, workloads, reason, message, event } = entry;
  return { ...about, what, tag, digest, from: from?.join(' '), workloads: workloads?.join(', '), reason, message, push: event };
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

function writeCsv(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

/** A cell of RFC 4180. A text that a spreadsheet would take for a formula is marked as a text. */
function cellOf(value = ''): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
