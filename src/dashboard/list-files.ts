/** Lists as files, with the filters of their pages: for spreadsheets, and as JSON, in the form of the API. */
import { Readable } from 'node:stream';
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

interface PageRead<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** A list, and its columns as a spreadsheet. */
interface List<T> {
  /** The name of the files without their ending. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly read: (page: PageOf) => Promise<PageRead<T>>;
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

/** The form of a file: what is before, between and after its items. */
interface Form<T> {
  readonly type: string;
  readonly begin: string;
  readonly between: string;
  readonly end: string;
  readonly write: (item: T) => string;
}

function addFiles<T>(app: FastifyInstance, options: DashboardOptions, list: List<T>): void {
  const { name, columns, rowOf } = list;
  const lineOf = (item: T) => {
    const row = rowOf(item);
    return writeLine(columns.map((column) => cellOf(row[column])));
  };
  const forms: Readonly<Record<string, Form<T>>> = {
    csv: { type: 'text/csv', begin: writeLine(columns), between: '', end: '', write: lineOf },
    json: { type: 'application/json', begin: '[', between: ',', end: '\n]\n', write: (item) => `\n${JSON.stringify(item)}` },
  };
  for (const [ending, form] of Object.entries(forms))
    app.get(`/${name}.${ending}`, async (request, reply) => {
      const { api } = await startVisit(request, options);
      const page = { api, query: queryOf(request.query), teamLabel: options.settings.teamLabel };
      // What refuses the first page is said by the status. Later failures end the connection, so that nobody takes the file for a whole one.
      const first = await list.read({ ...page, after: undefined });
      return reply
        .type(`${form.type}; charset=utf-8`)
        .header('content-disposition', `attachment; filename="${name}.${ending}"`)
        .send(Readable.from(writeFile(list, form, page, first)));
    });
}

/** Writes a file page by page, so that a long one neither stops other work nor is held as a whole. */
async function* writeFile<T>(
  { read }: List<T>,
  { begin, between, end, write }: Form<T>,
  page: Omit<PageOf, 'after'>,
  first: PageRead<T>,
): AsyncGenerator<string> {
  yield begin;
  let count = 0;
  for (let { items, next } = first; ; { items, next } = await read({ ...page, after: next })) {
    const kept = items.slice(0, maxItems - count);
    if (kept.length > 0) yield `${count === 0 ? '' : between}${kept.map(write).join(between)}`;
    count += kept.length;
    if (next === undefined || count >= maxItems) break;
  }
  yield end;
}

/** Adds the OpenAPI document, which a process that has only the dashboard gets from the API. */
function addApiDocument(app: FastifyInstance, options: DashboardOptions): void {
  const whole = { path: apiDocument.path, answer: z.looseObject({}) };
  app.get('/api-reference.json', async (request, reply) => {
    const { api } = await startVisit(request, options);
    return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(await api.read(whole), undefined, 2)}\n`);
  });
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
    'receiver',
    'policies',
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
    const { id, outcome, registry, repository, tag, digest, reason, message, receiver, policies: reached } = entry.push;
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
      receiver,
      policies: reached.map((one) => `${one.namespace}/${one.name}`).join(' '),
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

function writeLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/** A cell of RFC 4180. A text that a spreadsheet would take for a formula is marked as a text. */
function cellOf(value = ''): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
