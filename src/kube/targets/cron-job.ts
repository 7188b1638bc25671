import type { TargetKind } from '../target-kind.ts';

/** CronJobs of batch/v1: what runs already stays, the next job has the new image. */
export const cronJob: TargetKind = {
  kind: 'CronJob',
  apiVersion: 'batch/v1',
  resource: 'cronjobs',
  podSpecPath: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};
