/** The controllers of workloads: they bring the newest revision to its pods, which takes seconds, or never ends where an image is broken. */
import { fieldsOf, isObject, textOrEmpty, type JsonObject } from '../../src/core/model/untyped.ts';
import type { ApiObject, ApiServer, Change, Edit } from './api-server.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

const resources = ['apps/v1/deployments', 'apps/v1/statefulsets', 'apps/v1/daemonsets'];

export interface Controllers {
  /** The images whose containers end as soon as they start, by what their names contain. */
  readonly broken: Set<string>;
  /** The digests that the pods of a workload run, by image; where `pull` knows them. */
  running(workload: ApiObject): ReadonlyMap<string, string>;
  /** Its pods are unavailable for this time. */
  disturb(place: Place, forMs: number): void;
}

type Place = Pick<Edit, 'resource' | 'namespace' | 'name'>;

/** Starts them. `pull`: the digest that a new pod gets for an image. */
export function startControllers(
  server: ApiServer,
  clock: Clock,
  random: Random,
  pull: (image: string) => string | undefined,
): Controllers {
  const broken = new Set<string>();
  /** What new pods have pulled, by workload and revision, and what those that are ready run, by workload. */
  const pulled = new Map<string, ReadonlyMap<string, string>>();
  const ready = new Map<string, ReadonlyMap<string, string>>();
  /** The uids of the workloads whose pods are unavailable. */
  const disturbed = new Set<string>();
  const phaseOf = (workload: ApiObject, phase: Phase) => statusOf(workload, phase, !disturbed.has(workload.metadata.uid));
  const running = ({ metadata: { uid } }: ApiObject) => ready.get(uid) ?? new Map<string, string>();
  const pullAll = (workload: ApiObject) =>
    new Map(imagesOf(workload).flatMap((image) => [pull(image)].flatMap((digest) => (digest === undefined ? [] : [[image, digest]]))));
  const isBrokenImage = (image: string) => [...broken].some((part) => image.includes(part));
  const isBroken = (workload: ApiObject) => imagesOf(workload).some(isBrokenImage);
  const write = (
    resource: string,
    { metadata: { namespace = '', name, uid } }: ApiObject,
    status: (now: ApiObject) => JsonObject | undefined,
  ) => {
    const now = server.get(resource, namespace, name);
    if (now === undefined || now.metadata.uid !== uid) return;
    const next = status(now);
    if (next !== undefined)
      server.edit({ resource, namespace, name, by: 'kube-controller-manager' }, (object) => ({ ...object, status: next }));
  };
  const observe = ({ resource, before, after }: Change) => {
    if (after === undefined || !resources.includes(resource) || before?.metadata.generation === after.metadata.generation) return;
    const { generation } = after.metadata;
    const revision = revisionOf(after);
    const { uid } = after.metadata;
    clock.schedule(undefined, random.between(20, 400), () => {
      if (before === undefined || revisionOf(before) !== revision) pulled.set(`${uid} ${revision}`, pullAll(after));
      write(resource, after, (now) => (now.metadata.generation === generation ? phaseOf(now, 'progressing') : undefined));
    });
    clock.schedule(undefined, random.between(500, 6_000), () =>
      write(resource, after, (now) => {
        if (revisionOf(now) !== revision || isBroken(now) || isPaused(now)) return undefined;
        ready.set(uid, pulled.get(`${uid} ${revision}`) ?? pullAll(now));
        return phaseOf(now, 'complete');
      }),
    );
  };
  server.onChange(observe);
  server.derive('apps/v1/replicasets', (namespace) =>
    server
      .all('apps/v1/deployments')
      .filter((one) => one.metadata.namespace === namespace)
      .map(replicaSetOf),
  );
  server.derive('v1/pods', (namespace) =>
    resources
      .flatMap((resource) => server.all(resource))
      .filter((one) => one.metadata.namespace === namespace)
      .map((one) => podOf(one, { isBrokenImage, isDisturbed: disturbed.has(one.metadata.uid) }, running(one))),
  );
  return {
    broken,
    running,
    disturb({ resource, namespace = '', name }, forMs) {
      const workload = server.get(resource, namespace, name);
      if (workload === undefined) return;
      const { uid } = workload.metadata;
      const show = () => write(resource, workload, (now) => (isObserved(now) ? phaseOf(now, 'progressing') : undefined));
      disturbed.add(uid);
      show();
      clock.schedule(undefined, forMs, () => {
        disturbed.delete(uid);
        show();
      });
    },
  };
}

export function imagesOf({ spec }: ApiObject): string[] {
  return containersOf(spec).flatMap(({ image }) => (typeof image === 'string' ? [image] : []));
}

/** The containers of a workload's template. */
export function containersOf(spec: JsonObject): JsonObject[] {
  const { template } = spec;
  const { spec: pod } = isObject(template) ? template : {};
  const { containers } = isObject(pod) ? pod : {};
  return Array.isArray(containers) ? containers.filter(isObject) : [];
}

