import { PermanentError } from '../core/errors.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { TargetKind } from './target-kind.ts';

interface ResourceList {
  readonly resources?: readonly { readonly name?: string; readonly kind?: string; readonly namespaced?: boolean }[];
}

/**
 * The target of a custom resource, with the plural that the API server itself names. Throws PermanentError: TargetKindUnknown where the API server does
 * not serve it, UnsupportedTargetKind where it is in no namespace.
 */
export async function discoverKind(
  client: KubeClient,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  signal?: AbortSignal,
): Promise<TargetKind> {
  const resources = await listResources(client, apiVersion, signal);
  const found = resources.find(({ kind: served, name }) => served === kind && name !== undefined && !name.includes('/'));
  if (found?.name === undefined) {
    const message = `the API server does not know ${kind} of ${apiVersion}: install its CustomResourceDefinition, or mend apiVersion and kind`;
    throw new PermanentError('TargetKindUnknown', message);
  }
  if (found.namespaced !== true) throw new PermanentError('UnsupportedTargetKind', `${kind} of ${apiVersion} is in no namespace`);
  return { kind, apiVersion, resource: found.name, podSpecPath: ['spec', 'template', 'spec'] };
}

async function listResources(
  client: KubeClient,
  apiVersion: string,
  signal?: AbortSignal,
): Promise<NonNullable<ResourceList['resources']>> {
  // What is no version has no document; as a path it would be another question.
  if (!/^[a-z0-9.-]+\/[a-z0-9]+$/.test(apiVersion)) return [];
  try {
    const { resources } = await client.request<ResourceList>({ method: 'GET', path: `/apis/${apiVersion}`, signal });
    return resources ?? [];
  } catch (error) {
    if (isKubeError(error, 404)) return [];
    throw error;
  }
}
