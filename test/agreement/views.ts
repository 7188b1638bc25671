/** Reads what each view says of all policies: kubectl, the commands, the API, the dashboard, Events, metrics and the record of pushes. */
import assert from 'node:assert/strict';
import { runCommand } from '../cli/run-command.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import { resend } from '../harness/resend.ts';
import type { Place, Row, Views } from './compare.ts';

/** Where the views are, and with which rights they are read. */
export interface Viewer {
  readonly cluster: ControlPlane;
  readonly namespace: string;
  readonly operationsUrl: string;
  readonly token: string;
  /** Of the dashboard. */
  readonly cookie: string;
}

interface Status {
  readonly targets?: readonly { readonly image?: string }[];
  readonly history?: readonly { readonly to: string }[];
  readonly earlierChanges?: readonly string[];
}

/** What is asked of one policy alone. */
export interface Closely {
  readonly name: string;
  /** The tag of its last push, if nothing else has happened since. */
  readonly pushed?: { readonly repository: string; readonly tag: string };
}

/** All views of all policies, by name; `closely`: of these, also what costs a request for each. */
export async function readViews(viewer: Viewer, closely: readonly Closely[] = []): Promise<(name: string) => Views> {
  const [kubectl, statuses, cli, api, places, page, metrics, events, explained, records] = await Promise.all([
    readTable(viewer),
    readStatuses(viewer),
    readCommand(viewer),
    readApi(viewer),
    readPlaces(viewer),
    readPages(viewer),
    readMetrics(viewer),
    readEvents(viewer),
    readEach(closely, ({ name }) => readExplanation(viewer, name)),
    readEach(closely, (one) => readRecord(viewer, one)),
  ]);
  return (name) => {
    const { targets = [], history = [], earlierChanges = [] } = statuses.get(name) ?? {};
    const earlier = earlierChanges.map((text) => (JSON.parse(text) as { to: string }).to);
    const [explain, record] = [explained.get(name), records.get(name)];
    return {
      kubectl: kubectl.get(name),
      status: { images: targets.flatMap(({ image }) => image ?? []), changedTo: [...history.map(({ to }) => to), ...earlier] },
      cli: cli.get(name),
      api: api.get(name),
      places: places.get(name) ?? [],
      page: page.get(name),
      metric: metrics.get(name),
      events: events.get(name) ?? [],
      ...(explain && { explain }),
      ...(record && { record }),
    };
  };
}

async function readEach<T>(list: readonly Closely[], read: (one: Closely) => Promise<T | undefined>): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (const one of list) {
    const value = await read(one);
    if (value !== undefined) found.set(one.name, value);
  }
  return found;
}

const policies = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;

/** As kubectl prints it: the API server makes the cells. */
async function readTable({ cluster, namespace }: Viewer): Promise<Map<string, Row>> {
  interface Table {
    readonly columnDefinitions: readonly { readonly name: string }[];
    readonly rows: readonly {
      readonly cells: readonly (string | null)[];
      readonly object: { readonly metadata: { readonly name: string } };
    }[];
  }
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const table = await cluster.request<Table>('GET', policies(namespace), undefined, undefined, accept);
  const columns = table.columnDefinitions.map(({ name }) => name);
  return new Map(
    table.rows.map(({ cells, object }) => {
      const cell = (column: string) => cells[columns.indexOf(column)] ?? '';
      return [object.metadata.name, { running: cell('Running'), wanted: cell('Latest'), ready: cell('Ready'), reason: cell('Reason') }];
    }),
  );
}

async function readStatuses({ cluster, namespace }: Viewer): Promise<Map<string, Status>> {
  const { items } = await cluster.request<{ items: { metadata: { name: string }; status?: Status }[] }>('GET', policies(namespace));
  return new Map(items.map(({ metadata, status = {} }) => [metadata.name, status]));
}

async function readCommand({ cluster, namespace }: Viewer): Promise<Map<string, Row>> {
  const { code, out, err } = await runCommand('get', ['-n', namespace, '-o', 'wide', '--kubeconfig', cluster.kubeconfigPath]);
  assert.equal(code, 0, err);
  // Lines below a row are indented.
  const [heading = '', ...lines] = out.split('\n').filter((line) => /^\S/.test(line));
  const cell = (line: string, from: string, to: string) => line.slice(heading.indexOf(from), heading.indexOf(to)).trim();
  return new Map(
    lines.map((line) => [
      cell(line, 'NAME', 'IMAGE'),
      {
        running: cell(line, 'RUNNING', 'LATEST'),
        wanted: cell(line, 'LATEST', 'READY'),
        ready: cell(line, 'READY', 'REASON'),
        reason: cell(line, 'REASON', ' AGE'),
      },
    ]),
  );
}

interface Summary {
  readonly name: string;
  readonly state: string;
  readonly running?: string;
  readonly latest?: { readonly tag: string };
  readonly reason?: string;
  readonly message?: string;
}

async function readApi(viewer: Viewer): Promise<Map<string, NonNullable<Views['api']>>> {
  const found = await ask<{ policies: Summary[] }>(viewer, `/policies?namespace=${viewer.namespace}&limit=500`);
  return new Map(
    found.policies.map(({ name, state, running, latest, reason, message }) => [
      name,
      {
        state,
        ...(running !== undefined && { running }),
        ...(latest && { wanted: latest.tag }),
        ...(reason !== undefined && { reason }),
        ...(message !== undefined && { message }),
      },
    ]),
  );
}

