import { defined } from '../../core/model/defined.ts';
import type { WorkloadRollout } from '../../core/model/workload.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';

type Raw = Readonly<Record<string, unknown>>;
interface Parts {
  readonly spec: Raw;
  readonly status: Raw;
  /** When a writer last changed the status, by the clock of the API server; absent if that is not known. */
  readonly statusAt: string | undefined;
}

/** Reads the rollout of each kind, as its controller reports it. Other kinds have none. */
const readers: Readonly<Record<string, (parts: Parts) => WorkloadRollout>> = {
  Deployment: readDeployment,
  StatefulSet: readStatefulSet,
  DaemonSet: readDaemonSet,
};

/** Raw object → the progress of its newest revision; undefined for kinds that do not roll out. Invalid or missing parts count as 0 or absent. */
export function projectRollout(kind: string, raw: unknown): WorkloadRollout | undefined {
  const object = fieldsOf(raw);
  const read = Object.hasOwn(readers, kind) ? readers[kind] : undefined;
  return read?.({
    spec: fieldsOf(object['spec']),
    status: fieldsOf(object['status']),
    statusAt: statusTimeOf(fieldsOf(object['metadata'])),
  });
}

/** Written whenever a value of the status changes, and not at a write that changes nothing. */
function statusTimeOf({ managedFields }: Raw): string | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const times = managedFields.map(fieldsOf).flatMap(({ subresource, time }) => (subresource === 'status' ? [textOrEmpty(time)] : []));
  return times.length === 0 ? undefined : times.reduce(laterOf);
}

/** Reads the fields that `kubectl rollout status` uses. The condition does not change while pods of a complete revision are replaced. */
function readDeployment({ spec, status }: Parts): WorkloadRollout {
  const wanted = replicasOf(spec);
  const updated = numberOf(status['updatedReplicas']);
  const total = numberOf(status['replicas']);
  const { status: progresses, reason, message, lastUpdateTime, lastTransitionTime } = conditionOf(status, 'Progressing');
  const failure = conditionOf(status, 'ReplicaFailure');
  const available = conditionOf(status, 'Available');
  // Written when a rollout ends, also one to an earlier revision, and not while pods are replaced or scaled.
  const completeSince = reason === 'NewReplicaSetAvailable' ? lastUpdateTime : '';
  const availableSince = available.status === 'True' ? laterOf(available.lastTransitionTime, completeSince) : '';
  const resumedAt = reason === 'DeploymentResumed' ? lastUpdateTime : progresses === 'True' ? lastTransitionTime : '';
  return {
    observedGeneration: numberOf(status['observedGeneration']),
    wanted,
    toUpdate: wanted,
    updated,
    available: numberOf(status['availableReplicas']),
    outdated: Math.max(0, total - updated),
    wasComplete: reason === 'NewReplicaSetAvailable' && updated > 0 && total === updated,
    ...(reason === 'ProgressDeadlineExceeded' && {
      deadlineExceeded: { message: message || 'its progress deadline is exceeded', at: lastUpdateTime },
    }),
    ...(reason !== '' && { isIncomplete: reason !== 'NewReplicaSetAvailable' }),
    ...(failure.status === 'True' && { [isDenied(failure.message) ? 'denied' : 'cannotCreate']: failure.message }),
    ...(resumedAt !== '' && { resumedAt }),
    ...(availableSince !== '' && { availableSince }),
    ...(spec['paused'] === true && { haltedBecause: 'it is paused' }),
  };
}

function readStatefulSet({ spec, status, statusAt }: Parts): WorkloadRollout {
  const wanted = replicasOf(spec);
  const strategy = fieldsOf(spec['updateStrategy']);
  const partition = numberOf(fieldsOf(strategy['rollingUpdate'])['partition']);
  const updated = numberOf(status['updatedReplicas']);
  const isCurrent = Boolean(status['updateRevision']) && status['updateRevision'] === status['currentRevision'];
  const toUpdate = Math.max(0, wanted - partition);
  const haltedBecause = haltOf(strategy) ?? (wanted > 0 && toUpdate === 0 ? 'its partition includes no pod' : undefined);
  return {
    observedGeneration: numberOf(status['observedGeneration']),
    wanted,
    toUpdate,
    updated,
    available: numberOf(status['availableReplicas'] ?? status['readyReplicas']),
    outdated: 0,
    // The current revision becomes the new one when all pods are ready. After a rollback to the current revision, both are equal immediately.
    wasComplete: isCurrent && updated > 0 && updated >= numberOf(status['replicas']),
    // With a partition, the revisions differ even if the rollout is complete.
    ...(partition === 0 && { isIncomplete: !isCurrent }),
    // Its status has no time of its own. What it says now, it has said since it changed.
    ...defined({ haltedBecause, availableSince: statusAt }),
  };
}

function readDaemonSet({ spec, status, statusAt }: Parts): WorkloadRollout {
  const wanted = numberOf(status['desiredNumberScheduled']);
  const haltedBecause = haltOf(fieldsOf(spec['updateStrategy']));
  return {
    observedGeneration: numberOf(status['observedGeneration']),
    wanted,
    toUpdate: wanted,
    updated: numberOf(status['updatedNumberScheduled']),
    available: numberOf(status['numberAvailable']),
    outdated: 0,
    wasComplete: false,
    ...defined({ haltedBecause, availableSince: statusAt }),
  };
}

function haltOf(strategy: Raw): string | undefined {
  return strategy['type'] === 'OnDelete' ? 'its update strategy is OnDelete' : undefined;
}

/** Whether a pod was refused because of its image, as an admission webhook or policy may do. A quota would refuse any pod. */
function isDenied(message: string): boolean {
  return /\bdenied (?:the )?request\b/.test(message);
}

/** The later one of two times of an API server, either of which may be absent. */
function laterOf(a: string, b: string): string {
  return Date.parse(b) > Date.parse(a) || a === '' ? b : a;
}

function conditionOf({ conditions }: Raw, wanted: string) {
  const found = Array.isArray(conditions) ? conditions.map(fieldsOf).find(({ type }) => type === wanted) : undefined;
  const text = (field: string) => textOrEmpty(found?.[field]);
  return {
    status: text('status'),
    reason: text('reason'),
    message: text('message'),
    lastUpdateTime: text('lastUpdateTime'),
    lastTransitionTime: text('lastTransitionTime'),
  };
}

function replicasOf(spec: Raw): number {
  return typeof spec['replicas'] === 'number' ? spec['replicas'] : 1;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
