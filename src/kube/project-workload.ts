import { consentAnnotation } from '../core/consent.ts';
import type { Workload, WorkloadContainer } from '../core/workload.ts';
import { projectSecretNames } from './project-secret-names.ts';
import { projectRollout } from './project-rollout.ts';
import type { TargetKind } from './target-kind.ts';

interface RawMetadata {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly uid?: unknown;
  readonly generation?: unknown;
  readonly resourceVersion?: unknown;
  readonly annotations?: unknown;
  readonly managedFields?: unknown;
}

interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

/**
 * Raw object → Workload. Odd or missing parts become empty values, and containers keep their places, because patches address them by index; throws only
 * when there is no name.
 */
export function projectWorkload(target: TargetKind, raw: unknown): Workload {
  const metadata = (asRecord(raw)['metadata'] ?? {}) as RawMetadata;
  if (typeof metadata.name !== 'string' || metadata.name === '') throw new Error(`a ${target.kind} without a name`);
  const containers = walk(raw, [...target.podSpecPath, 'containers']);
  const rollout = projectRollout(target.kind, raw);
  const consent = asRecord(metadata.annotations)[consentAnnotation];
  return {
    apiVersion: target.apiVersion,
    kind: target.kind,
    namespace: asText(metadata.namespace),
    name: metadata.name,
    uid: asText(metadata.uid),
    generation: typeof metadata.generation === 'number' ? metadata.generation : 0,
    resourceVersion: asText(metadata.resourceVersion),
    containersPath: `/${[...target.podSpecPath, 'containers'].join('/')}`,
    containers: projectContainers(target, metadata, Array.isArray(containers) ? containers : []),
    hasAnnotations: typeof metadata.annotations === 'object' && metadata.annotations !== null,
    ...(typeof consent === 'string' && { allowPoliciesFrom: consent }),
    ...projectPullAccess(walk(raw, target.podSpecPath)),
    ...(rollout !== undefined && { rollout }),
  };
}

function projectPullAccess(podSpec: unknown): Pick<Workload, 'pullSecrets' | 'serviceAccount'> {
  const { imagePullSecrets, serviceAccountName } = asRecord(podSpec);
  const pullSecrets = projectSecretNames(imagePullSecrets);
  return {
    ...(pullSecrets.length > 0 && { pullSecrets }),
    ...(typeof serviceAccountName === 'string' && serviceAccountName !== '' && { serviceAccount: serviceAccountName }),
  };
}

function projectContainers(target: TargetKind, metadata: RawMetadata, containers: readonly unknown[]): WorkloadContainer[] {
  const entries = mainEntries(metadata.managedFields);
  return containers.map((raw) => {
    const name = asText(asRecord(raw)['name']);
    const imageOwner = findImageOwner(target, entries, name);
    return { name, image: asText(asRecord(raw)['image']), ...(imageOwner !== undefined && { imageOwner }) };
  });
}

/** The entries about the object itself, oldest first: those of subresources (status, scale) own no image. */
function mainEntries(managedFields: unknown): ManagedFields[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .map((entry) => asRecord(entry) as ManagedFields)
    .filter((entry) => !entry.subresource)
    .toSorted((a, b) => timeOf(a) - timeOf(b));
}

/** Several managers own a field together when each applied the same value: the last one to have done so is its owner. */
function findImageOwner(target: TargetKind, entries: readonly ManagedFields[], container: string): string | undefined {
  const path = [...target.podSpecPath, 'containers'].map((part) => `f:${part}`);
  path.push(`k:${JSON.stringify({ name: container })}`, 'f:image');
  return entries.findLast(({ fieldsV1 }) => walk(fieldsV1, path) !== undefined)?.manager;
}

function timeOf({ time }: ManagedFields): number {
  const parsed = Date.parse(time ?? '');
  return Number.isNaN(parsed) ? 0 : parsed;
}

function walk(from: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => asRecord(value)[part], from);
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
