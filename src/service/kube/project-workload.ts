import { defined } from '../../core/model/defined.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { findGitOpsTool } from '../../core/plan/guards/git-ops.ts';
import { fieldLabel } from '../../core/model/field-path.ts';
import type { LastUpdate } from '../../core/model/last-update.ts';
import { parseLastUpdate, updateAnnotation } from '../../core/model/last-update-annotation.ts';
import {
  isCustomVersion,
  volumeName,
  type ImageList,
  type ImageVolume,
  type Workload,
  type WorkloadContainer,
} from '../../core/model/workload.ts';
import { projectSecretNames } from './secrets.ts';
import { projectInstallation } from './project-installation.ts';
import { projectRollout } from './project-rollout.ts';
import { readRestartedFor } from './restart-for-change.ts';
import { findOwner, mainEntries } from './field-owner.ts';
import { readFields } from './read-field.ts';
import type { TargetKind } from './targets.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';

interface RawMetadata {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly uid?: unknown;
  readonly generation?: unknown;
  readonly resourceVersion?: unknown;
  readonly labels?: unknown;
  readonly annotations?: unknown;
  readonly managedFields?: unknown;
  readonly deletionTimestamp?: unknown;
}

/**
 * Raw object → Workload. Invalid or missing parts become empty values, and containers keep their indexes, because patches address them by index. Throws only if
 * there is no name.
 */
export function projectWorkload(target: TargetKind, raw: unknown): Workload {
  const metadata = (fieldsOf(raw)['metadata'] ?? {}) as RawMetadata;
  if (typeof metadata.name !== 'string' || metadata.name === '') throw new Error(`a ${target.kind} without a name`);
  // A custom resource may have the kind of a built-in one, but does not have its status.
  const rollout = isCustomVersion(target.apiVersion) ? undefined : projectRollout(target.kind, raw);
  const installation = target.fields === undefined ? undefined : projectInstallation(target, raw);
  const entries = mainEntries(metadata.managedFields);
  const initContainers = projectImages(target, raw, 'initContainers', entries);
  const volumes = projectVolumes(target, raw, entries);
  const labels = asLabels(metadata.labels);
  const fields = target.fields === undefined ? undefined : readFields(raw, target.fields, entries);
  // Every manager that ever wrote counts, because our own change takes over the image field.
  const managers = entries.flatMap(({ manager }) => manager ?? []);
  const gitOps = findGitOpsTool(managers, [...Object.keys(labels ?? {}), ...Object.keys(fieldsOf(metadata.annotations))]);
  const consent = fieldsOf(metadata.annotations)[consentAnnotation];
  return {
    apiVersion: target.apiVersion,
    kind: target.kind,
    namespace: textOrEmpty(metadata.namespace),
    name: metadata.name,
    uid: textOrEmpty(metadata.uid),
    generation: typeof metadata.generation === 'number' ? metadata.generation : 0,
    resourceVersion: textOrEmpty(metadata.resourceVersion),
    containersPath: containersPathOf(target),
    containers: projectImages(target, raw, 'containers', entries),
    ...(initContainers.length > 0 && { initContainers }),
    ...(volumes.length > 0 && { volumes }),
    ...(fields !== undefined && { fields, ...projectFieldUpdates(raw, Object.keys(fields)) }),
    ...defined({ labels }),
    hasAnnotations: typeof metadata.annotations === 'object' && metadata.annotations !== null,
    ...(typeof consent === 'string' && { allowPoliciesFrom: consent }),
    ...(walk(raw, ['spec', 'paused']) === true && { paused: true }),
    ...(typeof metadata.deletionTimestamp === 'string' && { isDeleted: true }),
    ...defined({ gitOps }),
    ...projectPullAccess(walk(raw, target.podSpecPath)),
    ...defined({ rollout, installation, restarts: restartsOf(target, metadata), restartedFor: readRestartedFor(metadata) }),
  };
}

function restartsOf({ objects = [] }: TargetKind, { namespace, name }: RawMetadata): Workload['restarts'] {
  const restarts = objects.find((one) => one.namespace === namespace && one.name === name)?.restarts ?? [];
  return restarts.length === 0 ? undefined : restarts;
}

