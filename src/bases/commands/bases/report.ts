/** What `image-watcher bases` shows: data for programs, a table for people. Pure. */
import { baseState, type BaseState } from '../../recognize/recognize-base.ts';
import type { RecognizedBy } from '../../recognize/facts.ts';
import { formatRepository, type Repository } from '../../../core/model/image-reference.ts';
import { naturalOrder } from '../../../core/select/select-tag.ts';
import { paintFor, type Terminal } from '../../../service/command-line/command.ts';
import { countOf, fit, formatAge, formatTable } from '../../../service/command-line/output.ts';
import { printable } from '../../../service/command-line/printable.ts';
import type { SelectedBase } from './find-versions.ts';
import type { ExaminedImage } from './resolve-images.ts';

/** The images that are built on a base, or may be. */
export interface BasesReport {
  readonly base: SelectedBase & { readonly repository: string };
  readonly images: readonly ImageRow[];
  readonly summary: Readonly<Record<'images' | 'current' | 'behind' | 'unknown' | 'unrelated', number>>;
}

interface ImageRow {
  readonly image: string;
  readonly digest?: string;
  readonly state: BaseState;
  readonly base?: { readonly tag?: string; readonly digest: string };
  /** When the selected version was created, if the image is behind it. */
  readonly behindSince?: string;
  readonly recognizedBy?: RecognizedBy;
  /** Why its base is unknown, or what limits the recognition. */
  readonly reason?: string;
  readonly workloads: readonly string[];
}

const order: readonly BaseState[] = ['Behind', 'Unknown', 'Current'];

/** Those that are behind come first. */
export function summarize(base: Repository, selected: SelectedBase, examined: readonly ExaminedImage[]): BasesReport {
  const images = examined
    .flatMap((one) => rowOf(one, selected))
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || naturalOrder(a.image, b.image));
  const count = (wanted: BaseState) => images.filter(({ state }) => state === wanted).length;
  return {
    base: { repository: formatRepository(base), ...selected },
    images,
    summary: {
      images: examined.length,
      current: count('Current'),
      behind: count('Behind'),
      unknown: count('Unknown'),
      unrelated: examined.length - images.length,
    },
  };
}

function rowOf({ image: { name: image, digest, workloads }, recognition }: ExaminedImage, selected: SelectedBase): ImageRow[] {
  const state = baseState(recognition, selected);
  if (state === undefined || recognition.kind === 'unrelated') return [];
  const { reason } = recognition;
  const row = { image, ...(digest !== undefined && { digest }), state, ...(reason !== undefined && { reason }), workloads };
  if (recognition.kind === 'unknown') return [row];
  const { tag, digest: version } = recognition.base;
  const since = state === 'Behind' && selected.created !== undefined ? { behindSince: selected.created } : {};
  return [{ ...row, base: { ...(tag !== undefined && { tag }), digest: version }, ...since, recognizedBy: recognition.by }];
}

const colours = { Behind: 'yellow', Unknown: 'gray', Current: 'green' } as const;
/** `sha256:` and twelve digits. */
const shortDigest = 19;

interface View {
  /** With digests, all workloads, and reasons. */
  readonly isWide: boolean;
  readonly now: Date;
}

/** The selected base, a row for each image, and the counts. Where a terminal is too narrow, workloads are below their images. */
export function formatBases({ base, images, summary }: BasesReport, { isWide, now }: View, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const age = base.created === undefined ? '' : `, created ${formatAge(new Date(base.created), now)} ago`;
  const head = `selected base: ${base.repository}:${base.tag} (${base.digest.slice(0, shortDigest)}${age})`;
  const { behind, unknown, unrelated } = summary;
  const counts = `${countOf(summary.images, 'image')}, ${behind} behind, ${unknown} unknown, ${unrelated} not built on it`;
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

/** `3: Deployment shop/web, …`. */
function firstOf(workloads: readonly string[]): string {
  return `${workloads.length}: ${workloads[0] ?? ''}${workloads.length > 1 ? ', …' : ''}`;
}
