import { z } from 'zod';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { AccessError } from '../access.ts';
import { podLimits, podReport, unfinishedWorkloads } from '../pod-view.ts';
import { defineRoute, policyParams } from '../route.ts';
import { policiesOf, seePolicy } from '../see-policies.ts';

export const getPods = defineRoute({
  method: 'GET',
  path: '/policies/{namespace}/{name}/pods',
  id: 'listRolloutPods',
  group: 'Policies',
  summary: 'Show why the pods of a rollout are not ready',
  about:
    'Of the workloads whose newest change has not rolled out: the pods of the newest revision that are not ready, and the end of their logs. Needs permission to get imagepolicies in the namespace. ' +
    'Workloads, pods and logs are read with the token of the caller, so that each needs the right that `kubectl get` and `kubectl logs` need; what the caller may not read says so.',
  params: policyParams,
  answer: z
    .object({
      workloads: z
        .array(
          z
            .object({
              kind: z.string(),
              namespace: z.string(),
              name: z.string(),
              pods: z.array(podReport),
              problem: z.string().exactOptional().describe('Why the pods are not known.'),
            })
            .meta({ id: 'RolloutWorkload', description: 'A workload whose newest change has not rolled out.' }),
        )
        .describe(`At most ${podLimits.workloads}, with at most ${podLimits.pods} pods and ${podLimits.logs} logs each.`),
    })
    .meta({ id: 'RolloutPods' }),
  errors: [404],
  async handle({ params, access, ports }) {
    const refs = unfinishedWorkloads(await seePolicy(ports, access, params));
    const { readPods } = policiesOf(ports);
    const answers = await inParallel(refs, podLimits.workloads, (ref) => readPods(access.credentials, ref));
    const workloads = refs.map(({ kind, namespace, name }, index) => {
      const answer = answers[index];
      if (answer?.status === 'fulfilled') return { kind, namespace, name, pods: answer.value };
      if (!(answer?.reason instanceof AccessError)) throw answer?.reason;
      return { kind, namespace, name, pods: [], problem: answer.reason.message };
    });
    return { workloads };
  },
});
