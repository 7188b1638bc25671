import type { KubeClient } from '../../service/kube/client.ts';
import { metadataForms } from '../../service/kube/objects.ts';
import type { Completed } from '../../service/command-line/command.ts';
import { clusterOf, currentNamespace, listPolicies, metadataOf } from '../../service/command-line/policy-client.ts';
import { isResourceWord } from '../../service/command-line/policy-name.ts';

/** Short, because the user is waiting after pressing the tab key. */
const timeoutMs = 2_000;
const maxNames = 500;

/** The names in the cluster or the kubeconfig that fit a word; none if the cluster does not answer. */
export async function askCluster(
  what: Exclude<Completed, 'file'>,
  prefix: string,
  given: Readonly<Record<string, string>>,
): Promise<string[]> {
  const cluster = clusterOf(given);
  if (what === 'context') {
    const { contextsOf } = await import('../../service/kube/load-kube-access.ts');
    const contexts = await contextsOf(cluster);
    return contexts.filter((name) => name.startsWith(prefix));
  }
  const { openKubeClient } = await import('../../service/kube/client.ts');
  const client = await openKubeClient({ ...cluster, requestTimeoutMs: timeoutMs });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const names = what === 'namespace' ? await namespacesOf(client, signal) : await policiesOf(client, prefix, given['namespace'], signal);
    return names.filter((name) => name.startsWith(prefix));
  } finally {
    await client.close();
  }
}

async function namespacesOf(client: KubeClient, signal: AbortSignal): Promise<string[]> {
  const { items = [] } = await client.request<{ items?: unknown[] }>({
    method: 'GET',
    path: '/api/v1/namespaces',
    query: { limit: maxNames },
    accept: metadataForms.list,
    signal,
  });
  return items.map((item) => metadataOf(item).name);
}

/** The names of policies in the form that the user has begun to write: `web`, `ipol/web` or `shop/web`. */
async function policiesOf(client: KubeClient, prefix: string, namespace: string | undefined, signal: AbortSignal): Promise<string[]> {
  const [, begin] = /^([^/]*)\//.exec(prefix) ?? [];
  const isNamespace = begin !== undefined && !isResourceWord(begin);
  const names: string[] = [];
  for await (const { items } of listPolicies(client, isNamespace ? begin : currentNamespace(client, namespace), signal)) {
    names.push(...items.map((item) => `${begin === undefined ? '' : `${begin}/`}${metadataOf(item).name}`));
    if (names.length >= maxNames) break;
  }
  return names;
}
