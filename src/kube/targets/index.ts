import type { TargetKind } from '../target-kind.ts';
import { cronJob } from './cron-job.ts';
import { daemonSet } from './daemon-set.ts';
import { deployment } from './deployment.ts';
import { replicaSet } from './replica-set.ts';
import { statefulSet } from './stateful-set.ts';

/** Every kind of Kubernetes itself whose images can be updated; custom resources are found by discovery. */
export const targets: readonly TargetKind[] = [deployment, statefulSet, daemonSet, cronJob, replicaSet];
