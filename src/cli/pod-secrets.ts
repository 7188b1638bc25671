/** The imagePullSecrets of service accounts, as far as the user may read them. */
import type { KubeClient } from '../service/kube/client.ts';
import { objectPath, readObject } from '../service/kube/objects.ts';
import { projectServiceAccount, serviceAccountResource } from '../service/kube/secrets.ts';
import type { Workload } from '../core/model/workload.ts';

/** The service accounts of workloads. */
export interface PodSecrets {
  /** Reads the service accounts of these workloads, each once. An unreadable one counts as without Secrets, because the registry may need none. */
  read(workloads: readonly Workload[]): Promise<void>;
  readonly pullSecretsOf: (namespace: string, serviceAccount: string) => readonly string[];
}

export function createPodSecrets(client: KubeClient): PodSecrets {
  const known = new Map<string, readonly string[]>();
  return {
    async read(workloads) {
      for (const { namespace, serviceAccount: name = 'default' } of workloads) {
        const key = `${namespace}/${name}`;
        if (known.has(key)) continue;
        const raw = await readObject<unknown>(client, objectPath(serviceAccountResource, namespace, name)).catch(() => undefined);
        known.set(key, raw === undefined ? [] : (projectServiceAccount(raw)?.pullSecrets ?? []));
      }
    },
    pullSecretsOf: (namespace, name) => known.get(`${namespace}/${name}`) ?? [],
  };
}
