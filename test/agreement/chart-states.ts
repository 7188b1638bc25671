/** Policies of charts and other artifacts: what they have changed, and what its controller says of it. */
import type { Spec } from '../../src/service/resources/v1.ts';
import type { Installs } from './installers.ts';
import type { Scene, Subject } from './scene.ts';
import { old, selected, type State } from './state.ts';

/** What installs the artifacts, and the reason that the policy has to give in the end. */
interface Wanted {
  readonly installs: Installs;
  readonly why: string;
  readonly more?: Partial<Spec>;
}

/** A policy whose target installs the older version, while the newer one is pushed. */
const chart = (
  name: string,
  { installs, why, more = {} }: Wanted,
  becomes?: (scene: Scene, subject: Subject) => Promise<unknown>,
): State => ({
  name,
  installs,
  async make(scene, subject) {
    await scene.push(subject, old);
    await scene.deploy(subject, scene.imageOf(subject, old));
    await scene.createPolicy(subject, { rollout: { onFailure: 'Rollback', timeout: '4h' }, ...more });
    if (installs.isPinned === true) await scene.installers.succeeds(subject, installs.kind);
    await scene.waitForReason(subject, 'UpToDate', 'Progressing');
    await scene.push(subject, selected);
    if (becomes) {
      await scene.waitForImage(subject, scene.imageOf(subject, selected));
      await becomes(scene, subject);
    }
    await scene.waitForReason(subject, why);
    // What is tried again begins anew after a minute.
    return { wanted: selected, why: why === 'RolloutRetry' ? [why, 'Progressing'] : [why] };
  },
});

/** A policy that finds nothing to update, or nothing that it selects. */
const unable = (name: string, why: readonly string[], make: (scene: Scene, subject: Subject) => Promise<string>): State => ({
  name,
  installs: release,
  async make(scene, subject) {
    const wanted = await make(scene, subject);
    await scene.waitForReason(subject, ...why);
    subject.blind = wanted === '';
    return { wanted, why };
  },
});

const application: Installs = { kind: 'application', artifact: 'Chart' };
const release: Installs = { kind: 'helmrelease', artifact: 'Chart' };
const source: Installs = { kind: 'ocirepository', artifact: 'Chart' };

const succeeds = (scene: Scene, subject: Subject) => scene.installers.succeeds(subject, subject.installs?.kind ?? 'application');
const fails = (message: string) => (scene: Scene, subject: Subject) =>
  scene.installers.fails(subject, subject.installs?.kind ?? 'application', message);
/** And the version before is installed again. */
const failsAndGoesBack = (message: string) => async (scene: Scene, subject: Subject) => {
  await fails(message)(scene, subject);
  await scene.waitForImage(subject, scene.imageOf(subject, old));
  await succeeds(scene, subject);
};
const broken = 'Helm upgrade failed for release shop/release.v3: template: no such field';

/** All of them. */
export const chartStates: readonly State[] = [
  chart('chart installed by an Application', { installs: application, why: 'UpToDate' }, succeeds),
  chart('chart installed by a HelmRelease', { installs: release, why: 'UpToDate' }, succeeds),
  chart('chart pinned by an OCIRepository', { installs: { ...source, isPinned: true }, why: 'UpToDate' }, succeeds),
  chart('artifact of an OCIRepository', { installs: { ...source, artifact: 'Any' }, why: 'UpToDate' }, succeeds),
  chart('chart being installed', { installs: release, why: 'Progressing' }, (scene, subject) =>
    scene.installers.isWorking(subject, 'helmrelease'),
  ),
  chart('chart that nobody has synced', { installs: application, why: 'Progressing' }, () => Promise.resolve()),
  chart('chart rolled back after a failed upgrade', { installs: release, why: 'RejectedDigest' }, failsAndGoesBack(broken)),
  chart(
    'chart rolled back after a failed sync',
    { installs: application, why: 'RejectedDigest' },
    failsAndGoesBack('one or more objects failed to apply, reason: spec.replicas must be positive'),
  ),
  chart(
    'chart failed and kept',
    { installs: release, why: 'RolloutFailed', more: { rollout: { onFailure: 'Hold', timeout: '4h' } } },
    fails(broken),
  ),
  chart(
    'chart rolled back and tried again',
    { installs: release, why: 'RolloutRetry' },
    failsAndGoesBack('Helm upgrade failed: failed calling webhook "validate.example.com": connection refused'),
  ),
  chart('chart waiting for approval', { installs: source, why: 'ApprovalRequired', more: { update: { mode: 'Approval' } } }),
  unable('chart among images only', ['OtherArtifact', 'NoMatchingTag'], async (scene, subject) => {
    await scene.pushOther(subject, selected);
    await scene.deploy(subject, scene.imageOf(subject, old));
    await scene.createPolicy(subject);
    return '';
  }),
  unable('chart without its HelmRepository', ['ContainerNotFound'], async (scene, subject) => {
    await scene.push(subject, old);
    await scene.deploy(subject, scene.imageOf(subject, old));
    await scene.installers.deleteHelmRepository(subject);
    await scene.createPolicy(subject);
    return old;
  }),
  unable('chart in a range', ['ContainerNotFound'], async (scene, subject) => {
    await scene.push(subject, old);
    await scene.deploy(subject, `${subject.host}/shop/${subject.name}:1.x`);
    await scene.createPolicy(subject);
    return old;
  }),
];
