/** Reads the pods of a rollout for a caller of the API, with the rights of the caller: the service itself may not read logs. */
import { createHash } from 'node:crypto';
import { createTtlCache } from '../../core/async/bounded-map.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import { cut } from '../../core/model/text.ts';
import { formatWorkload, type WorkloadRef } from '../../core/model/workload.ts';
import { AccessError, type Credentials } from '../api/access.ts';
import { loggedContainers, podLimits, reportPods, type PodReport } from '../api/pod-view.ts';
import type { PolicyPorts } from '../api/ports.ts';
import type { KubeClient } from '../kube/client.ts';
import { KubeError } from '../kube/kube-error.ts';
import { readPodLog } from '../kube/read-pod-log.ts';
import { readRolloutPods } from '../kube/read-rollout-pods.ts';

/** How long an answer is shared: a page is read again whenever its policy changes. */
const lifeMs = 3_000;
const endMs = 8_000;

interface PodClients {
  /** The client that sends the credentials of callers, and has none of its own. */
  readonly users: KubeClient;
  /** The client for an API without authentication, which only listens on loopback. */
  readonly own: KubeClient;
}

/** Creates the function that reads the pods of a workload for a caller. */
export function createReadPods({ users, own }: PodClients, elapsed: () => number): PolicyPorts['readPods'] {
  const reports = createTtlCache<readonly PodReport[]>({ ttlMs: lifeMs, limit: 200, elapsed });
  return async (caller, workload) => {
    if (caller.kind === 'proxy') throw new AccessError(403, 'pods are read with the token of the caller, and the proxy names users only');
    const client = caller.kind === 'token' ? as(users, caller.token) : own;
    return reports.get(keyOf(caller, workload), () => read(client, workload));
  };
}

/** A client that sends the token of one caller. */
function as(users: KubeClient, token: string): KubeClient {
  return { ...users, request: (request) => users.request({ ...request, authorization: `Bearer ${token}` }) };
}

/** The key of a shared answer. It holds the hash of the caller's token, so that the token is not kept. */
function keyOf(caller: Credentials, workload: WorkloadRef): string {
  const token = caller.kind === 'token' ? caller.token : '';
  return createHash('sha256')
    .update(`${token}\n${workload.apiVersion ?? ''} ${formatWorkload(workload)}`)
    .digest('base64');
}

async function read(client: KubeClient, workload: WorkloadRef): Promise<readonly PodReport[]> {
  const { signal, end } = startDeadline(endMs);
  try {
    const pods = await readRolloutPods(client, workload, signal);
    const wanted = loggedContainers(pods);
    const { namespace } = workload;
    const answers = await inParallel(wanted, podLimits.logs, (one) => readPodLog(client, { namespace, ...one }, signal));
    const logs = wanted.map(({ pod, container }, index) => {
      const answer = answers[index];
      const log = answer?.status === 'fulfilled' ? { log: answer.value } : { noLog: whyNot(answer?.reason).message };
      return [`${pod}/${container}`, log] as const;
    });
    return reportPods(pods, new Map(logs));
  } catch (error) {
    throw whyNot(error);
  } finally {
    end();
  }
}

function whyNot(error: unknown): AccessError {
  if (error instanceof KubeError && error.status < 500 && error.status !== 429)
    return new AccessError(error.status === 404 ? 404 : 403, cut(error.detail, 400));
  return new AccessError(503, 'the API server does not answer; try again', { cause: error });
}
