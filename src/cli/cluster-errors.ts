/** Errors of the cluster, in one sentence: what is wrong, where, and what to do. */
import { crdName, plural } from '../api-versions/group.ts';
import { describeError } from '../model/errors.ts';
import { isKubeError, type KubeError } from '../kube/kube-error.ts';

/** What to tell the user of an error that came from the API server or on the way to it. */
export function describeClusterError(error: unknown): string {
  if (isKubeError(error, 403)) return describeRefusal(error);
  if (isKubeError(error, 401))
    return 'the API server does not accept the credentials of the kubeconfig: log in again, or choose another --context';
  if (
    isKubeError(error, 404) &&
    error.message.includes(`/${plural}`) &&
    /could not find the requested resource|page not found/.test(error.detail)
  )
    return `the cluster has no CustomResourceDefinition ${crdName}: install image-watcher there, or choose another cluster with --context`;
  const code = causesOf(error).find((cause) => 'code' in cause && typeof cause.code === 'string' && unreachable.test(cause.code));
  if (code !== undefined) return `the API server cannot be reached: ${code.message}: does it run, and is it the right --context?`;
  return describeError(error);
}

const unreachable = /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|UND_ERR_(?:CONNECT|SOCKET))/;

function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inside = error instanceof AggregateError ? error.errors : [];
  return [...[error.cause, ...inside].flatMap(causesOf), error];
}

/** The API server's own sentence has the resource twice, and the API group. */
function describeRefusal({ detail }: KubeError): string {
  const [, user, verb, resource] = /User "([^"]+)" cannot (\S+) resource "([^"]+)"/.exec(detail) ?? [];
  if (user === undefined) return `the API server refuses this: ${detail}`;
  const [, namespace] = /in the namespace "([^"]+)"/.exec(detail) ?? [];
  const where = namespace === undefined ? 'in all namespaces' : `in the namespace ${namespace}`;
  return `${user} may not ${verb} ${resource} ${where}: ask an administrator for this permission`;
}
