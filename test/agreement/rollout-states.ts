/** Policies that have changed a Deployment, by what became of its pods. */
import type { Scene, Subject } from './scene.ts';
import { old, selected, type State } from './state.ts';

/** A policy that has changed a Deployment, and what became of the pods. */
const rollout = (
  name: string,
  why: string,
  becomes: (scene: Scene, subject: Subject, image: string) => Promise<void>,
  onFailure: 'Rollback' | 'Hold' = 'Rollback',
): State => ({
  name,
  async make(scene, subject) {
    const image = scene.imageOf(subject, selected);
    await scene.push(subject, old);
    await scene.deploy(subject, scene.imageOf(subject, old));
    await scene.kubelet.becomesReady(subject.name, scene.imageOf(subject, old));
    await scene.createPolicy(subject, { rollout: { onFailure, timeout: '4h' } });
    await scene.waitForReason(subject, 'UpToDate');
    await scene.push(subject, selected);
    await scene.waitForImage(subject, image);
    await becomes(scene, subject, image);
    await scene.waitForReason(subject, why);
    // What is tried again begins anew after a minute.
    return { wanted: selected, why: why === 'RolloutRetry' ? [why, 'Progressing'] : [why] };
  },
});

const waves: State = {
  name: 'changed in waves',
  async make(scene, subject) {
    const image = scene.imageOf(subject, old);
    await scene.push(subject, old);
    for (const index of [0, 1, 2]) await scene.deploy(subject, image, { name: `${subject.name}-${index}` });
    for (const _ of [0, 1, 2]) await scene.kubelet.becomesReady(subject.name, image);
    await scene.createPolicy(subject, {
      targets: [{ kind: 'Deployment', selector: { matchLabels: { app: subject.name } } }],
      rollout: { timeout: '4h', waves: { maxParallel: 1 } },
    });
    await scene.waitForReason(subject, 'UpToDate');
    await scene.push(subject, selected);
    const why = ['Progressing', 'WavePending'];
    await scene.waitForReason(subject, ...why);
    return { wanted: selected, why };
  },
};

/** All of them. */
export const rolloutStates: readonly State[] = [
  waves,
  rollout('rolling out', 'Progressing', () => Promise.resolve()),
  rollout('rolled out', 'UpToDate', ({ kubelet }, { name }, image) => kubelet.becomesReady(name, image)),
  rollout('rolled back from a failed image', 'RejectedDigest', ({ kubelet }, { name }, image) =>
    kubelet.cannotPull(name, image, 'not found'),
  ),
  rollout('failed and kept', 'RolloutFailed', ({ kubelet }, { name }, image) => kubelet.cannotPull(name, image, 'not found'), 'Hold'),
  rollout('rolled back and tried again', 'RolloutRetry', ({ kubelet }, { name }, image) =>
    kubelet.cannotPull(
      name,
      image,
      'unexpected status from HEAD request to https://r/v2/shop/web/manifests/1.1.0: 503 Service Unavailable',
    ),
  ),
];
