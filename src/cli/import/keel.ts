import { cronJob, daemonSet, deployment, statefulSet } from '../../service/kube/targets.ts';
import type { Importer } from './importer.ts';
import { convertAll } from './keel/convert-all.ts';
import { readWorkload } from './workload.ts';

const kinds = [deployment, statefulSet, daemonSet, cronJob];

export const keel: Importer = {
  id: 'keel',
  summary: "convert Keel's labels and annotations into policies",
  about:
    'Reads the labels and annotations of Keel (keel.sh/policy and others) on Deployments, StatefulSets, DaemonSets and CronJobs, and prints ImagePolicies that do the same, with comments on what is different.',
  examples: [['> policies.yaml', 'write policies for all workloads that Keel updates']],
  kinds,
  nothing: 'no workload has settings of Keel',
  convert: ({ objects }) =>
    convertAll(objects.filter(({ kind }) => kinds.some((one) => one.kind === kind)).flatMap((object) => readWorkload(object) ?? [])),
};
