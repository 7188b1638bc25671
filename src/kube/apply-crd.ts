import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from './client.ts';
import { fieldManager } from './field-manager.ts';
import { isKubeError } from './kube-error.ts';
import { type CustomResourceDefinition, mergeCustomResourceDefinition } from './merge-crd.ts';
import { readObject } from './read-object.ts';

/** What had to be done. */
export interface AppliedCrd {
  readonly action: 'created' | 'updated' | 'unchanged';
}

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const maxTries = 5;
const pollMs = 100;

/**
 * Creates or updates a CustomResourceDefinition and waits until the API server serves it (30 s). Throws an Error that says what to do when a stored version
 * would be dropped, when the names are taken, or when the time is up.
 */
export async function applyCustomResourceDefinition(
  client: KubeClient,
  manifest: CustomResourceDefinition,
  options: { onProgress?: (message: string) => void; signal?: AbortSignal; establishTimeoutMs?: number } = {},
): Promise<AppliedCrd> {
  const { name } = manifest.metadata;
  const action = await write(client, manifest, options.signal);
  options.onProgress?.(`CustomResourceDefinition ${name}: ${action}`);
  await waitUntilEstablished(client, name, options);
  options.onProgress?.(`CustomResourceDefinition ${name}: established`);
  return { action };
}

async function write(
  client: KubeClient,
  manifest: CustomResourceDefinition,
  signal: AbortSignal | undefined,
): Promise<AppliedCrd['action']> {
  const query = { fieldManager };
  for (let tries = 1; ; tries++) {
    const existing = await read(client, manifest.metadata.name, signal);
    try {
      if (!existing) {
        await client.request({ method: 'POST', path: collection, query, body: manifest, signal });
        return 'created';
      }
      const body = mergeCustomResourceDefinition(existing, manifest);
      const path = `${collection}/${manifest.metadata.name}`;
      const written = await client.request<CustomResourceDefinition>({ method: 'PUT', path, query, body, signal });
      // The server fills in defaults, so only it can tell whether anything differs: then it counts up the resourceVersion.
      return written.metadata.resourceVersion === existing.metadata.resourceVersion ? 'unchanged' : 'updated';
    } catch (error) {
      if (!isKubeError(error, 409) || tries === maxTries) throw error;
    }
  }
}

async function waitUntilEstablished(
  client: KubeClient,
  name: string,
  { signal, establishTimeoutMs = 30_000 }: { signal?: AbortSignal; establishTimeoutMs?: number },
): Promise<void> {
  const deadline = performance.now() + establishTimeoutMs;
  for (;;) {
    const conditions = (await read(client, name, signal))?.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
    if (refused)
      throw new Error(`the names of the CustomResourceDefinition ${name} are not accepted: ${refused.message ?? refused.reason}`);
    if (performance.now() > deadline)
      throw new Error(`the CustomResourceDefinition ${name} was not established within ${establishTimeoutMs} ms`);
    await delay(pollMs, undefined, { signal });
  }
}

function read(client: KubeClient, name: string, signal: AbortSignal | undefined): Promise<CustomResourceDefinition | undefined> {
  return readObject(client, `${collection}/${name}`, signal);
}
