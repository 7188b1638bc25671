/** What the kubelet would tell of pods: there are controllers in these worlds, but no nodes. */
import type { ControlPlane } from '../harness/control-plane.ts';
import { waitFor } from '../harness/wait-for.ts';

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string; readonly labels?: Record<string, string> };
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    readonly volumes?: readonly { readonly image?: { readonly reference: string } }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const longAgo = '2026-01-01T00:00:00Z';

/** Plays the kubelet for the pods of workloads that `createDeployment` made; a pod is known by the image of its first container or of a volume. */
export function playKubelet(cluster: ControlPlane, namespace: string) {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const isUnready = ({ status }: Pod) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') !== true;
  const findPod = (app: string, image: string, matchesTarget: (pod: Pod) => boolean = () => true): Promise<Pod> =>
    waitFor(
      `a pod of ${app} with ${image}`,
      async () => {
        const { items } = await cluster.request<{ items: Pod[] }>('GET', `${path}?labelSelector=app%3D${app}`);
        const has = ({ containers, volumes = [] }: Pod['spec']) =>
          containers[0]?.image === image || volumes.some((volume) => volume.image?.reference === image);
        const isThere = ({ metadata, spec }: Pod) => metadata.deletionTimestamp === undefined && has(spec);
        return items.find((pod) => isThere(pod) && matchesTarget(pod));
      },
      // A controller that finds the server busy looks again only after a while.
      { timeoutMs: 120_000 },
    );
  const report = async (app: string, image: string, isReady: boolean, container: object, isNew = isReady): Promise<void> => {
    const { metadata, spec } = await findPod(app, image, isNew ? isUnready : undefined);
    const containerStatuses = spec.containers.map(({ name }) => ({
      name,
      image,
      imageID: '',
      ready: isReady,
      restartCount: 0,
      ...container,
    }));
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: longAgo }];
    const status = { phase: isReady ? 'Running' : 'Pending', startTime: longAgo, conditions, containerStatuses };
    await cluster.request('PATCH', `${path}/${metadata.name}/status`, { status });
  };
  return {
    findPod,
    /** The scheduler's report: no node has room. */
    async isUnschedulable(app: string, image: string, message: string) {
      const { metadata } = await findPod(app, image);
      const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: longAgo }];
      await cluster.request('PATCH', `${path}/${metadata.name}/status`, { status: { phase: 'Pending', conditions } });
    },
    runs: (app: string, image: string) => report(app, image, false, { state: { running: { startedAt: longAgo } } }),
    /** One of those that are not ready. */
    becomesReady: (app: string, image: string) => report(app, image, true, { state: { running: { startedAt: longAgo } } }),
    cannotPull: (app: string, image: string, message: string) =>
      report(app, image, false, { state: { waiting: { reason: 'ImagePullBackOff', message } } }),
    /** `isNew`: one that has never been ready, beside others with the same image. */
    crashes: (app: string, image: string, isNew = false) => {
      const state = {
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container' } },
        lastState: { terminated: { reason: 'Error', exitCode: 3, startedAt: longAgo, finishedAt: longAgo } },
      };
      return report(app, image, false, state, isNew);
    },
  };
}