const containersPaths = new WeakMap<TargetKind, string>();

/** The path of the containers in objects of a kind. All workloads of the kind share one string. */
function containersPathOf(target: TargetKind): string {
  const known = containersPaths.get(target) ?? `/${[...target.podSpecPath, 'containers'].join('/')}`;
  containersPaths.set(target, known);
  return known;
}

function projectPullAccess(podSpec: unknown): Pick<Workload, 'pullSecrets' | 'serviceAccount'> {
  const { imagePullSecrets, serviceAccountName } = fieldsOf(podSpec);
  const pullSecrets = projectSecretNames(imagePullSecrets);
  return {
    ...(pullSecrets.length > 0 && { pullSecrets }),
    ...(typeof serviceAccountName === 'string' && serviceAccountName !== '' && { serviceAccount: serviceAccountName }),
  };
}

/** Whether policies may select an object. */
export function isWanted({ withoutControlled, objects }: TargetKind, raw: unknown): boolean {
  const { namespace, name } = fieldsOf(fieldsOf(raw)['metadata']);
  if (objects?.some((one) => one.namespace === namespace && one.name === name) === false) return false;
  if (withoutControlled === undefined) return true;
  const owners = walk(raw, ['metadata', 'ownerReferences']);
  return !(Array.isArray(owners) && owners.some((owner) => fieldsOf(owner)['controller'] === true));
}

/** The limit for the entries of a list. Plans take time for each, no pod has as many, and whoever may write a workload could list ten thousand. */
const maxEntries = 100;

/** The first entries of a list of the pod template, with their images, in the order of the list. */
function projectImages(target: TargetKind, raw: unknown, list: ImageList, entries: ReturnType<typeof mainEntries>): WorkloadContainer[] {
  const found = walk(raw, [...target.podSpecPath, list]);
  if (!Array.isArray(found)) return [];
  const annotations = fieldsOf(walk(raw, ['metadata', 'annotations']));
  const listPath = [...target.podSpecPath, list].map((part) => `f:${part}`);
  const field = list === 'volumes' ? ['image', 'reference'] : ['image'];
  const fieldPath = field.map((part) => `f:${part}`);
  return found.slice(0, maxEntries).map((entry: unknown) => {
    const own = textOrEmpty(fieldsOf(entry)['name']);
    const name = list === 'volumes' ? volumeName(own) : own;
    const { manager, time } = findOwner(entries, [...listPath, `k:${JSON.stringify({ name: own })}`, ...fieldPath]) ?? {};
    const lastUpdate = readLastUpdate(annotations, name);
    return {
      name,
      image: textOrEmpty(walk(entry, field)),
      ...defined({ imageOwner: manager, imageSetAt: time, lastUpdate }),
    };
  });
}

function projectFieldUpdates(raw: unknown, paths: readonly string[]): Pick<Workload, 'fieldUpdates'> {
  const annotations = fieldsOf(walk(raw, ['metadata', 'annotations']));
  const updates = paths.map(fieldLabel).flatMap((label): [string, LastUpdate][] => {
    const update = readLastUpdate(annotations, label);
    return update === undefined ? [] : [[label, update]];
  });
  return updates.length === 0 ? {} : { fieldUpdates: new Map(updates) };
}

function readLastUpdate(annotations: Readonly<Record<string, unknown>>, container: string): LastUpdate | undefined {
  const key = updateAnnotation(container);
  return key === undefined ? undefined : parseLastUpdate(annotations[key]);
}

/** Reads the image volumes. Other volumes of the pod are left out. */
function projectVolumes(target: TargetKind, raw: unknown, entries: ReturnType<typeof mainEntries>): ImageVolume[] {
  const volumes = projectImages(target, raw, 'volumes', entries).map((volume, index) => ({ ...volume, index }));
  return volumes.filter(({ image }) => image !== '');
}

function asLabels(labels: unknown): Workload['labels'] {
  const pairs = Object.entries(fieldsOf(labels)).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

function walk(from: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => fieldsOf(value)[part], from);
}
