import { defined } from '../../core/model/defined.ts';
import { abortable } from '../../core/async/deadline.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { isConfigMap, namedConfigMaps } from '../../core/model/config-map-target.ts';
import { fieldRulesOf, sourceFieldsOf, type CustomTarget } from '../../core/model/field-rules.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { findTarget, type TargetKind } from './targets.ts';
import { isCustomVersion, type KindRef } from '../../core/model/workload.ts';

/** Finds the paths of all kinds: those of custom resources with the API server's discovery. */
export interface Discovery {
  /**
   * Finds the target of a kind, with the plural that the API server reports and the fields that policies may write. Throws PermanentError: TargetKindUnknown if
   * the API server does not serve the kind, UnsupportedTargetKind if it is not namespaced or is a built-in kind without images.
   */
  find(kind: KindRef, signal?: AbortSignal): Promise<TargetKind>;
  /** Drops the cached kinds of an API group, which may have changed. */
  forget(group: string): void;
}

interface GroupList {
  readonly groups?: readonly { readonly versions?: readonly { readonly groupVersion?: string }[] }[];
}

interface ResourceList {
  readonly resources?: readonly { readonly name?: string; readonly kind?: string; readonly namespaced?: boolean }[];
}

/** How long a response is cached. */
export const discoveryFreshMs = 10_000;
const retryMs = 1_000;
const groupsPath = '/apis';

/**
 * Creates a discovery. All kinds share one list of the served group versions, and one list of the resources of each version. So kinds that do not exist cost no
 * requests of their own, however many there are.
 */
export function createDiscovery(client: KubeClient, customTargets: readonly CustomTarget[], now: () => number = Date.now): Discovery {
  const documents = new Map<string, { until: number; readonly content: Promise<unknown> }>();
  const read = <T>(path: string): Promise<T> => {
    const known = documents.get(path);
    if (known !== undefined && now() < known.until) return known.content as Promise<T>;
    const content = client.request<T>({ method: 'GET', path });
    const document = { until: now() + discoveryFreshMs, content };
    documents.set(path, document);
    content.catch(() => (document.until = now() + retryMs));
    return content;
  };
  const listResources = async (apiVersion: string): Promise<NonNullable<ResourceList['resources']>> => {
    const { groups = [] } = await read<GroupList>(groupsPath);
    if (!groups.some(({ versions = [] }) => versions.some(({ groupVersion }) => groupVersion === apiVersion))) return [];
    try {
      return (await read<ResourceList>(`${groupsPath}/${apiVersion}`)).resources ?? [];
    } catch (error) {
      // The group version was removed after the groups were listed.
      if (isKubeError(error, 404)) return [];
      throw error;
    }
  };
  return {
    async find({ apiVersion, kind }, signal) {
      if (isConfigMap({ kind, ...defined({ apiVersion }) })) return configMapTarget(customTargets);
      if (!isCustomVersion(apiVersion)) return findTarget({ kind });
      signal?.throwIfAborted();
      const resources = await abortable(listResources(apiVersion), signal);
      const found = resources.find(({ kind: served, name }) => served === kind && name !== undefined && !name.includes('/'));
      if (found?.name === undefined) {
        const message = `the API server does not serve ${kind} of ${apiVersion}: install its CustomResourceDefinition, or correct apiVersion and kind`;
        throw new PermanentError('TargetKindUnknown', message);
      }
      if (found.namespaced !== true) throw new PermanentError('UnsupportedTargetKind', `${kind} of ${apiVersion} is not namespaced`);
      const fields = [...fieldRulesOf({ apiVersion, kind }, customTargets), ...sourceFieldsOf({ apiVersion, kind })];
      const target = { kind, apiVersion, resource: found.name, podSpecPath: ['spec', 'template', 'spec'] };
      return fields.length === 0 ? target : { ...target, fields };
    },
    forget(group) {
      for (const path of documents.keys()) if (path === groupsPath || path.startsWith(`${groupsPath}/${group}/`)) documents.delete(path);
    },
  };
}

/** The target of ConfigMaps: only those that the operator names are read. */
function configMapTarget(customTargets: readonly CustomTarget[]): TargetKind {
  const kind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const fields = fieldRulesOf(kind, customTargets);
  return { ...kind, resource: 'configmaps', podSpecPath: [], fields, objects: namedConfigMaps(customTargets) };
}
