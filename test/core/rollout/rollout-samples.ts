/** Rollouts for tests: name only what matters. */
import type { ConsentRules } from '../../../src/core/plan/consent.ts';
import type { ImagePolicy, PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import type { PodEvidence } from '../../../src/core/rollout/evaluate-rollout.ts';
import type { RegistryAliases } from '../../../src/core/model/image-reference.ts';
import type { LastUpdate } from '../../../src/core/model/last-update.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { WorkloadView } from '../../../src/core/model/resolve-target.ts';
import { snapshotOf, type TargetSnapshot } from '../../../src/core/model/target-snapshot.ts';
import { isSameWorkload, type Workload, type WorkloadContainer, type WorkloadRollout } from '../../../src/core/model/workload.ts';
import { digestOf, noAliases, policyOf, specOf, webDeployment, workloadOf } from '../model/samples.ts';

export const image = 'registry.example.com/shop/web';
/** When the changes of these tests were made. */
export const changedAt = '2026-03-01T12:00:00Z';
export const afterChange = (seconds: number) => new Date(Date.parse(changedAt) + seconds * 1_000);

/** One pod of the new revision is wanted, seen by the controller, and not there yet. */
export function rolloutOf(rollout: Partial<WorkloadRollout> = {}): WorkloadRollout {
  return { observedGeneration: 2, wanted: 1, toUpdate: 1, updated: 0, available: 0, outdated: 1, wasComplete: false, ...rollout };
}
export const rolledOut = rolloutOf({ updated: 1, available: 1, outdated: 0, wasComplete: true });
export const stuckRollout = rolloutOf({
  updated: 1,
  deadlineExceeded: { message: 'ReplicaSet "web-2" has timed out progressing.', at: '2026-03-01T12:00:20Z' },
});

/** Deployment shop/web that runs 1.3.0 by our hand, in its second generation. */
export function changedWorkload(rollout: Partial<WorkloadRollout> = {}, workload: Partial<Workload> = {}, tag = '1.3.0'): Workload {
  return workloadOf(
    { web: { image: `${image}:${tag}`, imageOwner: 'image-watcher' } },
    { generation: 2, resourceVersion: '2', rollout: rolloutOf(rollout), ...workload },
  );
}

/** What pods show that run the new image and do not become ready. */
export const imageAtFault: PodEvidence = {
  complaint: { against: 'image', message: 'pod web-2-x, container web: runs, and is not ready' },
};

/** A policy that watches shop/web, with this status. */
export const rolloutOwnerOf = (status: PolicyStatus, onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback') =>
  policyOf({ spec: watchedSpec(onFailure), status });
/** A cluster of these workloads, whose registries have one name each, and where nobody consents to anything. */
export function viewOf(...workloads: readonly (Workload | undefined)[]): WorkloadView & ConsentRules & { aliases: RegistryAliases } {
  const there = workloads.filter((one) => one !== undefined);
  return {
    aliases: noAliases,
    crossNamespace: 'consent',
    namespaceConsent: () => null,
    findWorkload: (ref) => there.find((one) => isSameWorkload(one, ref)),
    listWorkloads: (kind, namespace) => there.filter((one) => one.namespace === namespace && one.kind === kind.kind),
  };
}

/** What a policy sees of these workloads a minute after the change, or at another time. */
export function snapshotFrom(
  policy: Pick<ImagePolicy, 'spec'>,
  workloads: readonly (Workload | undefined)[],
  at: Date = afterChange(60),
): TargetSnapshot {
  return snapshotOf(policy, viewOf(...workloads), at);
}

/** The workload, which remembers that it was changed from 1.2.3 by the policy. */
export function withLastUpdate(workload: Workload, update: Partial<LastUpdate> = {}): Workload {
  const containers = workload.containers.map((container): WorkloadContainer => {
    const { uid } = policyOf();
    const own = {
      policy: uid,
      at: changedAt,
      trigger: 'Webhook',
      from: `${image}:1.2.3`,
      to: container.image,
      digest: digestOf('b'),
    } as const;
    return { ...container, lastUpdate: { ...own, ...update } };
  });
  return { ...workload, containers };
}

/** The change from 1.2.3 to 1.3.0. */
export function entryOf(entry: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    ...webDeployment,
    container: 'web',
    from: `${image}:1.2.3`,
    to: `${image}:1.3.0`,
    tag: '1.3.0',
    digest: digestOf('b'),
    trigger: 'Webhook',
    at: changedAt,
    result: 'Applied',
    ...entry,
  };
}

export const watchedSpec = (onFailure: 'Rollback' | 'Hold' | 'Ignore' = 'Rollback', spec: Partial<PolicySpec> = {}) =>
  specOf({ rollout: { timeoutMs: 600_000, onFailure }, ...spec });

/** A pod whose container waits for this reason since the change. */
export function waitingPod(
  reason: string,
  { restarts = 0, message, container = 'web' }: { restarts?: number; message?: string; container?: string } = {},
): PodState {
  const waiting = { reason, ...(message !== undefined && { message }) };
  return { name: 'web-2-x', startedAt: changedAt, ready: false, containers: [{ name: container, ready: false, restarts, waiting }] };
}

/** A pod whose changed container runs, and is not ready. */
export function runningPod(startedAt: string = changedAt): PodState {
  return { name: 'web-2-x', startedAt, ready: false, containers: [{ name: 'web', ready: false, restarts: 0 }] };
}
