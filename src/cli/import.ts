import { kubeconfigOf, processSource } from '../config.ts';
import { describeError } from '../model/errors.ts';
import { type Command, parseOptions, type Terminal, UsageError } from './command.ts';
import { convertAll, formatImport, type KeelImport } from './import/keel/convert-all.ts';
import type { KeelWorkload } from './import/keel/workload.ts';

const options = {
  namespace: { type: 'string', short: 'n' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

/** `image-watcher import keel`. */
export const importCommand: Command = {
  name: 'import',
  summary: 'convert the settings of another updater into policies',
  help: `Usage: image-watcher import keel [--namespace NAMESPACE] [--kubeconfig FILE] [--context NAME] [--output yaml|json]

Reads the labels and annotations of Keel (keel.sh/policy and others) on Deployments, StatefulSets, DaemonSets and
CronJobs, and prints ImagePolicies that do the same, with comments on what is different. Changes nothing.

  --namespace   of one namespace only; all unless given
  --kubeconfig  the cluster; else that of KUBECONFIG, else the one this runs in, else ~/.kube/config
  --context     another context of the kubeconfig than its current one
  --output      yaml, for kubectl apply, or json: {"policies": [{"policy", "notes"}], "skipped": [{"workload", "problem"}]}

Exit codes: 0 everything was carried over, 1 something was not, or the cluster does not answer, 2 wrong usage.
`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = values.output ?? 'yaml';
    if (output !== 'yaml' && output !== 'json') throw new UsageError(`--output is yaml or json, not "${output}"`);
    if (positionals.join(' ') !== 'keel') throw new UsageError('name what to import: "import keel"');
    let workloads: KeelWorkload[];
    try {
      workloads = await readCluster(values);
    } catch (error) {
      terminal.err(`reading the workloads failed: ${describeError(error)}\n`);
      return 1;
    }
    const imported = convertAll(workloads);
    if (output === 'json') terminal.out(`${JSON.stringify(imported, undefined, 2)}\n`);
    else terminal.out(formatImport(imported));
    summarize(imported, terminal);
    return imported.skipped.length === 0 ? 0 : 1;
  },
};

interface ClusterValues {
  readonly namespace?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

async function readCluster({ namespace, kubeconfig = kubeconfigOf(processSource()), context }: ClusterValues): Promise<KeelWorkload[]> {
  // Loaded only now: help should not wait for the Kubernetes client.
  const [{ createKubeClient }, { listWorkloads }] = await Promise.all([import('../kube/client.ts'), import('./import/keel/workload.ts')]);
  const client = createKubeClient({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) });
  try {
    return await listWorkloads(client, namespace);
  } finally {
    await client.close();
  }
}

function summarize({ policies, skipped }: KeelImport, terminal: Terminal): void {
  const targets = policies.reduce((sum, { policy }) => sum + policy.spec.targets.length, 0);
  if (policies.length + skipped.length === 0) terminal.err('no workload has settings of Keel\n');
  else terminal.err(`${policies.length} policies with ${targets} targets; ${skipped.length} not carried over\n`);
}