/** Where the images of each policy run: a page after the other. */
async function readPlaces(viewer: Viewer): Promise<Map<string, Place[]>> {
  interface Answer {
    readonly images: readonly {
      readonly image: string;
      readonly tag?: string;
      readonly wants?: { readonly tag: string };
      readonly state: string;
      readonly policy: { readonly name: string };
    }[];
    readonly next?: string;
  }
  const found: Answer['images'][number][] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: Answer = await ask<Answer>(
      viewer,
      `/images?namespace=${viewer.namespace}&limit=500${after && `&after=${encodeURIComponent(after)}`}`,
    );
    found.push(...page.images);
    after = page.next;
  }
  const groups = Map.groupBy(found, ({ policy }) => policy.name);
  return new Map(
    [...groups].map(([name, list]) => [
      name,
      list.map(({ image, tag, wants, state }) => ({ image, state, ...(tag !== undefined && { tag }), ...(wants && { wants: wants.tag }) })),
    ]),
  );
}

/** The same request again where the process has no room. */
function ask<T>({ operationsUrl, token }: Viewer, path: string): Promise<T> {
  return resend(async () => {
    const response = await fetch(`${operationsUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    const body = (await response.json()) as T & { detail?: string };
    assert.ok(response.ok || response.status === 429 || response.status === 503, `${path}: ${response.status} ${body.detail ?? ''}`);
    return Object.assign(body, { status: response.status });
  });
}

async function readPages({ operationsUrl, cookie, namespace }: Viewer): Promise<Map<string, NonNullable<Views['page']>>> {
  const rows = new Map<string, NonNullable<Views['page']>>();
  for (let path: string | undefined = `/policies?namespace=${namespace}`; path !== undefined;) {
    const response: Response = await fetch(operationsUrl + path, { headers: { cookie, 'accept-language': 'en' }, redirect: 'manual' });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    for (const [row] of text.matchAll(/<tr>(?:(?!<\/tr>).)*<td(?:(?!<\/tr>).)*<\/tr>/gs)) {
      const [, name = ''] = /<\/span>([^<]+)<\/a>/.exec(row) ?? [];
      const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
      const [state = '', images = '', reason = ''] = cells;
      const why = /<span class="reason" title="([^"]*)"/.exec(reason)?.[1];
      // Only what is selected and does not run is shown beside what runs.
      const [running = '', wanted = running] = textOf(images).split(' → ');
      const badge = /<span class="badge[^>]*>(.*?)<\/span>/s.exec(state)?.[1] ?? '';
      rows.set(name, {
        state: textOf(badge),
        running,
        wanted,
        ...(why !== undefined && { why: textOf(why) }),
      });
    }
    path = /<a rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return rows;
}

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity)
    .trim();
}

async function readMetrics({ operationsUrl, namespace }: Viewer): Promise<Map<string, NonNullable<Views['metric']>>> {
  const text = await (await fetch(`${operationsUrl}/metrics`)).text();
  const lines = text.matchAll(/^image_watcher_policy_ready\{(.*)\} (\d)$/gm);
  return new Map(
    [...lines].flatMap(([, labels = '', value]) => {
      const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
      return label('namespace') === namespace ? [[label('name'), { reason: label('reason'), ready: value === '1' }] as const] : [];
    }),
  );
}

async function readEvents({ cluster, namespace }: Viewer): Promise<Map<string, string[]>> {
  const { items } = await cluster.request<{ items: { reason: string; involvedObject: { kind: string; name: string } }[] }>(
    'GET',
    `/api/v1/namespaces/${namespace}/events`,
  );
  const own = items.filter(({ involvedObject: { kind } }) => kind === 'ImagePolicy');
  const groups = Map.groupBy(own, ({ involvedObject: { name } }) => name);
  return new Map([...groups].map(([name, list]) => [name, list.map(({ reason }) => reason)]));
}

async function readExplanation({ cluster, namespace }: Viewer, name: string): Promise<NonNullable<Views['explain']>> {
  const { out, err } = await runCommand('explain', [`${namespace}/${name}`, '-o', 'json', '--kubeconfig', cluster.kubeconfigPath]);
  assert.ok(out !== '', err);
  type Steps = readonly { readonly id: string; readonly result: string; readonly reason?: string }[];
  const { allowed, steps, chains = [] } = JSON.parse(out) as { allowed: boolean; steps: Steps; chains?: { readonly steps: Steps }[] };
  const all = [...steps, ...chains.flatMap((chain) => chain.steps)];
  const isBehind = steps.some(({ id, result, reason }) => id === 'status' && result === 'wait' && reason === undefined);
  return { allowed, reasons: [...new Set(all.flatMap(({ reason }) => reason ?? []))], ...(isBehind && { isBehind }) };
}

async function readRecord(viewer: Viewer, { name, pushed }: Closely): Promise<Views['record']> {
  if (pushed === undefined) return undefined;
  interface Result {
    readonly namespace: string;
    readonly name: string;
    readonly outcome: string;
    readonly reason?: string;
    readonly tag?: string;
    readonly changes?: readonly { readonly to: string }[];
  }
  const path = `/events?repository=${encodeURIComponent(pushed.repository)}&limit=20`;
  const { events } = await ask<{ events: { tag?: string; outcome: string; policies: Result[] }[] }>(viewer, path);
  const event = events.find(({ tag }) => tag === pushed.tag);
  const result = event?.policies.find((one) => one.namespace === viewer.namespace && one.name === name);
  if (result === undefined) return { outcome: event?.outcome ?? 'queued', changes: [] };
  const { outcome, reason, tag, changes = [] } = result;
  return { outcome, ...(reason !== undefined && { reason }), ...(tag !== undefined && { tag }), changes: changes.map(({ to }) => to) };
}
