/** Reads and changes single policies at the API server for callers of the API. */
import { AccessError } from '../api/access.ts';
import { ActionRefused, type PolicyPorts, type PolicyResource } from '../api/ports.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError, KubeError } from '../kube/kube-error.ts';
import { objectPath } from '../kube/objects.ts';
import { apiVersion, kind, plural, policyResource } from '../resources/group.ts';

/** Reads policies with the service's own rights. The caller's permission must be checked before. */
export function readPolicyWith(cluster: KubeClient): PolicyPorts['read'] {
  return async ({ namespace, name }) => {
    try {
      const { metadata, ...rest } = await cluster.request<PolicyResource>({
        method: 'GET',
        path: objectPath(policyResource, namespace, name),
      });
      return { ...rest, metadata: { ...metadata, managedFields: undefined } };
    } catch (error) {
      if (isKubeError(error, 404)) throw new AccessError(404, `there is no ImagePolicy ${namespace}/${name}`);
      throw new AccessError(503, 'the API server does not answer; try again', { cause: error });
    }
  };
}

/** Patches policies and BaseImagePolicies with only the token of the caller. `users`: a client without credentials of its own; undefined if there are no actions. */
export function patchPolicyWith(users: KubeClient | undefined): PolicyPorts['patch'] {
  return async (caller, { namespace, name, of = { kind, plural } }, body) => {
    if (users === undefined || caller.kind !== 'token') throw new ActionRefused(403, 'actions need the token of a caller');
    try {
      await users.request({
        method: 'PATCH',
        path: objectPath({ apiVersion, resource: of.plural }, namespace, name),
        query: { fieldManager: 'image-watcher-api' },
        body,
        contentType: 'application/merge-patch+json',
        authorization: `Bearer ${caller.token}`,
      });
    } catch (error) {
      if (isKubeError(error, 404)) throw new ActionRefused(404, `there is no ${of.kind} ${namespace}/${name}`);
      if (error instanceof KubeError && (error.status === 401 || error.status === 403)) throw new ActionRefused(403, error.detail);
      if (error instanceof KubeError && error.status < 500 && error.status !== 429) throw new ActionRefused(409, error.detail);
      throw new ActionRefused(503, 'the API server does not answer; try again');
    }
  };
}
