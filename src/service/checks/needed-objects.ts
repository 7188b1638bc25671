/** Whether the objects that a check is made from are there, allowed and usable, before it is asked: for `lint` and the doctor. */
import type { CheckSettings } from '../../core/model/rollout-check.ts';
import type { KubeClient } from '../kube/client.ts';
import { findTemplate, refusalOfTemplate } from './analysis-check.ts';
import { findCronJob } from './job-check.ts';

/** Why a check cannot be made from what its policy names; undefined if it can, or if it needs no object. Rejects if that cannot be found out. */
export async function findUnusable(
  { question, timeoutMs }: CheckSettings,
  namespace: string,
  client: KubeClient,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (question.kind === 'job') {
    const found = await findCronJob(question.cronJob, namespace, client, signal);
    return typeof found === 'string' ? found : undefined;
  }
  if (question.kind === 'analysis') {
    const found = await findTemplate(question.template, namespace, client, signal);
    return typeof found === 'string' ? found : refusalOfTemplate(found, question.template, timeoutMs);
  }
  return undefined;
}
