/** Every state that a policy can be in: how it comes there, and what has to be said of it. Written from the documentation, not from the code. */
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushChart } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { ecSigner, pemOf } from '../service/verify/cosign.ts';
import type { Scene, Subject } from './scene.ts';
import { chartStates } from './chart-states.ts';
import { rolloutStates } from './rollout-states.ts';
import { old, selected, type State } from './state.ts';
import { unableStates } from './unable-states.ts';

/** A registry with two versions, of which a Deployment runs the older one, and a policy with this spec. */
async function withUpdate(scene: Scene, subject: Subject, more: Partial<Spec> = {}): Promise<void> {
  await scene.push(subject, old);
  await scene.push(subject, selected);
  await scene.deploy(subject, scene.imageOf(subject, old));
  await scene.createPolicy(subject, more);
}

/** The same, and the policy has updated the Deployment. */
async function updated(scene: Scene, subject: Subject, more: Partial<Spec> = {}): Promise<void> {
  await withUpdate(scene, subject, more);
  await scene.waitForImage(subject, scene.imageOf(subject, selected));
  await scene.waitForReason(subject, 'UpToDate');
}

/** A state that a policy with this spec comes into by itself. */
const kept = (name: string, why: string, more: () => Partial<Spec>, wanted = selected): State => ({
  name,
  async make(scene, subject) {
    await withUpdate(scene, subject, more());
    await scene.waitForReason(subject, why);
    return { wanted, why: [why] };
  },
});

const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString().slice(11, 16);

