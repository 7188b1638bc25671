import type { KubeClient } from '../../../kube/client.ts';
import { listPages, listPath } from '../../../kube/objects.ts';
import { cronJob, daemonSet, deployment, statefulSet } from '../../../kube/targets.ts';
import { readWorkload, type KeelWorkload } from './workload.ts';

/** The kinds that Keel updates. */
const kinds = [deployment, statefulSet, daemonSet, cronJob];

/** All workloads of a namespace, or of the cluster, by kind, namespace and name. */
export async function listWorkloads(client: KubeClient, namespace: string | undefined): Promise<KeelWorkload[]> {
  const found: KeelWorkload[] = [];
  for (const target of kinds) {
    for await (const { items } of listPages(client, { path: listPath(target, namespace), pageSize: 500 })) {
      found.push(...items.flatMap((item) => readWorkload(item, target.kind, target.podSpecPath) ?? []));
    }
  }
  return found;
}
