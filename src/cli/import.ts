import { defineCommand, defineGroup, type Terminal, UsageError } from '../service/command-line/command.ts';
import type { Imported, Importer, Sources } from './import/importer.ts';
import { importers } from './import/index.ts';
import { formatImport } from './import/merge-drafts.ts';
import { countOf } from '../service/command-line/output.ts';
import { clusterOptions, withCluster } from '../service/command-line/policy-client.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { summaries } from './summaries.ts';
import { namespaceOption } from '../service/command-line/usual-options.ts';

const options = {
  namespace: namespaceOption(
    'of one namespace only; all unless given. With FILE: the namespace of objects that name none (default "default")',
  ),
  'all-namespaces': { short: 'A', about: 'of all namespaces, which is the default' },
  ...clusterOptions,
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['yaml', 'json'],
    about:
      'yaml, for kubectl apply (default), or json: {"policies": [{"policy", "notes"}], "skipped": [{"object", "problem"}], "remarks": []}',
  },
} as const;

/** Creates the command `image-watcher import ID` of an importer. */
function importCommandOf(importer: Importer) {
  const { id, summary, about, examples } = importer;
  return defineCommand({
    name: `import ${id}`,
    summary,
    about: `${about} Changes nothing.

Exit codes: 0 all carried over, 1 not all, or no answer, 2 wrong usage.`,
    arguments: [
      {
        name: 'FILE',
        about: 'files or folders instead of the cluster; - is the standard input',
        multiple: true,
        completes: 'file',
      },
    ],
    options,
    examples: examples.map(([line, what]) => [`import ${id} ${line}`, what] as const),
    async run({ output, namespace, 'all-namespaces': all, ...values }, paths, terminal) {
      if (paths.length > 0) {
        if (all) throw new UsageError('--all-namespaces is for the cluster: leave out either it or the files');
        const { readFiles } = await import('./import/read-files.ts');
        const assumedNamespace = namespace ?? 'default';
        const objects = await readFiles(paths, assumedNamespace, terminal);
        return show(importer, { objects, areFiles: true, assumedNamespace }, output, terminal);
      }
      return withCluster(values, terminal, async (client) => {
        const { listObjects } = await import('./import/list-objects.ts');
        const progress = startProgress(terminal, 'reading the cluster …');
        const listed = listObjects(client, importer.kinds, all ? undefined : namespace, terminal.signal);
        return show(importer, { objects: await listed.finally(progress.stop), areFiles: false }, output, terminal);
      });
    },
  });
}

export const importCommand = defineGroup({
  name: 'import',
  summary: summaries.import,
  about: 'Converts the settings of another updater into policies.',
  commands: importers.map(importCommandOf),
});

function show(importer: Importer, sources: Sources, output: 'yaml' | 'json' | undefined, terminal: Terminal): number {
  const imported = importer.convert(sources);
  terminal.out(output === 'json' ? `${JSON.stringify(imported, undefined, 2)}\n` : formatImport(imported));
  terminal.err(`${summarize(importer, imported)}\n`);
  return imported.skipped.length === 0 ? 0 : 1;
}

function summarize({ nothing }: Importer, { policies, skipped }: Imported): string {
  if (policies.length + skipped.length === 0) return nothing;
  const targets = policies.reduce((sum, { policy }) => sum + policy.spec.targets.length, 0);
  const written = `${countOf(policies.length, 'policy', 'policies')} with ${countOf(targets, 'target')}`;
  return `${written}; ${skipped.length} not carried over`;
}