/** In the order in which they are made, again and again for more policies. */
export const states: readonly State[] = [
  {
    name: 'ready',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.deploy(subject, scene.imageOf(subject, old));
      await scene.createPolicy(subject);
      await scene.waitForReason(subject, 'UpToDate');
      return { wanted: old, why: ['UpToDate'] };
    },
  },
  {
    name: 'updated',
    async make(scene, subject) {
      await updated(scene, subject);
      return { wanted: selected, why: ['UpToDate'] };
    },
  },
  {
    name: 'updated by a push',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.push(subject, '1.2.0');
      subject.pushed = '1.2.0';
      await scene.waitForImage(subject, scene.imageOf(subject, '1.2.0'));
      return { wanted: '1.2.0', why: ['UpToDate'] };
    },
  },
  kept('in a dry run', 'DryRun', () => ({ update: { mode: 'DryRun' } })),
  kept('waiting for approval', 'ApprovalRequired', () => ({ update: { mode: 'Approval' } })),
  kept('waiting for a window', 'Window', () => ({ update: { windows: [{ from: hours(3), to: hours(4), timeZone: 'UTC' }] } })),
  kept('waiting for its age', 'MinAge', () => ({ minAge: '2h' }), 'unknown'),
  {
    name: 'held before an unlikely first change',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.push(subject, '200.0.0');
      await scene.deploy(subject, scene.imageOf(subject, old));
      await scene.createPolicy(subject);
      await scene.waitForReason(subject, 'UnlikelyVersion');
      return { wanted: '200.0.0', why: ['UnlikelyVersion'] };
    },
  },
  {
    name: 'paused',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.push(subject, selected);
      await scene.deploy(subject, scene.imageOf(subject, old), { paused: true });
      await scene.createPolicy(subject);
      await scene.waitForReason(subject, 'TargetPaused');
      return { wanted: selected, why: ['TargetPaused'] };
    },
  },
  {
    name: 'held after a manual change',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.setImage(subject, scene.imageOf(subject, old));
      await scene.waitForReason(subject, 'Held');
      return { wanted: selected, why: ['Held'] };
    },
  },
  {
    name: 'changed to a newer image by hand',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.setImage(subject, scene.imageOf(subject, '9.0.0'));
      return { wanted: selected };
    },
  },
  {
    name: 'rolled back by a user',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.annotate(subject, { 'rollback-to': 'previous' });
      await scene.waitForImage(subject, scene.imageOf(subject, old));
      return { wanted: selected, why: ['RejectedDigest'] };
    },
  },
  {
    name: 'reverted by a GitOps tool',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.setImage(subject, scene.imageOf(subject, old), 'argocd-controller');
      await waitFor('the revert to be counted', async () => (await scene.readStatus(subject)).reverted?.[0]?.count === 1);
      await scene.waitForImage(subject, scene.imageOf(subject, selected));
      await scene.setImage(subject, scene.imageOf(subject, old), 'argocd-controller');
      await scene.waitForReason(subject, 'ChangeReverted');
      return { wanted: selected, why: ['ChangeReverted'] };
    },
  },
  {
    name: 'changed back again and again',
    async make(scene, subject) {
      await updated(scene, subject);
      // As another ImagePolicy would, five times within an hour. Before a change is in the history, this would be what the cluster made of that change's image.
      for (let count = 1; count < 5; count++) {
        await waitFor('the change to be recorded', async () => (await scene.readStatus(subject)).history?.length === count);
        await scene.setImage(subject, scene.imageOf(subject, old), 'image-watcher');
        await scene.waitForImage(subject, scene.imageOf(subject, selected));
      }
      await waitFor('the last change to be recorded', async () => (await scene.readStatus(subject)).history?.length === 5);
      await scene.setImage(subject, scene.imageOf(subject, old), 'image-watcher');
      await scene.waitForReason(subject, 'TooManyChanges');
      return { wanted: selected, why: ['TooManyChanges'] };
    },
  },
  {
    name: 'suspended',
    async make(scene, subject) {
      await withUpdate(scene, subject, { suspend: true });
      subject.suspended = true;
      return { wanted: '', why: ['Suspended'] };
    },
  },
  {
    name: 'suspended after an update',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.patchPolicy(subject, { suspend: true });
      subject.suspended = true;
      return { wanted: selected, why: ['Suspended'] };
    },
  },
  {
    name: 'without its target',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.deleteTarget(subject);
      return { wanted: selected, why: ['TargetNotFound'] };
    },
  },
  {
    name: 'with a target that runs another repository',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.deploy(subject, `${subject.host}/shop/other:1.0.0`);
      await scene.createPolicy(subject);
      return { wanted: old, why: ['ContainerNotFound'] };
    },
  },
  {
    name: 'with several tags on its targets',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.push(subject, selected);
      const runs = [selected, selected, '0.9.0', '0.8.0'];
      for (const [index, tag] of runs.entries())
        await scene.deploy(subject, scene.imageOf(subject, tag), { name: `${subject.name}-${index}` });
      await scene.createPolicy(subject, {
        targets: [{ kind: 'Deployment', selector: { matchLabels: { app: subject.name } } }],
        update: { mode: 'DryRun' },
      });
      return { wanted: selected, why: ['DryRun'] };
    },
  },
  {
    name: 'with an image that cannot be compared',
    async make(scene, subject) {
      await updated(scene, subject);
      await scene.setImage(subject, scene.imageOf(subject, 'edge'));
      return { wanted: selected, why: ['NotComparable'] };
    },
  },
  {
    name: 'following a digest',
    async make(scene, subject) {
      await scene.push(subject, 'latest');
      await scene.deploy(subject, scene.imageOf(subject, 'latest'));
      await scene.createPolicy(subject, { select: { digest: { tag: 'latest' } } });
      await scene.waitForReason(subject, 'UpToDate');
      return { wanted: 'latest', why: ['UpToDate'] };
    },
  },
  {
    name: 'with a tag that is gone',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.deploy(subject, scene.imageOf(subject, '1.5.0'));
      await scene.createPolicy(subject);
      return { wanted: old };
    },
  },
  {
    name: 'without a signature',
    async make(scene, subject) {
      const secret = { metadata: { name: subject.name }, stringData: { 'cosign.pub': pemOf(ecSigner()) } };
      await scene.world.cluster.request('POST', `/api/v1/namespaces/${scene.world.namespace}/secrets`, secret);
      await withUpdate(scene, subject, { verify: { cosign: { keys: [{ secretRef: { name: subject.name, key: 'cosign.pub' } }] } } });
      return { wanted: 'unknown', why: ['NotSigned'] };
    },
  },
  {
    name: 'without a platform',
    async make(scene, subject) {
      await withUpdate(scene, subject, { platforms: ['linux/arm64'] });
      return { wanted: 'unknown' };
    },
  },
  {
    name: 'of a chart',
    async make(scene, subject) {
      await pushChart({ host: subject.host, repository: `shop/${subject.name}`, tag: old });
      await scene.deploy(subject, scene.imageOf(subject, '0.9.0'));
      await scene.createPolicy(subject);
      subject.blind = true;
      return { wanted: '', why: ['NotAnImage', 'NoMatchingTag'] };
    },
  },
  {
    name: 'in another namespace without consent',
    async make(scene, subject) {
      await scene.push(subject, old);
      await scene.createPolicy(subject, { targets: [{ kind: 'Deployment', name: subject.name, namespace: 'default' }] });
      return { wanted: old, why: ['NoConsent'] };
    },
  },
  ...rolloutStates,
  {
    name: 'of a base that is suspended',
    async make(scene, subject) {
      const { cluster, namespace } = scene.world;
      const path = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;
      const { metadata } = await cluster.request<{ metadata: { uid: string } }>('POST', path, {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'BaseImagePolicy',
        metadata: { name: subject.name },
        spec: {
          image: `${subject.host}/library/base`,
          select: { semver: {} },
          workloads: [{}],
          onNewBase: [{ report: {} }],
          suspend: true,
        },
      });
      const owner = {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'BaseImagePolicy',
        name: subject.name,
        uid: metadata.uid,
        controller: true,
      };
      await scene.push(subject, old);
      await scene.deploy(subject, scene.imageOf(subject, old));
      const select = { replace: { from: old, to: `${old}-base.20260101` } };
      await scene.createPolicy(subject, { select }, { ownerReferences: [owner] });
      subject.blind = true;
      return { wanted: '', why: ['Suspended'] };
    },
  },
  ...unableStates,
  ...chartStates,
];
