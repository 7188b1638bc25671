import { describeClusterError, explainClusterError } from '../service/command-line/cluster-errors.ts';
import { defineCommand, paintFor, type Terminal, UsageError } from '../service/command-line/command.ts';
import { readArguments, type ShownKind } from './get/arguments.ts';
import { policyRow, type PolicyRow } from './get/policy-row.ts';
import { countOf, formatTable, print, wrap } from '../service/command-line/output.ts';
import {
  currentNamespace,
  listPolicies,
  metadataOf,
  anyPolicyArgument,
  openPolicy,
  policyOptions,
  resourceNameOf,
  withCluster,
} from '../service/command-line/policy-client.ts';
import { labelOption, readLabel } from '../service/command-line/record-filters.ts';
import { type PolicyName } from '../service/command-line/policy-name.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { baseResource, baseShortName } from '../service/resources/group.ts';
import type { Column } from '../service/resources/kinds.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { summaries } from './summaries.ts';

const options = {
  ...policyOptions,
  'all-namespaces': { short: 'A', about: 'the policies of all namespaces' },
  ...labelOption,
  watch: { short: 'w', about: 'then show every change, until it is interrupted' },
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['text', 'wide', 'json', 'yaml', 'name'],
    about: 'text, wide (with the messages in a column), json, yaml or name (default text)',
  },
} as const;

export const get = defineCommand({
  name: 'get',
  summary: summaries.get,
  about: `Shows policies in the columns of kubectl get, and below one that is not in order the reason and what to do. After the word ${baseShortName} it shows BaseImagePolicies.

Exit codes: 0 also where policies are not Ready, 1 a policy is missing or the cluster does not answer, 2 wrong usage.`,
  arguments: [{ name: 'POLICY', about: anyPolicyArgument.about, multiple: true, completes: 'policy' }],
  options,
  examples: [
    ['get', "the policies of the kubeconfig's namespace"],
    ['get -A -o wide', 'those of all namespaces, with all columns'],
    ['get web --watch', 'one policy, and every change of it'],
    [`get ${baseShortName} -A`, 'the BaseImagePolicies, and how many images are behind'],
  ],
  async run({ output, watch, 'all-namespaces': all, ...values }, args, terminal) {
    const { names, shown } = readArguments(args, values.namespace);
    if (all && (names.length > 0 || values.namespace !== undefined))
      throw new UsageError(`--all-namespaces goes without ${names.length > 0 ? 'the names of policies' : '--namespace'}`);
    if (watch && new Set(names.map(({ namespace }) => namespace)).size > 1)
      throw new UsageError('--watch is for the policies of one namespace, or for all with --all-namespaces');
    if (values.label !== undefined && names.length > 0) throw new UsageError('--label goes without the names of policies');
    const label = values.label === undefined ? undefined : readLabel(values.label);
    const hasLabel = (raw: unknown) => label === undefined || labelsOf(raw)[label.key] === label.value;
    const columns = await shown.columns();
    return withCluster(values, terminal, async (client) => {
      const namespace = all ? undefined : currentNamespace(client, names[0]?.namespace ?? values.namespace);
      const isShown = (raw: unknown) => hasLabel(raw) && (names.length === 0 || names.some(({ name }) => name === metadataOf(raw).name));
      const showNamespace = (all ?? false) || names.some((one) => one.namespace !== values.namespace);
      const found =
        names.length > 0
          ? await readNamed(client, names, terminal)
          : await readAll(client, { namespace, resource: shown.resource, isShown }, terminal);
      const printer = createPrinter({ output, columns, showNamespace, isBase: shown.resource === baseResource }, terminal);
      if (found.raw.length === 0 && found.missing === 0)
        terminal.err(`there are no ${shown.many}${namespace === undefined ? '' : ` in the namespace ${namespace}`}\n`);
      else if (found.raw.length > 0) printer.first(found.raw, names.length === 1);
      if (!watch) return found.missing === 0 ? 0 : 1;
      const { watchPolicies } = await import('./get/watch-policies.ts');
      await watchPolicies(client, namespace, {
        resource: shown.resource,
        signal: terminal.signal,
        known: found.raw,
        onChange: (raw, isGone) => isShown(raw) && printer.change(raw, isGone),
        onError: (error) => terminal.err(`${describeClusterError(error)}; trying again\n`),
      });
      return 0;
    });
  },
});

interface Found {
  readonly raw: readonly unknown[];
  readonly missing: number;
}

async function readAll(
  client: KubeClient,
  {
    namespace,
    resource,
    isShown,
  }: { readonly namespace: string | undefined; readonly resource: ShownKind['resource']; readonly isShown: (raw: unknown) => boolean },
  terminal: Terminal,
): Promise<Found> {
  const raw: unknown[] = [];
  let read = 0;
  const progress = startProgress(terminal, 'listing policies …');
  try {
    for await (const { items, remaining } of listPolicies(client, namespace, terminal.signal, resource)) {
      raw.push(...items.filter(isShown));
      read += items.length;
      progress.update(`listing policies: ${read} of ${read + remaining}`);
    }
  } finally {
    progress.stop();
  }
  return { raw, missing: 0 };
}

