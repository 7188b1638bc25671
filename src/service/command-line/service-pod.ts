/** Finds a pod of image-watcher that answers its API: one with the role `work`, by the labels of the chart. */
import { z } from 'zod';
import type { KubeClient } from '../kube/client.ts';
import { crdName } from '../resources/group.ts';
import { crdPath } from '../kube/crd/definition.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { listPath } from '../kube/objects.ts';
import type { PodPort } from '../kube/port-forward.ts';
import { ApiError } from './api-error.ts';

/** Used only in the namespace of the installation. Elsewhere, anybody may give a pod these labels, and would get the tokens of administrators. */
const labelSelector = 'app.kubernetes.io/name=image-watcher,image-watcher/work=true';

const podSchema = z.object({
  metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({
    containers: z.array(z.object({ ports: z.array(z.object({ name: z.string().optional(), containerPort: z.int() })).optional() })),
  }),
  status: z.object({
    phase: z.string().optional(),
    conditions: z.array(z.object({ type: z.string(), status: z.string(), message: z.string().optional() })).optional(),
  }),
});
const listSchema = z.object({ items: z.array(podSchema) });
type Pod = z.output<typeof podSchema>;

const defaultPort = 9090;
/** The namespace of the installation if nothing else names one. */
const defaultNamespace = 'image-watcher';

const definitionSchema = z.object({
  spec: z.object({
    conversion: z.object({ webhook: z.object({ clientConfig: z.object({ service: z.object({ namespace: z.string() }) }) }) }),
  }),
});

/**
 * The namespace of the installation: that of the conversion webhook in the definition of the policies, which only administrators of the cluster write. Anybody
 * who may create a namespace could otherwise collect tokens in the default one. It is used if the definition names none, or if the caller may not read it.
 */
export async function findServiceNamespace(client: Pick<KubeClient, 'request'>, signal: AbortSignal): Promise<string> {
  try {
    const { success, data } = definitionSchema.safeParse(await client.request({ method: 'GET', path: crdPath(crdName), signal }));
    return success ? data.spec.conversion.webhook.clientConfig.service.namespace : defaultNamespace;
  } catch (error) {
    if (isKubeError(error, 403) || isKubeError(error, 404)) return defaultNamespace;
    throw error;
  }
}

/** Finds a pod that is ready. Throws ApiError if there is none, and the errors of the client. */
export async function findServicePod(client: KubeClient, namespace: string, signal: AbortSignal): Promise<PodPort> {
  const path = listPath({ apiVersion: 'v1', resource: 'pods' }, namespace);
  const { items } = listSchema.parse(await client.request({ method: 'GET', path, query: { labelSelector }, signal }));
  return choosePod(items, namespace);
}

/** The first of the pods that is ready. */
function choosePod(pods: readonly Pod[], namespace: string): PodPort {
  const ready = pods.find((pod) => pod.metadata.deletionTimestamp === undefined && readyOf(pod)?.status === 'True');
  if (ready !== undefined) {
    const ports = ready.spec.containers.flatMap((container) => container.ports ?? []);
    const port = ports.find(({ name }) => name === 'operations')?.containerPort ?? defaultPort;
    return { namespace, pod: ready.metadata.name, port };
  }
  const [first] = pods;
  if (first === undefined)
    throw new ApiError(
      `no pod of image-watcher with the role work is in the namespace ${namespace}: name the namespace of the installation with --service-namespace (kubectl get pods -A -l app.kubernetes.io/name=image-watcher shows it), or the address of a service outside of the cluster with --server`,
    );
  const { metadata, status } = first;
  const state = metadata.deletionTimestamp === undefined ? (status.phase ?? 'not started') : 'being deleted';
  const why = readyOf(first)?.message;
  throw new ApiError(
    `no pod of image-watcher in the namespace ${namespace} is ready: ${metadata.name} is ${state}${why === undefined ? '' : ` (${why})`}: see kubectl -n ${namespace} describe pod ${metadata.name}`,
  );
}

function readyOf({ status: { conditions = [] } }: Pod) {
  return conditions.find(({ type }) => type === 'Ready');
}
