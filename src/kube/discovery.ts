import { abortable } from '../async/deadline.ts';
import { PermanentError } from '../model/errors.ts';
import { fieldRulesOf, type CustomTarget } from '../model/field-rules.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { TargetKind } from './targets.ts';

/** A kind of custom resource. */
export interface CustomKindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where the objects of custom resources are, as the API server itself says. */
export interface Discovery {
  /**
   * The target of a kind, with the plural that the API server names and the fields that policies may write. Throws PermanentError: TargetKindUnknown where
   * the API server does not serve it, UnsupportedTargetKind where it is in no namespace.
   */
  find(kind: CustomKindRef, signal?: AbortSignal): Promise<TargetKind>;
}

interface GroupList {
  readonly groups?: readonly { readonly versions?: readonly { readonly groupVersion?: string }[] }[];
}

interface ResourceList {
  readonly resources?: readonly { readonly name?: string; readonly kind?: string; readonly namespaced?: boolean }[];
}

/** What the API server said is believed for so long: whoever asks again meanwhile costs no request. */
export const discoveryFreshMs = 10_000;
const retryMs = 1_000;

/**
 * All kinds share one list of the group versions that are served, and one list of the resources of each of those: kinds that somebody invented cost no
 * request of their own, however many they are.
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
    const { groups = [] } = await read<GroupList>('/apis');
    if (!groups.some(({ versions = [] }) => versions.some(({ groupVersion }) => groupVersion === apiVersion))) return [];
    try {
      return (await read<ResourceList>(`/apis/${apiVersion}`)).resources ?? [];
    } catch (error) {
      // Gone since the list of groups was made.
      if (isKubeError(error, 404)) return [];
      throw error;
    }
  };
  return {
    async find({ apiVersion, kind }, signal) {
      signal?.throwIfAborted();
      const resources = await abortable(listResources(apiVersion), signal);
      const found = resources.find(({ kind: served, name }) => served === kind && name !== undefined && !name.includes('/'));
      if (found?.name === undefined) {
        const message = `the API server does not know ${kind} of ${apiVersion}: install its CustomResourceDefinition, or correct apiVersion and kind`;
        throw new PermanentError('TargetKindUnknown', message);
      }
      if (found.namespaced !== true) throw new PermanentError('UnsupportedTargetKind', `${kind} of ${apiVersion} is in no namespace`);
      const fields = fieldRulesOf({ apiVersion, kind }, customTargets);
      const target = { kind, apiVersion, resource: found.name, podSpecPath: ['spec', 'template', 'spec'] };
      return fields.length === 0 ? target : { ...target, fields };
    },
  };
}