/** Reads policies by their names. A missing one is reported, and the others are still returned. */
async function readNamed(client: KubeClient, names: readonly PolicyName[], terminal: Terminal): Promise<Found> {
  const raw: unknown[] = [];
  for (const name of names) {
    try {
      raw.push(await (await openPolicy(client, name)).read());
    } catch (error) {
      terminal.err(`${await explainClusterError(client, error)}\n`);
    }
  }
  return { raw, missing: names.length - raw.length };
}

type Output = 'text' | 'wide' | 'json' | 'yaml' | 'name' | undefined;

interface Printed {
  readonly output: Output;
  /** All columns of the kind. */
  readonly columns: readonly Column[];
  readonly showNamespace: boolean;
  readonly isBase: boolean;
}

/** Creates a printer of policies and their later changes, all in the same columns. */
function createPrinter({ output, columns: known, showNamespace, isBase }: Printed, terminal: Terminal) {
  if (output === 'json' || output === 'yaml') {
    return {
      first(found: readonly unknown[], isOne: boolean) {
        const objects = found.map(withoutManagedFields);
        print(terminal, output, isOne ? objects[0] : { apiVersion: 'v1', kind: 'List', items: objects }, () => '');
      },
      change(raw: unknown, _isGone: boolean) {
        if (output === 'yaml') terminal.out('---\n');
        print(terminal, output, withoutManagedFields(raw), () => '');
      },
    };
  }
  if (output === 'name') {
    const write = (raw: unknown) => terminal.out(`${resourceNameOf(metadataOf(raw).name, isBase)}\n`);
    return { first: (found: readonly unknown[]) => found.forEach(write), change: write };
  }
  const columns = columnsOf(known, output === 'wide', showNamespace);
  let widths: readonly number[] = [];
  const linesOf = (rows: readonly PolicyRow[], heading: readonly (readonly string[])[]) => {
    const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
    const table = [...heading, ...cells];
    widths = columns.map((_, column) => Math.max(widths[column] ?? 0, ...table.map((row) => row[column]?.length ?? 0)));
    const lines = formatTable(table, widths);
    return lines.map((line, index) => decorate(line, rows[index - heading.length], output === 'wide', terminal));
  };
  return {
    first(found: readonly unknown[]) {
      const rows = found.map((raw) => policyRow(raw, known, new Date()));
      terminal.out(`${linesOf(rows, [columns.map(({ heading }) => heading)]).join('\n')}\n`);
      const blocked = rows.filter(({ message }) => message !== undefined).length;
      if (terminal.interactive && rows.length > 1 && blocked > 0)
        terminal.err(`${countOf(rows.length, 'policy', 'policies')}, ${blocked} of them not in order\n`);
    },
    change(raw: unknown, isGone: boolean) {
      const row = policyRow(raw, known, new Date());
      const { message: _, ...rest } = row;
      const deleted = { ...rest, cells: { ...row.cells, Ready: '-', Reason: '(deleted)', Message: '-' } };
      terminal.out(`${linesOf([isGone ? deleted : row], []).join('\n')}\n`);
    },
  };
}

interface ShownColumn {
  readonly heading: string;
  readonly cell: (row: PolicyRow) => string;
}

function columnsOf(columns: readonly Column[], isWide: boolean, showNamespace: boolean): readonly ShownColumn[] {
  const shown = columns.filter(({ priority = 0 }) => isWide || priority === 0);
  return [
    ...(showNamespace ? [{ heading: 'NAMESPACE', cell: ({ namespace }: PolicyRow) => namespace }] : []),
    { heading: 'NAME', cell: ({ name }) => name },
    ...shown.map(({ name }) => ({ heading: name.toUpperCase(), cell: ({ cells }: PolicyRow) => cells[name] ?? '-' })),
  ];
}

/** Colours the line of a row, and appends the problem of the policy, unless a column shows it. */
function decorate(line: string, row: PolicyRow | undefined, isWide: boolean, terminal: Terminal): string {
  const paint = paintFor(terminal);
  if (row === undefined) return paint('bold', line.trimEnd());
  const { cells, message, isStalled } = row;
  const painted = message === undefined ? line.trimEnd() : paint(isStalled ? 'red' : 'yellow', line.trimEnd());
  if (message === undefined || (isWide && Object.values(cells).includes(message))) return painted;
  return [painted, ...wrap(message, (terminal.columns ?? Infinity) - 2).map((part) => paint('dim', `  ${part}`))].join('\n');
}

function labelsOf(raw: unknown): Readonly<Record<string, string | undefined>> {
  return (raw as { metadata?: { labels?: Readonly<Record<string, string>> } }).metadata?.labels ?? {};
}

function withoutManagedFields(raw: unknown): unknown {
  const { metadata, ...rest } = raw as { metadata?: Readonly<Record<string, unknown>> };
  const { managedFields: _, ...shown } = metadata ?? {};
  return { ...rest, metadata: shown };
}
