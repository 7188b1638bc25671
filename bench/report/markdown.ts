/** docs/benchmarks.md, with its pictures and raw numbers in docs/benchmarks, made of results alone. */
import type { Figure, Row, RowResult } from '../rows/row.ts';
import { pictureOf } from './picture.ts';

/** One row, measured or failed. */
export interface Measured {
  readonly row: Pick<Row, 'id' | 'title'>;
  readonly result: RowResult | { readonly failed: string };
  readonly seconds: number;
}

const introduction = `# Benchmarks

This page shows how fast image-watcher is, compared with a minimal implementation. To measure all of it, or one part, which \`--write\` puts on this page:

\`\`\`sh
npm run bench
npm run bench -- latency
\`\`\`

Absolute times mean little on another machine: what counts are the
ratios to the *floor*, which is measured in the same run, alternating with the product.

The floor (\`bench/floor/floor.ts\`) is a minimal script that does only what the job requires: POST → one durable write to Redis → 202 → blocking pop →
HEAD of the manifest → JSON Patch over a kept-alive connection. It checks nothing, retries nothing, reports nothing, and loses its work when it is killed.
The product verifies, decides, guards, reports and survives a kill. Both use the same Redis (\`appendfsync always\`), etcd (with fsync), API server and registry, all of
them real, on loopback and on the same cores.
`;

const explanation = `## What the figures mean

- **burst**: on cores that are shared with the API server, the cost of writing statuses dominates. *The floor with the smallest status* is the same script that also writes \`lastAppliedTag\` into the status of an ImagePolicy: the fastest possible
  result for any service that reports what it did. A whole status (conditions, targets, ten changes) costs kube-apiserver 1.36 four to five times a patch of a Deployment (1.3 ms of CPU), because it validates and encodes the whole object for each write. With the older seven changes as texts, it costs 12 % less than with fields for all ten
  (written alone, 1,000 of each in turns, on 2026-11-24), and as one value for field management 10 % less again (7,000 of each, on 2026-11-25). If the API server runs on its own machines, the service does not spend this time.
- **back-to-back**: each turn has ten pushes, and then a pause in which statuses and Events are written; its processor time contains these.
  When its turn comes again, the watch of policies has been quiet for 3 s, so each push also costs a request that confirms its policy.
- **burst** and **fan-out**: images are patched first, and statuses are written later. *As seen on a watch* is the time until the last image change was seen, with a service that also writes statuses. One policy with a selector needs one plan for all its workloads; 200 policies share one job and one question to the registry, and need 200 plans and guard runs.
- **processor time** is that of all threads of a process. Of an update in a burst, a third is spent on V8's own threads, which collect garbage and compile, and a quarter on system calls.
- **replicas**: on two cores, more processes share the same cores, and each worker watches everything: three of each are for a failure of a node, and for clusters whose API server, Redis and workers have cores of their own. [Scale](scale.md) computes what they then carry.
- **webhooks**: the difference to the floor is necessary work: authenticating the sender, parsing and normalising the payload, deriving a stable id, a deadline, metrics.
- **memory** is RSS, with the options of the container image, which \`serve\` also takes by itself; 62 MB of it are mapped from Node's own executable, which all processes of a machine share. 10,000 policies and 10,000 Deployments take about 35 MB.
- **scale** ends at 10,000 others; [scale](scale.md) goes on to 100,000.
- **unwatched**: what stores a push costs about as much as what takes it from the queue, so the floor of webhooks is the measure.
- **bases**: half of the images need two requests (the manifest by its tag, and the configuration), the others two more for attestations; those of the bases themselves are counted, too. Measured while other work took most of both cores: on idle ones of the same machine, the first workload was changed after 0.54 s. Memory counts at rest, after a minute without work, when the service has collected its garbage.
- **commands**: on cores that are shared with other work, seconds are high, and the ratios to an empty script say more. The second start and all later ones find what Node compiled in the user's cache; the package of npm
  and the executable also need no time to take types off. A kubeconfig with an exec plugin costs the plugin and, in a checkout, @kubernetes/client-node besides.
- **tabs**: the floor is the same process without an open page. Changes are announced to pages as often as 3 % of a core allows. What reads the pages is a process with the lowest priority on the same two cores, as it would run on other machines.
  Before readings were shared, one cost 54 ms of CPU on the same machine, and each page wanted one every second: 20 pages were read every 9 s, and with 100 the service did not answer any more.
  The p99 of 1,200 pushes scatters by some 5 ms between runs.
`;

