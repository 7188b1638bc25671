/** Records outgoing requests as spans with host, path and status, never with headers, queries or bodies. */
import { defined } from '../../core/model/defined.ts';
import type { KubeClient, KubeRequest } from '../kube/client.ts';
import type { RequestRecord } from '../registry/http.ts';
import type { Attributes, Tracing } from '../telemetry/tracing.ts';

/** Wraps a client so that its requests are spans within the current span, if there is one. Watches are not traced. */
export function traceCluster(client: KubeClient, tracing: Tracing): KubeClient {
  return {
    request: <T>(request: KubeRequest) => tracing.step(describeRequest(request), () => client.request<T>(request)),
    streamLines: (request) => client.streamLines(request),
    close: () => client.close(),
  };
}

/** Records a finished request to a registry as a span. */
export function recordRegistryRequest({ host, kind, method, status, durationMs }: RequestRecord, tracing: Tracing): void {
  const attributes = {
    'http.request.method': method,
    ...addressOf(host),
    'image_watcher.registry.request': kind,
    ...(status === 'error' ? { 'error.type': 'no answer' } : { 'http.response.status_code': status }),
  };
  const start = { name: `${method} ${kind}`, kind: 'client', startedAt: Date.now() - durationMs, attributes } as const;
  tracing.record(start, failureOf(status));
}

/** Splits an address such as `registry.example.com:5000` into its two parts. */
function addressOf(host: string): Attributes {
  const { hostname, port } = new URL(`https://${host}`);
  return { 'server.address': hostname, ...(port !== '' && { 'server.port': Number(port) }) };
}

/** Whether a status is a failure. Most 4xx are part of the protocol: a 401 names the token server, a 404 means that the tag does not exist. */
function failureOf(status: RequestRecord['status']): string | undefined {
  if (status === 'error') return 'there was no response';
  return status >= 500 || status === 429 ? `the registry answered ${status}` : undefined;
}

function describeRequest({ method, path }: KubeRequest) {
  const { resource, namespace, name } = readPath(path);
  return {
    name: `${method} ${resource}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.path': path,
      ...(namespace !== undefined && { 'k8s.namespace.name': namespace }),
      ...(name !== undefined && { 'image_watcher.object': name }),
    },
  } as const;
}

/** The object in a path: `/apis/apps/v1/namespaces/shop/deployments/web/status` → `deployments/status`, shop, web. */
function readPath(path: string): { resource: string; namespace?: string; name?: string } {
  const [, root = '', namespace, resource = 'unknown', name, subresource] =
    /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?/.exec(path) ?? [];
  if (root === '') return { resource };
  return {
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    ...defined({ namespace, name }),
  };
}
