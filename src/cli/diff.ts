import { readConfig, type Config } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { inParallel } from '../core/async/in-parallel.ts';
import { explainClusterError } from '../service/command-line/cluster-errors.ts';
import { defineCommand, type Terminal, UsageError } from '../service/command-line/command.ts';
import { changesOf, formatChange, type Change } from './diff/changes.ts';
import { configOption } from './explain.ts';
import { planPolicy } from './explain/plan-policy.ts';
import { countOf, outputOption, print } from '../service/command-line/output.ts';
import {
  currentNamespace,
  listPolicies,
  metadataOf,
  openPolicy,
  policyArgument,
  policyOptions,
  withCluster,
} from '../service/command-line/policy-client.ts';
import { readPolicyName, type PolicyName } from '../service/command-line/policy-name.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { summaries } from './summaries.ts';

const maxParallel = 8;
/** The exit code of errors. As with kubectl diff, 1 means differences. */
const failed = 2;

export const diff = defineCommand({
  name: 'diff',
  summary: summaries.diff,
  about: `Shows the images that the next reconcile would write, per workload and container; after a "#", what stays as it is, and why. What the policies select is taken from their status. Changes nothing.

Exit codes, as of kubectl diff: 0 nothing would change, 1 something would, 2 wrong usage, or a policy cannot be evaluated.`,
  arguments: [{ name: 'POLICY', about: policyArgument.about, multiple: true, completes: 'policy' }],
  options: {
    ...policyOptions,
    'all-namespaces': { short: 'A', about: 'the policies of all namespaces' },
    ...configOption,
    ...outputOption,
  },
  examples: [
    ['diff', "all policies of the kubeconfig's namespace"],
    ['diff shop/web', 'one policy'],
  ],
  run({ output, config: file, 'all-namespaces': all, ...values }, args, terminal) {
    if (all && (args.length > 0 || values.namespace !== undefined))
      throw new UsageError(`--all-namespaces goes without ${args.length > 0 ? 'the names of policies' : '--namespace'}`);
    const names = args.map((text) => readPolicyName(text, values.namespace));
    const config = readConfig(processSource(file));
    const act = async (client: KubeClient) => {
      const wanted = names.length > 0 ? names : await listNames(client, all ? undefined : currentNamespace(client, values.namespace));
      const { changes, failures } = await compare(client, wanted, config, terminal);
      print(terminal, output, changes, () => changes.map((change) => formatChange(change, terminal)).join(''));
      for (const error of failures) terminal.err(`${await explainClusterError(client, error)}\n`);
      if (failures.length > 0) return failed;
      return changes.some(({ from }) => from !== undefined) ? 1 : 0;
    };
    return withCluster(values, terminal, act, failed);
  },
});

async function listNames(client: KubeClient, namespace: string | undefined): Promise<PolicyName[]> {
  const names: PolicyName[] = [];
  for await (const { items } of listPolicies(client, namespace)) names.push(...items.map(metadataOf));
  return names;
}

async function compare(client: KubeClient, names: readonly PolicyName[], config: Config, terminal: Terminal) {
  const progress = startProgress(terminal, '');
  let done = 0;
  try {
    const results = await inParallel(names, maxParallel, async (name) => {
      const changes = await planChanges(client, name, config);
      progress.update(`comparing: ${++done} of ${countOf(names.length, 'policy', 'policies')}`);
      return changes;
    });
    return {
      changes: results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
      failures: results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
    };
  } finally {
    progress.stop();
  }
}

async function planChanges(client: KubeClient, name: PolicyName, config: Config): Promise<Change[]> {
  const opened = await openPolicy(client, name);
  return changesOf(`${opened.namespace}/${opened.name}`, await planPolicy(client, await opened.read(), config));
}