/** The page, and the files beside it by their names in `benchmarks/`. */
export interface Report {
  readonly page: string;
  readonly files: ReadonlyMap<string, string>;
}

/** What was measured on: the machine, and the versions of the servers, by their names. */
type Facts = Readonly<Record<string, string>>;

/** The whole page. */
export function formatReport(machine: Facts, date: string, measured: readonly Measured[]): Report {
  const files = new Map(measured.flatMap(filesOf));
  const sections = measured.map((one) => sectionOf(one, `on ${date}`, files));
  return { page: joinPage(listFacts(machine), sections), files };
}

/**
 * The page with some parts measured again, or for the first time; `order` are the ids of all rows. A ratio is of one run, so parts may be of other days than the
 * rest, and each says where its machine was another one.
 */
export function updateReport(page: string, machine: Facts, date: string, measured: readonly Measured[], order: readonly string[]): Report {
  const facts = page.split('\n').filter((line) => line.startsWith('- ') && page.indexOf(line) < page.indexOf('\n## '));
  const others = listFacts(machine).filter((line) => !facts.includes(line));
  const when = `on ${date}${others.map((line) => `, ${line.slice(2)}`).join('')}`;
  const files = new Map(measured.flatMap(filesOf));
  const sections = new Map(page.split(/^(?=## )/m).map((text) => [/^## (.*)/.exec(text)?.[1] ?? '', text]));
  for (const one of measured) sections.set(one.row.id, sectionOf(one, when, files));
  return {
    page: joinPage(
      facts,
      order.flatMap((id) => sections.get(id) ?? []),
    ),
    files,
  };
}

function listFacts(machine: Facts): string[] {
  return Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
}

function joinPage(facts: readonly string[], sections: readonly string[]): string {
  const legend = 'In the pictures, grey is the floor, and blue the product.';
  const page = [introduction, facts.join('\n'), explanation, legend, ...sections].join('\n\n').replaceAll(/\n{3,}/g, '\n\n');
  return `${page.trimEnd()}\n`;
}

function sectionOf(one: Measured, when: string, files: Report['files']): string {
  return `${formatRow(one)}\n${linksTo(one, when, files)}`;
}

/** One part of it, without what is in files. */
export function formatRow({ row, result }: Measured): string {
  const head = `## ${row.id}\n\n${row.title}\n`;
  return 'failed' in result ? `${head}\nNot measured: ${result.failed}\n` : `${head}\n${formatTable(result.figures)}\n`;
}

function filesOf({ row, result }: Measured): [name: string, text: string][] {
  if ('failed' in result) return [];
  const json = JSON.stringify(result.raw, (_, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(2)) : value));
  const picture = pictureOf(row.title, result.figures);
  return [[`${row.id}.json`, `${json}\n`], ...(picture === undefined ? [] : [[`${row.id}.svg`, picture] as [string, string]])];
}

function linksTo({ row, seconds }: Measured, when: string, files: Report['files']): string {
  const picture = files.has(`${row.id}.svg`) ? `![The table above as bars](benchmarks/${row.id}.svg)\n\n` : '';
  return files.has(`${row.id}.json`)
    ? `${picture}[Raw numbers](benchmarks/${row.id}.json), measured in ${Math.round(seconds)} s ${when}.\n`
    : picture;
}

function formatTable(figures: readonly Figure[]): string {
  const lines = figures.map(({ name, floor, product, unit, ratio, target, reached }) => [
    name,
    floor === undefined ? '' : formatNumber(floor, unit),
    formatNumber(product, unit),
    ratio === undefined ? '' : ratio.toFixed(2),
    target ?? '',
    reached === undefined ? '' : reached ? 'yes' : '**no**',
  ]);
  return [['', 'floor', 'product', 'ratio', 'to reach', 'reached'], ['---', '--:', '--:', '--:', '---', '---'], ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function formatNumber(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits)).toLocaleString('en')} ${unit}`.trim();
}
