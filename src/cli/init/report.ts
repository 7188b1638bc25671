/** The output of `init`: YAML with comments, and an overview for people. */
import type { Terminal } from '../../service/command-line/command.ts';
import { paintFor } from '../../service/command-line/command.ts';
import { countOf, fit, formatTable } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { formatPolicies } from '../../service/command-line/policy-documents.ts';
import type { LeftOut, Mode, Proposals } from './propose-policies.ts';

/** Merges the entries that are left out for the same reason. */
export function mergeLeftOut(leftOut: readonly LeftOut[]): LeftOut[] {
  return [...Map.groupBy(leftOut, ({ image, why }) => JSON.stringify([image, why])).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, workloads: [...new Set(same.flatMap(({ workloads }) => workloads))] }];
  });
}

const whatModesDo: Readonly<Record<Mode, string>> = {
  Approval:
    'Nothing changes when these policies are applied: each update waits for "image-watcher approve". Remove "mode: Approval" from a policy to have its updates applied at once.',
  DryRun:
    'These policies change nothing: their status says what they would do. Remove "mode: DryRun" from a policy to have its updates applied.',
  Automatic: 'These policies change workloads as soon as they are applied: "image-watcher init --mode Automatic --diff" shows what.',
};

/** The proposed policies as YAML for `kubectl apply`. */
export function formatProposals({ policies, leftOut }: Proposals, mode: Mode): string {
  const remarks = [whatModesDo[mode], ...leftOut.map((one) => `Left out: ${describeLeftOut(one)}`)];
  const written = policies.map(({ runs, notes, ...policy }) => ({ ...policy, notes: [`Runs now: ${runs.join(', ')}.`, ...notes] }));
  return formatPolicies(written, policies.length === 0 ? remarks.slice(1) : remarks);
}

function describeLeftOut({ image, workloads, why }: LeftOut): string {
  return `${image} of ${workloads.join(', ')}: ${why}`;
}

const widestImage = 60;

/** A table of the policies, and the images that are left out. */
export function formatOverview({ policies, leftOut }: Proposals, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const rows = policies.map(({ policy: { metadata, spec }, runs, selects = '?' }) => [
    `${metadata.namespace}/${metadata.name}`,
    shorten(spec.image),
    runs.join(', '),
    describeSelect(spec.select),
    selects,
  ]);
  const table = [['POLICY', 'IMAGE', 'RUNS', 'SELECTS', 'NOW'], ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = formatTable(table, widths).map((line) => line.trimEnd());
  const out = leftOut.map((one) => paint('dim', fit(printable(`left out: ${describeLeftOut(one)}`), terminal)));
  return [...(rows.length === 0 ? [] : lines), ...out].map((line) => `${line}\n`).join('');
}

function shorten(image: string): string {
  return image.length > widestImage ? `…${image.slice(1 - widestImage)}` : image;
}

function describeSelect(select: Proposals['policies'][number]['policy']['spec']['select']): string {
  if (select.semver !== undefined) return select.semver.range ?? '*';
  if (select.digest !== undefined) return `digest of ${select.digest.tag}`;
  return Object.keys(select)[0] ?? '';
}

/** A summary: `37 policies for 41 workloads; 5 left out`. */
export function summarize({ policies, leftOut }: Proposals): string {
  const targets = policies.reduce((sum, { policy }) => sum + policy.spec.targets.length, 0);
  return `${countOf(policies.length, 'policy', 'policies')} with ${countOf(targets, 'target')}; ${leftOut.length} left out`;
}
