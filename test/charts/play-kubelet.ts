/** Jobs that run where there are controllers of nothing and no nodes: their commands as processes of this machine, as their service accounts. */
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand, type Ran } from '../cli/run-command.ts';
import type { ControlPlane } from '../harness/control-plane.ts';
import type { Manifest } from '../harness/helm.ts';
import { kubeconfigOf } from '../harness/service-account.ts';
import type { PodTemplate } from './manifests.ts';

/** A Job that was run, and what came of it. */
export interface RanJob extends Ran {
  readonly name: string;
  readonly args: readonly string[];
}

type Job = Manifest & {
  readonly spec: { readonly backoffLimit: number; readonly template: { readonly spec: PodTemplate['spec'] } };
  readonly status?: { readonly conditions?: object[] };
};

/** Runs each Job of the namespace that is not over, as often as it may fail, until `stop`; `adapt` makes its arguments fit for this machine. */
export function playKubelet(cluster: ControlPlane, namespace: string, adapt: (args: readonly string[]) => Promise<readonly string[]>) {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const ran: RanJob[] = [];
  const stopping = new AbortController();

  const run = async ({ metadata, spec }: Job): Promise<void> => {
    const { serviceAccountName = 'default', containers } = spec.template.spec;
    const args = containers[0]?.args ?? [];
    const [command = '', ...rest] = await adapt(args);
    const kubeconfig = await kubeconfigOf(cluster, { namespace, name: serviceAccountName });
    let result = await runCommand(command, [...rest, '--kubeconfig', kubeconfig]);
    for (let failures = 1; result.code !== 0 && failures <= spec.backoffLimit; failures++) {
      await delay(1_000);
      result = await runCommand(command, [...rest, '--kubeconfig', kubeconfig]);
    }
    ran.push({ ...result, name: metadata.name, args });
    const now = new Date().toISOString();
    const conditions = (result.code === 0 ? ['SuccessCriteriaMet', 'Complete'] : ['FailureTarget', 'Failed']).map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const counts = result.code === 0 ? { succeeded: 1, completionTime: now } : { failed: 1 };
    await cluster.request('PATCH', `${path}/${metadata.name}/status`, { status: { startTime: now, ...counts, conditions } });
  };
  const playing = (async () => {
    while (!stopping.signal.aborted) {
      const { items } = await cluster.request<{ items: Job[] }>('GET', path);
      for (const job of items) if (!job.status?.conditions?.length) await run(job);
      await delay(50);
    }
  })();
  // Told by `stop`.
  playing.catch(() => undefined);
  return {
    ran,
    async stop() {
      stopping.abort();
      await playing;
    },
  };
}
