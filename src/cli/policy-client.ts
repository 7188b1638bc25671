import { plural } from '../api-versions/group.ts';
import { apiVersion } from '../api-versions/v1.ts';
import { kubeconfigOf, processSource } from '../config.ts';
import { describeError } from '../model/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { parseOptions, parseOutput, type Terminal, UsageError } from './command.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonLinks } from './reason-links.ts';
import { readStatus, type PolicyStatus } from '../model/policy-status.ts';

/** The options of every command that accesses policies in the cluster, with the caller's own rights. */
export const policyOptions = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

/** Their lines of `--help`. */
export const policyHelp = `  --kubeconfig  the kubeconfig; default: KUBECONFIG, then the service account of the pod, then ~/.kube/config
  --context     a context of the kubeconfig other than the current one
  --output      text or json
`;

/** The field manager of what commands write. */
export const cliFieldManager = 'image-watcher-cli';

/** One policy in the cluster. */
export interface PolicyClient {
  readonly namespace: string;
  readonly name: string;
  readonly client: KubeClient;
  /** The raw object; throws if it does not exist. */
  read(): Promise<unknown>;
  /** Applies a merge patch to the object. */
  patch(body: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Parses `NS/NAME` and up to `maxOthers` further arguments; throws UsageError. */
export function policyNameOf(
  positionals: readonly string[],
  maxOthers = 0,
): { namespace: string; name: string; others: readonly string[] } {
  const [first = '', ...others] = positionals;
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(first) ?? [];
  if (namespace === undefined || name === undefined || others.length > maxOthers) {
    throw new UsageError(`name the policy: NAMESPACE/NAME${first === '' ? '' : `, not "${positionals.join(' ')}"`}`);
  }
  return { namespace, name, others };
}

interface ClusterValues {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Runs a command against the cluster, with the caller's rights; prints an error and returns exit code 1 if it fails. */
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

/** Runs a command on one policy. */
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
        if (raw === undefined) throw new Error(`there is no ImagePolicy ${namespace}/${name}`);
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

/** Prints the result: a sentence, or an object for programs. */
export function printResult(
  terminal: Terminal,
  output: 'text' | 'json',
  sentence: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  terminal.out(output === 'json' ? `${JSON.stringify(fields)}\n` : `${sentence}\n`);
}

/** The arguments of a command with these options only, and its policy. */
export function parsePolicyCommand(args: readonly string[], maxOthers = 0) {
  const { values, positionals } = parseOptions(args, policyOptions);
  return { values, output: parseOutput(values.output), ...policyNameOf(positionals, maxOthers) };
}

/** `status` of a raw object. */
export function statusOf(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'status' in raw ? raw.status : undefined;
}

const pauseMs = 250;

/** Waits until the service has answered, and prints the changes of the Ready condition meanwhile; undefined if there is no answer in time. */
export async function waitForAnswer(
  policy: PolicyClient,
  isAnswered: (status: PolicyStatus) => boolean,
  timeoutMs: number,
  terminal: Terminal,
): Promise<PolicyStatus | undefined> {
  const deadline = performance.now() + timeoutMs;
  let printed = '';
  for (;;) {
    const status = readStatus(statusOf(await policy.read()));
    if (isAnswered(status)) return status;
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    const progress = ready === undefined ? 'not reconciled yet' : `${ready.reason}: ${ready.message}`;
    if (printed !== '' && progress !== printed) terminal.err(`${progress}\n`);
    if (printed === '') terminal.err('waiting for image-watcher …\n');
    printed = progress;
    if (performance.now() >= deadline) return undefined;
    await delay(pauseMs);
  }
}

/** The status of a policy, in a few lines. */
export function describeStatus({ latest, conditions = [], targets = [] }: PolicyStatus): string[] {
  const selected =
    latest === undefined ? 'nothing is selected yet' : `selected: ${latest.tag}${latest.digest === undefined ? '' : `@${latest.digest}`}`;
  const states = conditions
    .filter(({ status }) => status !== 'Unknown')
    .map(({ type, status, reason, message }) => `${type}: ${status}, ${reason}: ${message}`);
  const running = targets.map(({ kind, namespace, name, container, image, state, message }) => {
    const what = [container, image].filter((part) => part !== undefined).join(' runs ');
    return `${kind} ${namespace}/${name}: ${[what, state, message].filter((part) => part !== undefined && part !== '').join(', ')}`;
  });
  return [selected, ...states, ...running, ...reasonLinks(conditions.map(({ reason }) => reason))];
}

/** Whether the policy is Ready. */
export function isReady({ conditions = [] }: PolicyStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
