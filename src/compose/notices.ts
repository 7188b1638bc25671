/** The part of the role `work` that sends notifications. */
import { within } from '../async/deadline.ts';
import { describeError } from '../model/errors.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import { readStatus } from '../model/policy-status.ts';
import { noticeIdentity, noticesBetween } from '../notify/notices-between.ts';
import { createNoticeProcessor, isWanted, type NoticePorts, type NoticeResult } from '../notify/process-notice.ts';
import { sendMail } from '../notify/send-mail.ts';
import { sendNotice } from '../notify/send-notice.ts';
import type { NoticeJob } from '../queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../queue/producer.ts';
import { readNoticeJob } from '../queue/read-job.ts';
import { createWorker, type QueueWorker } from '../queue/worker.ts';
import type { Foundation } from './foundation.ts';

/** Stores what a write of a status is about to report. */
export type StoreNotices = (policy: ImagePolicy, before: unknown, after: unknown) => Promise<void>;

const concurrency = 16;
/** A status is written even if Redis does not answer: the notices are then not confirmed, and counted as such. */
const confirmWithinMs = 1_000;

/** Stores notices before the status that they follow from is written; undefined if there are no targets. Never rejects. */
export function createNoticeStore({ settings, logger, metrics }: Foundation, queues: WorkQueues): StoreNotices | undefined {
  const { notificationTargets } = settings;
  if (notificationTargets.length === 0) return undefined;
  return async (policy, before, after) => {
    const receivedAt = new Date().toISOString();
    const known = readStatus(before);
    const notices = noticesBetween(policy, known, readStatus(after), receivedAt);
    const jobs = notices.flatMap((notice) =>
      notificationTargets
        .filter((target) => isWanted(target, notice, policy.labels))
        .map(({ name }): NoticeJob => ({ schema: 1, target: name, identity: noticeIdentity(notice, known), notice, receivedAt })),
    );
    if (jobs.length === 0) return;
    const count = (result: NoticeResult) => {
      for (const { notice, target } of jobs) metrics.notices.inc({ kind: notice.kind, target, result });
    };
    const { promise: added, resolve } = Promise.withResolvers<'stored' | 'unconfirmed'>();
    const add = queues.addNoticeJobs(jobs).then(
      () => resolve('stored'),
      (error: unknown) => {
        logger.warn({ policy: `${policy.namespace}/${policy.name}`, why: describeError(error) }, 'notices not stored');
        resolve('unconfirmed');
      },
    );
    await within(confirmWithinMs, add);
    // Resolved only if it has not been yet.
    resolve('unconfirmed');
    count(await added);
  };
}

/** The worker that sends them. */
export function createNoticeWorker({ settings, logger, metrics }: Foundation, queue: QueueAccess): QueueWorker {
  const ports: NoticePorts = {
    targets: settings.notificationTargets,
    post: (url, request, signal) => sendNotice(url, request, { fetch, now: Date.now, signal }),
    mail: sendMail,
    dashboardUrl: settings.config.dashboard.publicUrl,
    count: (labels) => metrics.notices.inc(labels),
    logger,
    now: Date.now,
  };
  return createWorker<NoticeJob>({
    access: queue,
    now: Date.now,
    random: Math.random,
    queue: 'notice',
    concurrency,
    read: readNoticeJob,
    process: createNoticeProcessor(ports),
  });
}
