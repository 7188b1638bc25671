/** The common part of all reports of a reconcile: their subject, the count and the log line of a decision, and the changes. */
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { workloadKey } from '../../core/model/workload.ts';
import { describeImages } from '../../core/plan/changed-images.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import type { Ports } from './ports.ts';
import { traceDecision, type Decision } from './trace-decisions.ts';

export type ReportPorts = Pick<Ports, 'report' | 'policies' | 'cluster' | 'queues'>;

/** The subject of a report: the reconcile of a policy, and its cause. */
export interface Subject {
  readonly policy: ImagePolicy;
  readonly cause: ReconcileCause;
  readonly signal: AbortSignal;
  /** When the image was known to be the right one, in ms since 1970. */
  readonly verifiedAt?: number | undefined;
  /** The digest that the registry has for the pushed tag, if another one was announced. */
  readonly otherDigest?: string | undefined;
}

/** Counts a decision in the metrics and logs it. */
export function count(
  key: string,
  decision: Decision,
  { source, eventId }: ReconcileCause,
  { report: { metrics, logger } }: ReportPorts,
): void {
  const { kind: outcome, reason, message: why, tag } = decision;
  metrics.reconciles.inc({ source, outcome, reason });
  logger.debug({ policy: key, source, event: eventId, outcome, reason, why, tag }, 'policy reconciled');
  traceDecision(key, decision);
}

/** Reports each change: an Event of its workload, a line of the log, metrics. */
export function reportChanges(
  policy: ImagePolicy,
  outcome: Pick<Outcome, 'changes' | 'skipped'>,
  cause: ReconcileCause,
  ports: ReportPorts,
): void {
  for (const change of outcome.changes ?? []) {
    const message = [`${describeImages(change)}, selected by ImagePolicy ${policyKey(policy)}`, ...(outcome.skipped ?? [])].join('; ');
    const workload = ports.cluster.findWorkload(change.workload);
    if (workload !== undefined) {
      ports.report.recordEvent({ regarding: workload, type: 'Normal', reason: 'Updated', action: 'UpdateImage', message });
    }
    const fields = { policy: policyKey(policy), source: cause.source, event: cause.eventId };
    ports.report.logger.info({ ...fields, workload: workloadKey(change.workload), from: change.from, to: change.to }, 'workload updated');
    ports.report.metrics.changes.inc({ kind: change.workload.kind, source: cause.source });
  }
  if (outcome.changes === undefined || outcome.changes.length === 0) return;
  ports.report.metrics.pushToPatchSeconds.observe((ports.cluster.now() - Date.parse(cause.receivedAt)) / 1_000);
}
