/** The one workload of a backtest: a Deployment with a container for the image of the policy, and one for each companion. */
import { defined } from '../../core/model/defined.ts';
import { fieldManager } from '../../core/model/last-update.ts';
import {
  type CompanionChange,
  type ContainerChange,
  findContainer,
  kindKey,
  type Workload,
  workloadKey,
} from '../../core/model/workload.ts';
import type { ClusterView, Workloads } from '../../service/reconcile/ports.ts';

const name = 'backtest';

/** A container, and the image that it runs at first. */
export interface FirstImage {
  readonly container: string;
  readonly image: string;
}

export interface PastWorkload {
  readonly target: { readonly kind: 'Deployment'; readonly namespace: string; readonly name: string };
  readonly view: Pick<ClusterView, 'findWorkload' | 'listWorkloads' | 'targetState' | 'policiesOf'>;
  readonly workloads: Workloads;
  /** The image that a container runs now. */
  imageOf(container: string): string;
}

/** Creates the workload. `onChange` is called after each change; `now` is the clock, in ms since 1970. */
export function createPastWorkload(
  namespace: string,
  images: readonly FirstImage[],
  now: () => number,
  onChange: (changes: readonly ContainerChange[]) => void,
): PastWorkload {
  let workload: Workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace,
    name,
    uid: 'backtest',
    generation: 1,
    resourceVersion: '1',
    containersPath: '/spec/template/spec/containers',
    containers: images.map(({ container, image }) => ({ name: container, image })),
    hasAnnotations: true,
  };
  const view: PastWorkload['view'] = {
    findWorkload: (ref) => (workloadKey(ref) === workloadKey(workload) ? workload : undefined),
    listWorkloads: (kind, where) => (kindKey(kind) === kindKey(workload) && where === namespace ? [workload] : []),
    targetState: () => ({ since: 0 }),
    policiesOf: () => [],
  };
  return {
    target: { kind: 'Deployment', namespace, name },
    view,
    imageOf: (container) => findContainer(workload, container)?.image ?? '',
    workloads: {
      awaitTargets: async () => {},
      read: async (ref) => view.findWorkload(ref),
      readSelected: async () => [],
      readPods: async () => [],
      readConsent: async () => null,
      refreshConsents: async () => {},
      async patchImages(planned, changes, { confirm }) {
        if (planned.resourceVersion !== workload.resourceVersion) return { kind: 'conflict' };
        if ((await confirm()) === undefined) return { kind: 'outdated' };
        workload = changed(workload, changes, new Date(now()).toISOString());
        onChange(changes);
        return { kind: 'patched', workload };
      },
    },
  };
}

function changed(workload: Workload, changes: readonly ContainerChange[], imageSetAt: string): Workload {
  const updates = new Map(changes.map((change) => [change.container, change.update]));
  const images = new Map(
    changes.flatMap(({ alongside = [], ...own }): (readonly [string, string])[] =>
      [own as CompanionChange, ...alongside].map(({ container, to }) => [container, to]),
    ),
  );
  const next = Number(workload.resourceVersion) + 1;
  return {
    ...workload,
    generation: next,
    resourceVersion: String(next),
    containers: workload.containers.map((container) => {
      const image = images.get(container.name);
      if (image === undefined) return container;
      const lastUpdate = updates.get(container.name) ?? container.lastUpdate;
      return { ...container, image, imageOwner: fieldManager, imageSetAt, ...defined({ lastUpdate }) };
    }),
  };
}
