/** Stores notices in the queue, one job for each target that wants them. */
import { within } from '../core/async/deadline.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { describeError } from '../core/model/errors.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';
import { formatSubject } from '../core/model/notice.ts';
import { policyNotices } from '../core/status/policy-notices.ts';
import type { WorkMeans } from '../service/compose/work-wing.ts';
import type { NoticeJob } from '../service/queue/jobs.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import type { NamespacedTargets } from './namespaced-targets.ts';
import { isWanted, type NoticePorts } from './process-notice.ts';

/** How long a write of a status waits for Redis. It happens even without an answer; the notices are then counted as unconfirmed. */
const confirmWithinMs = 1_000;

export interface NoticeStorePorts extends Pick<WorkMeans, 'rewriteNotice'>, Pick<NoticePorts, 'count'> {
  /** The targets of the configuration. */
  readonly configured: readonly ConfiguredTarget[];
  readonly namespaced: Pick<NamespacedTargets, 'hasTargets' | 'of'>;
  /** Adds jobs to the queue. Rejects if Redis does not store them. */
  readonly addJobs: (jobs: readonly NoticeJob[]) => Promise<void>;
  readonly logger: Logger;
}

/** Creates the store. It does nothing if there are no targets. */
export function createNoticeStore({ configured, namespaced, addJobs, rewriteNotice, count, logger }: NoticeStorePorts): NoticeSink {
  const add: NoticeSink['add'] = async (notices, labels) => {
    const receivedAt = new Date().toISOString();
    const jobs = notices.flatMap(({ notice, identity }) =>
      [...configured, ...(notice.subject.namespace === undefined ? [] : namespaced.of(notice.subject.namespace))]
        .filter((target) => isWanted(target, notice, labels))
        .map(({ name }): NoticeJob => ({ schema: 1, target: name, identity, notice, receivedAt })),
    );
    if (jobs.length === 0) return;
    const result = await within(confirmWithinMs, store(jobs));
    for (const { notice, target } of jobs) count({ kind: notice.kind, target, result: result ?? 'unconfirmed' });
  };
  const store = (jobs: readonly NoticeJob[]): Promise<'stored' | 'unconfirmed'> =>
    addJobs(jobs).then(
      () => 'stored',
      (error: unknown) => {
        logger.warn(
          { policy: jobs.map(({ notice }) => formatSubject(notice.subject))[0], why: describeError(error) },
          'notices not stored',
        );
        return 'unconfirmed';
      },
    );
  return {
    add,
    async onPolicyStatus(policy, before, after, eventId) {
      if (configured.length === 0 && !namespaced.hasTargets()) return;
      const found = policyNotices(policy, { before, after }, new Date().toISOString(), eventId);
      await add(
        found.flatMap((one) => rewriteNotice(policy, one) ?? []),
        policy.labels,
      );
    },
  };
}
