/** Stores that the report of a scan is there, so that the policies that ask for it look again. */
import { randomUUID } from 'node:crypto';
import { formatRepository } from '../../core/model/image-reference.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { ScanEvent } from '../../core/model/scan-event.ts';
import { jobOptions, scanJobId, schema, type ScanJob } from './jobs.ts';
import { openQueue, type QueueAccess } from './producer.ts';
import { createReplicatedWrite } from './replicated-write.ts';

/** How long the scans of a repository are gathered, in ms: the images of several platforms are scanned together, and each is announced. */
const gatherMs = 1_000;

/** How writes of scans are confirmed. */
export interface ScanJobOptions {
  readonly minReplicas: number;
  readonly confirmWithinMs: number;
  readonly now: () => Date;
}

/**
 * Creates the function that stores scans, one job for each repository. A scan is merged into the job of its repository that has not started. It resolves when
 * Redis has stored all jobs (on `minReplicas` replicas too), and rejects when that is uncertain; then, storing them again is harmless.
 */
export function createScanJobs(
  access: QueueAccess,
  { minReplicas, confirmWithinMs, now }: ScanJobOptions,
): (scans: readonly ScanEvent[]) => Promise<void> {
  const queue = openQueue<ScanJob>('poll', access);
  const confirm = createReplicatedWrite(access.redis, access.prefix, { minReplicas, withinMs: confirmWithinMs });
  const options = { ...jobOptions, removeOnComplete: true, removeOnFail: true, delay: gatherMs };
  const store = async (job: ScanJob): Promise<void> => {
    const jobId = scanJobId(job);
    await queue.add('scan', job, { ...options, jobId });
    // The job may be an earlier one. If that has started, its policies may have asked before the report was there.
    if ((await queue.getJob(jobId))?.attemptsStarted === 0) return;
    await queue.add('scan', job, { ...options, jobId: hashId([jobId, randomUUID()]) });
  };
  return async (scans) => {
    const receivedAt = now().toISOString();
    const byRepository = new Map(scans.map((scan) => [formatRepository(scan.repository), scan]));
    const jobs = [...byRepository.values()].map(({ repository, receiver }): ScanJob => ({
      schema,
      scanned: repository,
      receiver,
      receivedAt,
    }));
    if (jobs.length > 0) await confirm(() => Promise.all(jobs.map(store)));
  };
}
