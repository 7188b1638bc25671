import { defined } from '../../core/model/defined.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { listPages, listPath } from '../../service/kube/objects.ts';
import { isObject } from '../../core/model/untyped.ts';
import { pageSize } from '../../service/command-line/policy-client.ts';
import type { ReadKind, SourceObject } from './importer.ts';
import { sourceObject } from './read-files.ts';

/** All objects of the kinds, in one namespace or in all. A kind that the API server does not serve has no objects. */
export async function listObjects(
  client: KubeClient,
  kinds: readonly ReadKind[],
  namespace: string | undefined,
  signal?: AbortSignal,
): Promise<SourceObject[]> {
  const found: SourceObject[] = [];
  for (const { kind, resource, apiVersion: written, isEverywhere, name } of kinds) {
    const apiVersion = written.includes('/') || written === 'v1' ? written : await preferredVersion(client, written, signal);
    if (apiVersion === undefined) continue;
    const path = listPath({ apiVersion, resource }, isEverywhere ? undefined : namespace);
    try {
      for await (const { items } of listPages(client, {
        path,
        pageSize,
        fieldSelector: name === undefined ? undefined : `metadata.name=${name}`,
        ...defined({ signal }),
      }))
        // The items of a list have neither apiVersion nor kind, so both are added.
        found.push(
          ...items.filter(isObject).flatMap((item) => sourceObject({ ...item, apiVersion, kind }, { namespace: '', comments: [] }) ?? []),
        );
    } catch (error) {
      if (!isKubeError(error, 404)) throw error;
    }
  }
  return found;
}

/** The preferred version of an API group: `image.toolkit.fluxcd.io` → `image.toolkit.fluxcd.io/v1`. Undefined if the group is not served. */
async function preferredVersion(client: KubeClient, group: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await client.request<{ preferredVersion?: { groupVersion?: string } }>({
      method: 'GET',
      path: `/apis/${group}`,
      signal,
    });
    return answer?.preferredVersion?.groupVersion;
  } catch (error) {
    if (isKubeError(error, 404)) return undefined;
    throw error;
  }
}
