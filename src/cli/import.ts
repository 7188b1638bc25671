import { defineCommand, defineGroup, type Terminal } from './command.ts';
import { convertAll, formatImport, type KeelImport } from './import/keel/convert-all.ts';
import { countOf } from './output.ts';
import { clusterOptions, withCluster } from './policy-client.ts';
import { startProgress } from './progress.ts';
import { summaries } from './summaries.ts';

/** `image-watcher import keel`. */
const importKeel = defineCommand({
  name: 'import keel',
  summary: "convert Keel's labels and annotations into policies",
  about: `Reads the labels and annotations of Keel (keel.sh/policy and others) on Deployments, StatefulSets, DaemonSets and CronJobs, and prints ImagePolicies that do the same, with comments on what is different. Changes nothing.

Exit codes: 0 everything was carried over, 1 something was not, or the cluster does not answer, 2 wrong usage.`,
  options: {
    namespace: { short: 'n', value: 'NAMESPACE', completes: 'namespace', about: 'of one namespace only; all unless given' },
    'all-namespaces': { short: 'A', about: 'of all namespaces, which is the default' },
    ...clusterOptions,
    output: {
      short: 'o',
      value: 'FORMAT',
      choices: ['yaml', 'json'],
      about: 'yaml, for kubectl apply (default), or json: {"policies": [{"policy", "notes"}], "skipped": [{"workload", "problem"}]}',
    },
  },
  examples: [['import keel > policies.yaml', 'write policies for all workloads that Keel updates']],
  run: ({ output, namespace, 'all-namespaces': all, ...values }, _args, terminal) =>
    withCluster(values, terminal, async (client) => {
      const { listWorkloads } = await import('./import/keel/workload.ts');
      const progress = startProgress(terminal, 'reading workloads …');
      const imported = convertAll(await listWorkloads(client, all ? undefined : namespace).finally(progress.stop));
      if (output === 'json') terminal.out(`${JSON.stringify(imported, undefined, 2)}\n`);
      else terminal.out(formatImport(imported));
      summarize(imported, terminal);
      return imported.skipped.length === 0 ? 0 : 1;
    }),
});

/** `image-watcher import`. */
export const importCommand = defineGroup({
  name: 'import',
  summary: summaries.import,
  about: 'Converts the settings of another updater into policies.',
  commands: [importKeel],
});

function summarize({ policies, skipped }: KeelImport, terminal: Terminal): void {
  const targets = policies.reduce((sum, { policy }) => sum + policy.spec.targets.length, 0);
  if (policies.length + skipped.length === 0) terminal.err('no workload has settings of Keel\n');
  else
    terminal.err(
      `${countOf(policies.length, 'policy', 'policies')} with ${countOf(targets, 'target')}; ${skipped.length} not carried over\n`,
    );
}
