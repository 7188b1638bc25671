/** Describes errors of the cluster in one sentence: what is wrong, where, and what to do. */
import { crdName, group, plural, version } from '../resources/group.ts';
import type { KubeClient } from '../kube/client.ts';
import { describeError } from '../../core/model/errors.ts';
import { documentation } from '../../core/model/reasons.ts';
import { isKubeError, KubeError } from '../kube/kube-error.ts';

/** The message for the user about an error that came from the API server, or on the way to it. */
export function describeClusterError(error: unknown): string {
  if (isKubeError(error, 403)) return describeRefusal(error);
  if (isKubeError(error, 401))
    return 'the API server does not accept the credentials of the kubeconfig: log in again, or choose another --context';
  if (error instanceof KubeError && unconverted.test(error.detail))
    return `the API server cannot convert policies, because their conversion webhook does not answer it yet, or no more: start the role convert, or wait until its pods are ready; image-watcher doctor shows what is wrong (${error.detail})`;
  if (lacksDefinition(error))
    return `the cluster has no CustomResourceDefinition ${crdName}: install image-watcher there, or choose another cluster with --context`;
  const code = causesOf(error).find((cause) => 'code' in cause && typeof cause.code === 'string' && unreachable.test(cause.code));
  if (code !== undefined) return `the API server cannot be reached: ${code.message}: does it run, and is it the right --context?`;
  return describeError(error);
}

/** The message for the user about an error. If the cluster has the definition of an older version, the message says so. */
export async function explainClusterError(client: KubeClient, error: unknown): Promise<string> {
  if (!lacksDefinition(error)) return describeClusterError(error);
  const served = await servedVersions(client).catch((): string[] => []);
  if (served.length === 0 || served.some((name) => name === version)) return describeClusterError(error);
  return `the cluster has the CustomResourceDefinition of an older image-watcher, with ${served.join(', ')} and without ${version}: ${upgradeFirst}. Until then, kubectl get ${plural} shows the policies`;
}

const upgradeFirst = `stop the older service, start the new one with the role convert, and run image-watcher crd apply, in the order of ${documentation}/upgrading.md`;

/** The served versions of the API group, which everybody may read; empty if there is no such group. */
async function servedVersions(client: KubeClient): Promise<string[]> {
  const { versions } = await client.request<{ versions: readonly { readonly version: string }[] }>({
    method: 'GET',
    path: `/apis/${group}`,
  });
  return versions.map(({ version: name }) => name);
}

function lacksDefinition(error: unknown): boolean {
  return (
    isKubeError(error, 404) &&
    error.message.includes(`/${plural}`) &&
    /could not find the requested resource|page not found/.test(error.detail)
  );
}

/** Matches errors of the conversion webhook. The second text appears while the API server fills its caches, after each change of the definition. */
const unconverted = /conversion webhook for .*Kind=ImagePolicy failed|storage is \(re\)initializing/;
const unreachable = /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|UND_ERR_(?:CONNECT|SOCKET))/;

function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inside = error instanceof AggregateError ? error.errors : [];
  return [...[error.cause, ...inside].flatMap(causesOf), error];
}

/** Describes a refusal in fewer words: the API server's sentence contains the resource twice, and the API group. */
function describeRefusal({ detail }: KubeError): string {
  const [, user, verb, resource] = /User "([^"]+)" cannot (\S+) resource "([^"]+)"/.exec(detail) ?? [];
  if (user === undefined) return `the API server refuses this: ${detail}`;
  const [, namespace] = /in the namespace "([^"]+)"/.exec(detail) ?? [];
  const where = namespace === undefined ? 'in all namespaces' : `in the namespace ${namespace}`;
  return `${user} may not ${verb} ${resource} ${where}: ask an administrator for this permission`;
}
