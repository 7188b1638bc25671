import { defined } from '../../core/model/defined.ts';
import type { SpanStart } from '../telemetry/tracing.ts';
import type { KubeRequest } from './client.ts';

/** The span of a request to the API server: its method, path and object, never its query or body. */
export function spanOf({ method, path }: KubeRequest): SpanStart {
  const { resource, namespace, name } = readPath(path);
  return {
    name: `${method} ${resource}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.path': path,
      ...defined({ 'k8s.namespace.name': namespace, 'image_watcher.object': name }),
    },
  };
}

/** The object in a path: `/apis/apps/v1/namespaces/shop/deployments/web/status` → `deployments/status`, shop, web. */
function readPath(path: string): {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
} {
  const [, namespace, resource, name, subresource] =
    /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?/.exec(path) ?? [];
  if (resource === undefined) return { resource: 'unknown' };
  return { resource: subresource === undefined ? resource : `${resource}/${subresource}`, namespace, name };
}
