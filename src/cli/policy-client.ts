import { plural } from '../api-versions/group.ts';
import { apiVersion } from '../api-versions/v1.ts';
import { kubeconfigOf, processSource } from '../config.ts';
import { describeError } from '../model/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { UsageError, type Terminal } from './command.ts';
import { parseOptions, parseOutput } from './options.ts';

/** How commands reach the policies in the cluster, with the caller's own rights; the same for all of them. */
export const policyOptions = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

/** The lines of `--help` on them. */
export const policyHelp = `  --kubeconfig  the cluster and who you are; else that of KUBECONFIG, else the one this runs in, else ~/.kube/config
  --context     another context of the kubeconfig than its current one
  --output      text or json
`;

/** Who writes what commands write, in managedFields. */
export const cliFieldManager = 'image-watcher-cli';

/** One policy in the cluster. */
export interface PolicyClient {
  readonly namespace: string;
  readonly name: string;
  readonly client: KubeClient;
  /** The raw object; throws NoPolicy where there is none. */
  read(): Promise<unknown>;
  /** Merges this into the object. */
  patch(body: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** What is said of a policy that is not there. */
class NoPolicyError extends Error {
  override readonly name = 'NoPolicyError';
}

/** `NS/NAME`, alone or before other arguments; throws UsageError. */
export function policyNameOf(
  positionals: readonly string[],
  maxOthers = 0,
): { namespace: string; name: string; others: readonly string[] } {
  const [first = '', ...others] = positionals;
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(first) ?? [];
  if (namespace === undefined || name === undefined || others.length > maxOthers) {
    throw new UsageError(`say which policy: NAMESPACE/NAME${first === '' ? '' : `, not "${positionals.join(' ')}"`}`);
  }
  return { namespace, name, others };
}

interface ClusterValues {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Does something with the cluster, with the caller's rights; what fails is told, with exit code 1. */
export async function withCluster(
  values: ClusterValues,
  terminal: Terminal,
  act: (client: KubeClient) => Promise<number>,
): Promise<number> {
  const kubeconfig = values.kubeconfig ?? kubeconfigOf(processSource());
  const { context } = values;
  // Loaded only now: help should not wait for the Kubernetes client.
  const { createKubeClient } = await import('../kube/client.ts');
  try {
    const client = createKubeClient({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) });
    try {
      return await act(client);
    } finally {
      await client.close();
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    terminal.err(`${describeError(error)}\n`);
    return 1;
  }
}

/** The same with a policy. */
export async function withPolicy(
  { namespace, name }: { namespace: string; name: string },
  values: ClusterValues,
  terminal: Terminal,
  act: (policy: PolicyClient) => Promise<number>,
): Promise<number> {
  const { objectPath, readObject } = await import('../kube/objects.ts');
  return withCluster(values, terminal, (client) => {
    const path = objectPath({ apiVersion, resource: plural }, namespace, name);
    return act({
      namespace,
      name,
      client,
      async read() {
        const raw = await readObject<unknown>(client, path);
        if (raw === undefined) throw new NoPolicyError(`there is no ImagePolicy ${namespace}/${name}`);
        return raw;
      },
      patch: (body) =>
        client.request({
          method: 'PATCH',
          path,
          query: { fieldManager: cliFieldManager },
          contentType: 'application/merge-patch+json',
          body,
        }),
    });
  });
}

/** Tells what was done: a sentence, or an object for programs. */
export function tell(terminal: Terminal, output: 'text' | 'json', sentence: string, fields: Readonly<Record<string, unknown>>): void {
  terminal.out(output === 'json' ? `${JSON.stringify(fields)}\n` : `${sentence}\n`);
}

/** The options of a command that has no others, and its policy. */
export function parsePolicyCommand(args: readonly string[], maxOthers = 0) {
  const { values, positionals } = parseOptions(args, policyOptions);
  return { values, output: parseOutput(values.output), ...policyNameOf(positionals, maxOthers) };
}

/** `status` of a raw object. */
export function statusOf(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'status' in raw ? raw.status : undefined;
}