/** Names a template: the same images have the same revision, until a restart. */
function revisionOf(workload: ApiObject): string {
  let hash = 7;
  for (const character of [...imagesOf(workload), ...restartOf(workload)].join(' '))
    hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return hash.toString(36);
}

/** When its pods were restarted last, as `kubectl rollout restart` writes it. */
export function restartOf({ spec }: ApiObject): string[] {
  const { annotations } = fieldsOf(fieldsOf(spec['template'])['metadata']);
  const at = textOrEmpty(fieldsOf(annotations)['kubectl.kubernetes.io/restartedAt']);
  return at === '' ? [] : [at];
}

function isPaused({ spec }: ApiObject): boolean {
  return spec['paused'] === true;
}

type Phase = 'progressing' | 'complete';

function isObserved({ status, metadata }: ApiObject): boolean {
  return status?.['observedGeneration'] === metadata.generation;
}

/** Whether all pods of a workload are of its newest revision and available, whoever knows it. */
export function isComplete(workload: ApiObject): boolean {
  const { status = {} } = workload;
  return status['isComplete'] === true && status['revision'] === revisionOf(workload) && status['isAvailable'] === true;
}

function statusOf(workload: ApiObject, phase: Phase, isAvailable: boolean): JsonObject {
  const { kind, metadata, status = {} } = workload;
  const { generation: observedGeneration } = metadata;
  const revision = revisionOf(workload);
  const isSame = status['revision'] === revision;
  const isDone = phase === 'complete' || (isSame && status['isComplete'] === true);
  const common = { observedGeneration, revision, isComplete: isDone, isAvailable };
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  const available = isAvailable ? 1 : 0;
  if (kind === 'StatefulSet') {
    const before = isDone ? revision : textOf(status['currentRevision'], 'none');
    return {
      ...common,
      replicas: 1,
      updatedReplicas: isDone ? 1 : 0,
      availableReplicas: isDone ? available : 0,
      updateRevision: revision,
      currentRevision: before,
    };
  }
  if (kind === 'DaemonSet')
    return { ...common, desiredNumberScheduled: 1, updatedNumberScheduled: isDone ? 1 : 0, numberAvailable: isDone ? available : 0 };
  const reason = isDone ? 'NewReplicaSetAvailable' : isPaused(workload) ? 'DeploymentPaused' : 'ReplicaSetUpdated';
  const availableSince = status['isAvailable'] === isAvailable ? textOf(status['availableSince'], at) : at;
  const updatedAt = isSame && status['reason'] === reason ? textOf(status['updatedAt'], at) : at;
  const conditions = [
    { type: 'Available', status: isAvailable ? 'True' : 'False', reason: 'MinimumReplicasAvailable', lastTransitionTime: availableSince },
    {
      type: 'Progressing',
      status: 'True',
      reason,
      lastUpdateTime: updatedAt,
      lastTransitionTime: isSame ? textOf(status['since'], at) : at,
    },
  ];
  return {
    ...common,
    since: isSame ? textOf(status['since'], at) : at,
    replicas: isDone ? 1 : 2,
    updatedReplicas: 1,
    readyReplicas: available,
    availableReplicas: available,
    availableSince,
    reason,
    updatedAt,
    conditions,
  };
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function replicaSetOf(deployment: ApiObject): JsonObject {
  const { name, namespace, uid } = deployment.metadata;
  const hash = revisionOf(deployment);
  const metadata = {
    name: `${name}-${hash}`,
    namespace,
    labels: { app: name, 'pod-template-hash': hash },
    annotations: { 'deployment.kubernetes.io/revision': '1' },
    ownerReferences: [{ uid, controller: true }],
  };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata };
}

function podOf(
  workload: ApiObject,
  { isBrokenImage, isDisturbed }: { readonly isBrokenImage: (image: string) => boolean; readonly isDisturbed: boolean },
  running: ReadonlyMap<string, string>,
): JsonObject {
  const { name, namespace, generation } = workload.metadata;
  const hash = revisionOf(workload);
  const labels = { app: name, 'pod-template-hash': hash, 'controller-revision-hash': hash, 'pod-template-generation': String(generation) };
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' };
  const containers = containersOf(workload.spec).map((one) => ({ name: one['name'], isBroken: isBrokenImage(textOrEmpty(one['image'])) }));
  const isReady = !isDisturbed && !containers.some(({ isBroken }) => isBroken);
  // A pod that is being replaced runs on, under the name of the container.
  const [digest] = [...running.values()];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${hash}-x`, namespace, labels, creationTimestamp: '2026-03-01T12:00:00Z' },
    spec: { containers: containers.map(({ name }) => ({ name })) },
    status: {
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: containers.map(({ name: container, isBroken }) => ({
        name: container,
        ready: !isDisturbed && !isBroken,
        restartCount: isBroken ? 5 : 0,
        ...(isBroken && { state: { waiting } }),
        ...(digest !== undefined && { imageID: `registry.example.com/image@${digest}` }),
      })),
    },
  };
}
