import { describeError } from '../../model/errors.ts';
import type { KubeClient } from '../client.ts';
import { objectsPath, storageVersionOf } from './crd-versions.ts';
import { KubeError, isKubeError } from '../kube-error.ts';
import { listPages } from '../list-pages.ts';
import type { CustomResourceDefinition } from './merge-crd.ts';
import { isTransient, pause } from '../retry.ts';

/** What is checked, how long, and whom to tell. */
export interface ConversionCheck {
  readonly crd: CustomResourceDefinition;
  /** An object to be created without effect; it has to be of another version than the one that is stored. */
  readonly sample: { readonly apiVersion: string } & Record<string, unknown>;
  /** How long it may fail, from when the API server first knows the version. */
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  readonly signal?: AbortSignal | undefined;
}

const pageSize = 500;
/** How long an API server may answer that it does not know the version. */
const unknownMs = 30_000;

/**
 * Lets the API server itself use the webhook, over the network and with the certificate that count: it creates an object with dryRun, and reads all
 * in every version. Throws when that does not succeed in time. Returns how many objects were read.
 */
export async function checkConversion(client: KubeClient, check: ConversionCheck): Promise<number> {
  const { crd, sample, onProgress, signal } = check;
  const version = sample.apiVersion.replace(/^.*\//, '');
  if (version === storageVersionOf(crd)) throw new Error(`${version} is the storage version: reading and writing it converts nothing`);
  const unknownUntil = performance.now() + unknownMs;
  let deadline: number | undefined;
  for (let attempt = 0; ; attempt++) {
    try {
      await dryRun(client, objectsPath(crd, version, 'default'), sample, onProgress, signal);
      const served = crd.spec.versions.filter(({ served }) => served !== false);
      const counts = await Promise.all(served.map(({ name }) => readAll(client, objectsPath(crd, name), signal)));
      return Math.max(...counts);
    } catch (error) {
      // Nothing was converted yet, so this says nothing about the webhook.
      const unknown = isKubeError(error, 404);
      if (!unknown && !isKubeError(error, 410) && !isTransient(error)) throw error;
      if (!unknown) deadline ??= performance.now() + check.timeoutMs;
      if (performance.now() >= (deadline ?? unknownUntil))
        throw new Error(`the API server cannot convert: ${describeError(error)}`, { cause: error });
      await pause(error, attempt, { random: Math.random, signal });
    }
  }
}

async function dryRun(
  client: KubeClient,
  path: string,
  body: object,
  onProgress: (message: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body, signal });
  } catch (error) {
    // Somebody's admission rules, or missing rights: says nothing about the conversion.
    if (!(error instanceof KubeError) || ![400, 403, 409, 422].includes(error.status)) throw error;
    onProgress(`could not try the conversion with an object (dry run): ${error.detail}`);
  }
}

async function readAll(client: KubeClient, path: string, signal: AbortSignal | undefined): Promise<number> {
  let count = 0;
  for await (const { items } of listPages(client, { path, pageSize, ...(signal && { signal }) })) count += items.length;
  return count;
}
