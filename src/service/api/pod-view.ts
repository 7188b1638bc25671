/** The pods of a rollout as the API shows them: why each is not ready, and the end of its log. Pure. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { hidden } from '../../core/model/hidden-text.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { cut } from '../../core/model/text.ts';
import { formatWorkload, type WorkloadRef } from '../../core/model/workload.ts';
import type { PodContainer, PodState } from '../../core/rollout/evaluate-pods.ts';

const container = z
  .object({
    name: z.string(),
    ready: z.boolean(),
    restarts: z.int(),
    reason: z.string().exactOptional().describe('Why it does not run, or how it ended, as the kubelet says it.'),
    message: z.string().exactOptional(),
    exitCode: z.int().exactOptional().describe('Of its last run that ended.'),
    log: z.array(z.string()).exactOptional().describe('The last lines of its log: of the run that ended last, if it was started again.'),
    noLog: z.string().exactOptional().describe('Why its log is not shown.'),
  })
  .meta({ id: 'ContainerReport', description: 'A container that is not ready.' });

export const podReport = z
  .object({
    name: z.string(),
    startedAt: z.string(),
    reason: z.string().exactOptional().describe('Why the pod cannot run, whatever its containers are.'),
    message: z.string().exactOptional(),
    containers: z.array(container).describe('Those that are not ready.'),
  })
  .meta({ id: 'PodReport', description: 'A pod that is not ready.' });
export type PodReport = z.output<typeof podReport>;
type ContainerReport = z.output<typeof container>;

/** The most workloads of an answer, pods of a workload, and logs of a workload. */
export const podLimits = { workloads: 3, pods: 5, logs: 3 } as const;

/** The workloads of a policy whose newest change has not rolled out, the newest first. */
export function unfinishedWorkloads({ spec, status: { history = [] } }: ImagePolicy): WorkloadRef[] {
  if (!isUsable(spec)) return [];
  const newest = new Map<string, boolean>();
  const refs: WorkloadRef[] = [];
  for (const { apiVersion, kind, namespace, name, result } of history) {
    const ref = { ...defined({ apiVersion }), kind, namespace, name };
    const key = formatWorkload(ref);
    if (newest.has(key)) continue;
    newest.set(key, true);
    if (result === 'Applied' || result === 'Failed') refs.push(ref);
  }
  return refs.slice(0, podLimits.workloads);
}

/** The report on the pods that are not ready. `logs`: what was read, by pod and container. */
export function reportPods(pods: readonly PodState[], logs: ReadonlyMap<string, Pick<ContainerReport, 'log' | 'noLog'>>): PodReport[] {
  return unreadyPods(pods).map(({ name, startedAt, trouble, containers }) => ({
    name,
    startedAt,
    ...(trouble && { reason: clean(trouble.reason), ...(trouble.message !== undefined && { message: clean(trouble.message) }) }),
    containers: containers.filter(({ ready }) => !ready).map((one) => ({ ...toReport(one), ...logs.get(`${name}/${one.name}`) })),
  }));
}

/** The containers whose logs say why their pods are not ready: those that were started. */
export function loggedContainers(
  pods: readonly PodState[],
): { readonly pod: string; readonly container: string; readonly previous: boolean }[] {
  return unreadyPods(pods)
    .flatMap(({ name: pod, containers }) =>
      containers
        .filter(({ ready, waiting, lastEnd }) => !ready && (waiting === undefined || lastEnd !== undefined))
        .map(({ name, restarts, waiting }) => ({ pod, container: name, previous: restarts > 0 && waiting === undefined })),
    )
    .slice(0, podLimits.logs);
}

function unreadyPods(pods: readonly PodState[]): readonly PodState[] {
  return pods.filter(({ ready }) => !ready).slice(0, podLimits.pods);
}

function toReport({ name, ready, restarts, waiting, lastEnd }: PodContainer): ContainerReport {
  const { reason, message } = waiting ?? lastEnd ?? {};
  return {
    name,
    ready,
    restarts,
    ...(reason !== undefined && { reason: clean(reason) }),
    ...(message !== undefined && message !== '' && { message: clean(message) }),
    ...defined({ exitCode: lastEnd?.exitCode }),
  };
}

function clean(text: string): string {
  return cut(text.replaceAll(hidden, ' ').trim(), 400);
}
