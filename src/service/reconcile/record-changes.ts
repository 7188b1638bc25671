/** Records changes with the pushes that caused them. Each workload records which push caused its change, so any reporter can do this. */
import { defined } from '../../core/model/defined.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { lastUpdateOf, pastChanges } from '../../core/model/last-update.ts';
import { isTriggered } from '../../core/model/is-triggered.ts';
import type { HistoryEntry, PolicyStatus } from '../../core/model/policy-status.ts';
import { listFew } from '../../core/model/text.ts';
import { formatWorkload, isSameObject, refOf } from '../../core/model/workload.ts';
import { describeImages } from '../../core/plan/changed-images.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { isSameContainer, isSameChange } from '../../core/plan/past.ts';
import type { AppliedChange } from '../../core/plan/plan-update.ts';
import type { PolicyResult } from '../queue/event-log.ts';
import type { Ports } from './ports.ts';

/** The fields that a policy's changes set in the record of a push. */
export type ChangesResult = Pick<PolicyResult, 'kind' | 'reason' | 'message' | 'stage' | 'isFound'> & { readonly at: string };

/** The ports of these records. */
export type RecordPorts = Pick<Ports, 'cluster' | 'report'>;

/** A policy, with its status before the report. */
export interface ChangesOwner {
  readonly policy: ImagePolicy;
  readonly before: PolicyStatus;
}

/** The status that a reconcile has written, and the changes that it reports beside it. */
interface Report extends Pick<Outcome, 'changes'> {
  readonly written: PolicyStatus | undefined;
  readonly cause: { readonly eventId?: string };
}

/** The push that caused a change, as the workload records it or, if the workload does not, as far as the status knows it. */
export function eventOf(status: PolicyStatus, entry: HistoryEntry, { cluster }: Pick<Ports, 'cluster'>): string | undefined {
  const workload = cluster.findWorkload(entry);
  const change = workload && pastChanges(lastUpdateOf(workload, entry.container)).find(({ at }) => at === entry.at);
  if (change !== undefined && workload !== undefined && isSameObject(workload, entry)) return change.event;
  return isTriggered(status, entry) ? status.trigger?.event : undefined;
}

/** Records a result for each push that caused some of the changes. */
export async function recordChanges(
  { policy, before }: ChangesOwner,
  entries: readonly HistoryEntry[],
  result: ChangesResult,
  ports: RecordPorts,
): Promise<void> {
  for (const [event, caused] of Map.groupBy(entries, (entry) => eventOf(before, entry, ports))) {
    const [entry] = caused;
    if (event === undefined || entry === undefined) continue;
    const { tag, digest } = entry;
    const changes = caused.flatMap(toChange);
    const isUnwatched = result.stage === undefined && isUsable(policy.spec) && policy.spec.rollout === undefined;
    await ports.report.eventLog.recordResult(event, policyKey(policy), {
      ...result,
      tag,
      ...defined({ digest }),
      ...(isUnwatched && { isUnwatched }),
      ...(changes.length > 0 && { changes }),
    });
  }
}

/**
 * Records changes that the history of a policy has taken over from its workloads with their pushes: those that a process made which could report them neither to
 * the policy nor to the push, and those of an outcome that another cause than its push has led to, such as an approval. What the push of the outcome has changed
 * is in its own result.
 */
export async function recordForgotten(owner: ChangesOwner, { written, cause, changes = [] }: Report, ports: RecordPorts): Promise<void> {
  const { history: known = [] } = owner.before;
  const isTold = (entry: HistoryEntry) =>
    cause.eventId !== undefined &&
    changes.some(({ workload, container, at }) => at === entry.at && isSameContainer({ ...workload, container }, entry));
  const isNew = (entry: HistoryEntry) => !known.some((one) => isSameChange(one, entry)) && !isTold(entry);
  const found = (written?.history ?? []).filter((entry) => isNew(entry) && eventOf(owner.before, entry, ports) !== cause.eventId);
  for (const [at, entries] of Map.groupBy(found, (entry) => entry.at)) {
    const message = listFew(entries, (entry) => `${formatWorkload(entry)}: ${describeImages(entry)}`);
    await recordChanges(owner, entries, { kind: 'updated', reason: 'Updated', message, at }, ports);
  }
}

function toChange({ container, from, to, ...entry }: HistoryEntry, index: number): AppliedChange[] {
  return from === undefined ? [] : [{ workload: refOf(entry), container, index, from, to }];
}
