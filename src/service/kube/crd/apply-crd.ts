import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../client.ts';
import { crdPath, type CustomResourceDefinition, mergeCustomResourceDefinition, readCrd } from './definition.ts';
import { fieldManager } from '../../../core/model/last-update.ts';
import { retryOnConflict } from '../retry.ts';

/** What was done to the CustomResourceDefinition. */
export interface AppliedCrd {
  readonly action: 'created' | 'updated' | 'unchanged';
}

/** Returns the desired definition, given the one in the cluster. It is called again after a conflict. */
export type DesiredCrd = (existing: CustomResourceDefinition | undefined) => CustomResourceDefinition;

/** The callback for progress, and what ends the wait. */
export interface ApplyOptions {
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const pollMs = 100;
const establishTimeoutMs = 30_000;

/**
 * Creates or updates a CustomResourceDefinition and waits until the API server serves it (30 s). Throws an Error that says what to do if a stored version would
 * be dropped, if the names are taken, or after the timeout.
 */
export async function applyCustomResourceDefinition(
  client: KubeClient,
  manifest: CustomResourceDefinition,
  options: ApplyOptions = {},
): Promise<AppliedCrd> {
  const { name } = manifest.metadata;
  const { action } = await writeCrd(client, name, (existing) => mergeCustomResourceDefinition(existing, manifest), options);
  options.onProgress?.(`CustomResourceDefinition ${name}: established`);
  return { action };
}

/** Writes the desired definition, guarded by resourceVersion, and waits until it is served. `before` and `after` are the definitions in the cluster. */
export async function writeCrd(
  client: KubeClient,
  name: string,
  desired: DesiredCrd,
  options: ApplyOptions = {},
): Promise<AppliedCrd & { before: CustomResourceDefinition | undefined; after: CustomResourceDefinition }> {
  const written = await write(client, name, desired, options.signal);
  options.onProgress?.(`CustomResourceDefinition ${name}: ${written.action}`);
  await waitUntilEstablished(client, name, options);
  return written;
}

async function write(client: KubeClient, name: string, desired: DesiredCrd, signal: AbortSignal | undefined) {
  const query = { fieldManager };
  return retryOnConflict(async () => {
    const before = await readCrd(client, name, signal);
    const body = desired(before);
    const [method, path] = before ? (['PUT', crdPath(name)] as const) : (['POST', crdPath('')] as const);
    const after = await client.request<CustomResourceDefinition>({ method, path, query, body, signal });
    return { action: before ? (isSame(before, after) ? 'unchanged' : 'updated') : 'created', before, after } as const;
  });
}

/** Whether the spec is unchanged, by its generation: the API server fills in defaults, and the resourceVersion changes with the times in managedFields. */
function isSame({ metadata: before }: CustomResourceDefinition, { metadata: after }: CustomResourceDefinition): boolean {
  if (before.generation !== after.generation) return false;
  return isDeepStrictEqual([before.labels, before.annotations], [after.labels, after.annotations]);
}

async function waitUntilEstablished(client: KubeClient, name: string, { signal }: ApplyOptions): Promise<void> {
  const deadline = performance.now() + establishTimeoutMs;
  for (;;) {
    const conditions = (await readCrd(client, name, signal))?.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
    if (refused)
      throw new Error(`the names of the CustomResourceDefinition ${name} are not accepted: ${refused.message ?? refused.reason}`);
    if (performance.now() > deadline)
      throw new Error(`the CustomResourceDefinition ${name} was not established within ${establishTimeoutMs} ms`);
    await delay(pollMs, undefined, { signal });
  }
}
