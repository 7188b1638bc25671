import { isDeepStrictEqual } from 'node:util';
import { type AppliedCrd, type ApplyOptions, type DesiredCrd, writeCrd } from '../../service/kube/crd/apply-crd.ts';
import { checkConversion, probeConversion, type ProbeSample } from './check-conversion.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import {
  type ConversionClient,
  crdPath,
  type CustomResourceDefinition,
  mergeCustomResourceDefinition,
  readCrd,
  storageVersionOf,
} from '../../service/kube/crd/definition.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';

/** A definition whose objects a webhook converts, and how to test the conversion. */
export interface CrdSwitch {
  readonly name: string;
  /** The manifest to apply, given the existing definition. Throws if that must not be replaced. */
  readonly plan: (existing: CustomResourceDefinition | undefined) => CustomResourceDefinition;
  /** Objects to test the conversion with, by version. */
  readonly samples: Readonly<Record<string, ProbeSample['object'] & { readonly apiVersion: string }>>;
  /** Whether to skip the request to the endpoint before anything is written. */
  readonly skipProbe: boolean;
  readonly timeoutMs: number;
}

/** The options of a switch. Progress must be reported, because the steps may take a minute. */
export type SwitchOptions = ApplyOptions & { readonly onProgress: (message: string) => void };

/**
 * Applies a definition in steps that can be reverted: the endpoint must answer; then the webhook is installed while the storage version is unchanged, and the API
 * server must convert all objects; only then the storage version changes. If the conversion fails, the previous definition is restored. If neither the webhook
 * nor the storage version changes, it is one write.
 */
export async function switchCustomResourceDefinition(client: KubeClient, change: CrdSwitch, options: SwitchOptions): Promise<AppliedCrd> {
  const { name, plan, skipProbe } = change;
  const quiet = { ...options, onProgress: () => undefined };
  const desired: DesiredCrd = (existing) => mergeCustomResourceDefinition(existing, plan(existing));
  const existing = await readCrd(client, name, options.signal);
  const wanted = desired(existing);
  const switches = isSwitch(existing, wanted);
  if (switches && !skipProbe) await probe(client, change, wanted, options);
  if (switches && existing) await tryWithOldStorage(client, change, desired, options);
  const { action, after } = await writeCrd(client, name, desired, quiet);
  options.onProgress(`CustomResourceDefinition ${name}: ${action}`);
  if (!existing && switches && !skipProbe) await check(client, change, after, options);
  return { action: switches && action === 'unchanged' ? 'updated' : action };
}

async function probe(client: KubeClient, { samples }: CrdSwitch, wanted: CustomResourceDefinition, options: SwitchOptions): Promise<void> {
  const desiredApiVersion = `${wanted.spec.group}/${storageVersionOf(wanted)}`;
  const object = Object.values(samples).find(({ apiVersion }) => apiVersion !== desiredApiVersion);
  if (!object) throw new Error(`no sample of another version than ${desiredApiVersion}`);
  await probeConversion(client, clientOf(wanted) ?? {}, { object, desiredApiVersion }, options.signal);
  options.onProgress('the conversion endpoint answers');
}

async function tryWithOldStorage(client: KubeClient, change: CrdSwitch, desired: DesiredCrd, options: SwitchOptions): Promise<void> {
  const quiet = { ...options, onProgress: () => undefined };
  const staged: DesiredCrd = (existing) => withStorageOf(existing, desired(existing));
  const { before, after } = await writeCrd(client, change.name, staged, quiet);
  try {
    await check(client, change, after, options);
  } catch (error) {
    if (before && before.metadata.resourceVersion !== after.metadata.resourceVersion)
      await restore(client, before, after, options.onProgress);
    throw error;
  }
}

async function check(
  client: KubeClient,
  { samples, timeoutMs }: CrdSwitch,
  crd: CustomResourceDefinition,
  options: SwitchOptions,
): Promise<void> {
  const version = crd.spec.versions.find(({ storage, served }) => !storage && served !== false)?.name;
  const sample = version === undefined ? undefined : samples[version];
  // With a single served version, the API server converts nothing for clients.
  if (!sample) return;
  const count = await checkConversion(client, { crd, sample, timeoutMs, onProgress: options.onProgress, signal: options.signal });
  options.onProgress(`the API server converts all ${count} objects`);
}

/** Restores the old definition. It is still valid, because nothing has been stored in a new version yet. */
async function restore(
  client: KubeClient,
  before: CustomResourceDefinition,
  after: CustomResourceDefinition,
  onProgress: (message: string) => void,
) {
  const { resourceVersion } = after.metadata;
  const body = { ...before, metadata: { ...before.metadata, resourceVersion } };
  try {
    await client.request({ method: 'PUT', path: crdPath(before.metadata.name), query: { fieldManager }, body });
    onProgress(`CustomResourceDefinition ${before.metadata.name}: restored`);
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    onProgress(`CustomResourceDefinition ${before.metadata.name}: changed by somebody else meanwhile, not restored`);
  }
}

function isSwitch(existing: CustomResourceDefinition | undefined, wanted: CustomResourceDefinition): boolean {
  const client = clientOf(wanted);
  if (!client) return false;
  return !existing || storageVersionOf(existing) !== storageVersionOf(wanted) || !isDeepStrictEqual(clientOf(existing), client);
}

function clientOf({ spec }: CustomResourceDefinition): ConversionClient | undefined {
  return spec.conversion?.strategy === 'Webhook' ? spec.conversion.webhook?.clientConfig : undefined;
}

function withStorageOf(existing: CustomResourceDefinition | undefined, wanted: CustomResourceDefinition): CustomResourceDefinition {
  if (!existing) return wanted;
  const old = storageVersionOf(existing);
  if (!wanted.spec.versions.some(({ name }) => name === old)) return wanted;
  return {
    ...wanted,
    spec: { ...wanted.spec, versions: wanted.spec.versions.map((version) => ({ ...version, storage: version.name === old })) },
  };
}
