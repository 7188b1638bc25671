/** What `image-watcher bases` shows: data for programs, a table for people. Pure. */
import { defined } from '../../../core/model/defined.ts';
import type { BaseState } from '../../recognize/recognize-base.ts';
import type { RecognizedBy } from '../../recognize/facts.ts';
import { formatRepository, type Repository } from '../../../core/model/image-reference.ts';
import { naturalOrder } from '../../../core/select/select-tag.ts';
import { paintFor, type Terminal } from '../../../service/command-line/command.ts';
import { countOf, fit, formatAge, formatTable } from '../../../service/command-line/output.ts';
import { printable } from '../../../service/command-line/printable.ts';
import type { Examined } from './examine.ts';
import type { SelectedBase } from './find-versions.ts';
import type { JudgedImage } from './resolve-images.ts';

/** The images that are built on a base, or may be. */
export interface BasesReport {
  readonly base: SelectedBase & { readonly repository: string };
  readonly images: readonly ImageRow[];
  readonly summary: Readonly<Record<'images' | 'current' | 'behind' | 'otherLine' | 'unknown' | 'unrelated' | 'uncomparedTags', number>>;
}

interface ImageRow {
  readonly image: string;
  readonly digest?: string;
  readonly state: BaseState;
  readonly base?: { readonly tag?: string; readonly digest: string };
  /** When the selected version was created; present if the image is behind it. */
  readonly behindSince?: string;
  readonly recognizedBy?: RecognizedBy;
  /** Why the base of the image is unknown, or what limits the recognition. */
  readonly reason?: string;
  readonly workloads: readonly string[];
}

const order: readonly BaseState[] = ['Behind', 'Unknown', 'OtherLine', 'Current'];

/** The report on the images of a base. Images that are behind come first. */
export function summarize(base: Repository, { selected, judged, uncompared }: Examined): BasesReport {
  const images = judged
    .flatMap((one) => rowOf(one, selected))
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || naturalOrder(a.image, b.image));
  const count = (wanted: BaseState) => images.filter(({ state }) => state === wanted).length;
  return {
    base: { repository: formatRepository(base), ...selected },
    images,
    summary: {
      images: judged.length,
      current: count('Current'),
      behind: count('Behind'),
      otherLine: count('OtherLine'),
      unknown: count('Unknown'),
      unrelated: judged.length - images.length,
      uncomparedTags: uncompared,
    },
  };
}

function rowOf({ image: { name: image, digest, workloads }, recognition, state }: JudgedImage, selected: SelectedBase): ImageRow[] {
  if (state === undefined || recognition.kind === 'unrelated') return [];
  const { reason } = recognition;
  const row = { image, ...defined({ digest }), state, ...defined({ reason }), workloads };
  if (recognition.kind === 'unknown') return [row];
  const {
    tags: [tag],
    digest: version,
  } = recognition.base;
  const since = state === 'Behind' && selected.created !== undefined ? { behindSince: selected.created } : {};
  return [{ ...row, base: { ...defined({ tag }), digest: version }, ...since, recognizedBy: recognition.by }];
}

const colours = { Behind: 'yellow', Unknown: 'gray', OtherLine: 'gray', Current: 'green' } as const;
/** The length of `sha256:` and twelve digits. */
const shortDigest = 19;

interface View {
  /** Whether the table shows digests, all workloads, and reasons. */
  readonly isWide: boolean;
  readonly now: Date;
}

/** The selected base, a row for each image, and the counts. If the terminal is too narrow, workloads are below their images. */
export function formatBases({ base, images, summary }: BasesReport, { isWide, now }: View, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const age = base.created === undefined ? '' : `, created ${formatAge(new Date(base.created), now)} ago`;
  const head = `selected base: ${base.repository}:${base.tag} (${base.digest.slice(0, shortDigest)}${age})`;
  const { behind, otherLine, unknown, unrelated, uncomparedTags } = summary;
  const others = otherLine === 0 ? '' : `, ${otherLine} on another line of versions`;
  const uncompared = uncomparedTags === 0 ? '' : `\n${countOf(uncomparedTags, 'tag')} of the base not compared: see --tags`;
  const counts = `${countOf(summary.images, 'image')}, ${behind} behind${others}, ${unknown} unknown, ${unrelated} not built on it${uncompared}`;
  if (images.length === 0) return `${printable(head)}\n${counts}\n`;

  const columns = columnsOf({ isWide, now });
  const full = tableOf(images, columns);
  const isNarrow = !isWide && Math.max(...full.map(({ length }) => length)) > (terminal.columns || Infinity);
  const [heading = '', ...lines] = isNarrow
    ? tableOf(
        images,
        columns.filter(({ heading }) => heading !== 'WORKLOADS'),
      )
    : full;
  const rows = images.flatMap(({ state, workloads, reason }, index) => [
    (lines[index] ?? '').replace(`  ${state}`, `  ${paint(colours[state], state)}`),
    ...(isNarrow ? [paint('dim', printable(`  ${firstOf(workloads)}`))] : []),
    ...(isWide && reason !== undefined ? [paint('dim', fit(`  ${printable(reason)}`, terminal))] : []),
  ]);
  return `${printable(head)}\n\n${[paint('bold', heading), ...rows].join('\n')}\n\n${counts}\n`;
}

interface Column {
  readonly heading: string;
  readonly cell: (row: ImageRow) => string;
}

function columnsOf({ isWide, now }: View): readonly Column[] {
  return [
    { heading: 'IMAGE', cell: ({ image }) => image },
    ...(isWide ? [{ heading: 'DIGEST', cell: ({ digest }: ImageRow) => digest?.slice(0, shortDigest) ?? '-' }] : []),
    { heading: 'WORKLOADS', cell: ({ workloads }) => (isWide ? workloads.join(', ') : firstOf(workloads)) },
    { heading: 'BASE', cell: ({ base }) => base?.tag ?? base?.digest.slice(0, shortDigest) ?? '-' },
    { heading: 'STATE', cell: ({ state }) => state },
    { heading: 'BEHIND SINCE', cell: ({ behindSince }) => (behindSince === undefined ? '-' : formatAge(new Date(behindSince), now)) },
    { heading: 'RECOGNIZED BY', cell: ({ recognizedBy = '-' }) => recognizedBy },
  ];
}

function tableOf(images: readonly ImageRow[], columns: readonly Column[]): string[] {
  const cells = [columns.map(({ heading }) => heading), ...images.map((row) => columns.map(({ cell }) => printable(cell(row))))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return formatTable(cells, widths).map((line) => line.trimEnd());
}

/** The number of workloads and the first of them: `3: Deployment shop/web, …`. */
function firstOf(workloads: readonly string[]): string {
  return `${workloads.length}: ${workloads[0] ?? ''}${workloads.length > 1 ? ', …' : ''}`;
}
