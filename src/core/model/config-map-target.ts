/**
 * ConfigMaps that hold images. Pods read a ConfigMap when they start, so the operator also names the workloads that are restarted after a change. Which ConfigMaps,
 * which keys and which repositories is the operator's configuration alone; policies only choose among them.
 */
import { heldUpdate } from './last-update.ts';
import { formatRepository, tryParseImageReference } from './image-reference.ts';
import type { KindRef, Workload, WorkloadRef } from './workload.ts';

/** The kinds of workloads that can be restarted. */
export const restartedKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

/** A workload in the namespace of a ConfigMap that is restarted after each change of it. */
export interface RestartedWorkload {
  readonly kind: (typeof restartedKinds)[number];
  readonly name: string;
}

/** One object, which the operator names. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

/** A ConfigMap that policies may write, with what is restarted after a change. */
export interface NamedConfigMap extends NamedObject {
  readonly restarts: readonly RestartedWorkload[];
}

/** A kind in the configuration, as far as it is about single objects. */
export interface ConfiguredObject extends KindRef, Partial<NamedObject> {
  readonly restarts?: readonly RestartedWorkload[];
}

/** The ConfigMaps that the operator names. */
export const configMapKind = 'ConfigMap';

/** Whether a kind is that of ConfigMaps. */
export function isConfigMap({ apiVersion = 'v1', kind }: KindRef): boolean {
  return kind === configMapKind && apiVersion === 'v1';
}

/** Whether what the operator allows for a kind is about this object of it. The namespace of an object may not be known to `lint`. */
export function isAbout(allowed: ConfiguredObject, { namespace, name }: Partial<NamedObject>): boolean {
  if (!isConfigMap(allowed)) return true;
  return allowed.name === name && (namespace === undefined || allowed.namespace === namespace);
}

/** The ConfigMaps that the operator names, each once, with all workloads that are restarted after its changes. */
export function namedConfigMaps(configured: readonly ConfiguredObject[]): readonly NamedConfigMap[] {
  const found = new Map<string, NamedConfigMap>();
  for (const one of configured) {
    const { namespace = '', name = '', restarts = [] } = one;
    if (!isConfigMap(one)) continue;
    const known = found.get(`${namespace}/${name}`)?.restarts ?? [];
    const added = restarts.filter((other) => !known.some(({ kind, name: taken }) => kind === other.kind && taken === other.name));
    found.set(`${namespace}/${name}`, { namespace, name, restarts: [...known, ...added] });
  }
  return [...found.values()];
}

/** The workloads that are restarted after a change of a ConfigMap. */
export function restartedBy({ namespace, restarts = [] }: Pick<Workload, 'namespace' | 'restarts'>): readonly WorkloadRef[] {
  return restarts.map(({ kind, name }) => ({ kind, namespace, name }));
}

/** The kinds that are watched even if no policy names them, because a restart may be due: of ConfigMaps with restarts, and of what they restart. */
export function kindsOfRestarts(named: readonly NamedConfigMap[]): readonly KindRef[] {
  const kinds = new Set(named.flatMap(({ restarts }) => restarts.map(({ kind }) => kind)));
  return kinds.size === 0 ? [] : [{ kind: configMapKind }, ...[...kinds].map((kind) => ({ kind }))];
}

/** A change of a ConfigMap that still holds, for which its workloads are restarted once. */
export interface HeldChange {
  /** Names the change: the ConfigMap, its field, the image and the time. */
  readonly key: string;
  readonly what: string;
  /** When the field was written, by the clock of the API server; absent if it is not recorded. */
  readonly writtenAt?: string;
}

/** The changes of a ConfigMap that we made and that nobody has overwritten. A change by somebody else restarts nothing. */
export function heldChanges({ name: configMap, fields = {}, fieldUpdates = new Map() }: Workload): readonly HeldChange[] {
  return Object.entries(fields).flatMap(([path, field]): HeldChange[] => {
    const lastUpdate = fieldUpdates.get(path);
    if (lastUpdate === undefined || !('value' in field) || typeof field.value !== 'string') return [];
    const { owner: imageOwner = '' } = field;
    const repository = tryParseImageReference(lastUpdate.to)?.repository;
    // The field holds a whole image, or what follows its repository.
    const images =
      repository === undefined ? [] : [field.value, ...[':', '@'].map((sign) => `${formatRepository(repository)}${sign}${field.value}`)];
    const held = images.some((image) => heldUpdate({ name: path, image, imageOwner, lastUpdate }) !== undefined);
    if (!held) return [];
    const writtenAt = field.setAt === undefined ? {} : { writtenAt: field.setAt };
    return [{ key: `${configMap}/${path}`, what: `${lastUpdate.to} ${lastUpdate.at}`, ...writtenAt }];
  });
}

/** Whether a workload has been restarted for all these changes, by its own record. */
export function isRestartedFor(changes: readonly HeldChange[], restartedFor: Readonly<Record<string, string>> = {}): boolean {
  return changes.every(({ key, what }) => Object.hasOwn(restartedFor, key) && restartedFor[key] === what);
}

/** `restarted` · `known`: it was restarted for the changes before, or created after them · `changed`: it has changed since it was read, try again · `gone`: there is no such workload. */
export type Restart = 'restarted' | 'known' | 'changed' | 'gone';
