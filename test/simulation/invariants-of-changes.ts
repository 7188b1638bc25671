/** What must hold for each change of an image. "Too late" is counted from when the request was sent: 3 s, and the time that an answer has taken. */
import { compare, valid } from 'semver';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { isObject, textOrEmpty } from '../../src/core/model/untyped.ts';
import type { ApiObject } from './api-server.ts';
import { buildOf, partsOf, shorten } from './images.ts';
import { heldBy } from './chart-kinds.ts';
import { firstVersion } from './chart-setup.ts';
import { hasTimedOut } from './checked-policies.ts';
import type { Invariant } from './invariants.ts';
import { appliedTag, type ImagePatch } from './patch-log.ts';
import { otherNamespace, policyNamespace, type PolicySetup } from './setup.ts';
import { policies, type World } from './world.ts';

/** How long a confirmation counts. */
export const confirmedForMs = 3_000;

export const changeInvariants: readonly Invariant[] = [
  {
    name: 'never backwards',
    promise: 'No image is replaced by an older one, except by a rollback.',
    onPatch(patch, world) {
      // Which image is newer is the order of versions only for policies that select by versions.
      if (!patch.isOurs || isRollback(patch) || setupOf(patch, world) === undefined) return undefined;
      const [from, to] = [partsOf(patch.from).tag, appliedTag(patch)];
      return valid(from) !== null && valid(to) !== null && compare(to, from) < 0 ? describe(patch) : undefined;
    },
  },
  {
    name: 'a followed tag never goes backwards',
    promise: 'Where a policy follows a tag, no image is replaced by one that was pushed before it, except by a rollback.',
    onPatch(patch, { registry, setup }) {
      const follows = setup.policies.find(({ container }) => container === patch.container)?.follows;
      if (!patch.isOurs || isRollback(patch) || follows === undefined) return undefined;
      const [from, to] = [partsOf(patch.from), partsOf(patch.to)];
      const [before, after] = [from, to].map(({ repository, digest = '' }) => registry.pushedAt(repository, digest));
      return before !== undefined && after !== undefined && after < before ? describe(patch) : undefined;
    },
  },
  {
    name: 'a followed tag is what the registry shows',
    promise: 'A policy that follows a tag applies what the registry has shown under it, not what it showed before.',
    onPatch(patch, { registry, setup, network }) {
      const follows = setup.policies.find(({ container }) => container === patch.container)?.follows;
      if (!patch.isOurs || isRollback(patch) || follows === undefined) return undefined;
      const { repository, digest = '' } = partsOf(patch.to);
      // Half a minute: an answer of the registry may be used by other jobs, and counts for 20 s then.
      return registry.hasShown(repository, follows, digest, patch.sentAt - 30_000 - network.slowestMs()) ? undefined : describe(patch);
    },
  },
  forbidden('a suspended policy changes nothing', 'A suspended policy changes nothing.', ({ policy }) => policy.spec['suspend'] === true),
  forbidden(
    'a deleted policy changes nothing',
    'A policy that was deleted changes nothing, also where another one of its name exists.',
    ({ policy, patch }) => policy.metadata.uid !== patch.record.policy,
  ),
  forbidden('nothing without approval', 'With update.mode: Approval, only the image that is approved is applied.', ({ policy, patch }) => {
    const update = isObject(policy.spec['update']) ? policy.spec['update'] : {};
    if (update['mode'] !== 'Approval' || isRollback(patch)) return false;
    const { digest, setDigest } = patch.record;
    return policy.metadata.annotations?.[actionAnnotations.approve] !== `${appliedTag(patch)}@${setDigest || digest}`;
  }),
  forbidden(
    'a rejected image is not applied',
    'An image that was rolled back is not applied again, unless somebody releases it.',
    ({ policy, patch, world }) => {
      if (isRollback(patch) || isReleasedBy(policy, world)) return false;
      const rejected = policy.status?.['rejected'];
      return Array.isArray(rejected) && rejected.some((one: unknown) => isObject(one) && one['digest'] === patch.record.digest);
    },
  ),
  {
    name: 'a paused workload is left alone',
    promise: 'A paused Deployment is not changed, except by a rollback.',
    onPatch: (patch) => (patch.isOurs && patch.before.spec['paused'] === true && !isRollback(patch) ? describe(patch) : undefined),
  },
  {
    name: 'nothing without consent',
    promise: 'A workload of another namespace is changed only with the consent of its owners, and of the configuration.',
    onPatch(patch, world) {
      if (!patch.isOurs || patch.before.metadata.namespace !== otherNamespace) return undefined;
      if (patch.version === 'newer') return describe(patch);
      const states = world.history.statesWithin('v1/namespaces', '', otherNamespace, ...boundOf(patch, world));
      return states.some((namespace) => namespace?.metadata.annotations?.[consentAnnotation] === policyNamespace)
        ? undefined
        : describe(patch);
    },
  },
  {
    name: "nobody else's workload",
    promise: 'A workload that the policy does not select is not changed.',
    onPatch(patch, world) {
      const setup = setupOf(patch, world);
      if (!patch.isOurs || setup === undefined || !selectsByLabel(setup)) return undefined;
      const { namespace = '', name, uid } = patch.before.metadata;
      const states = world.history.statesWithin(patch.resource, namespace, name, ...boundOf(patch, world));
      return states.some((one) => one?.metadata.uid === uid && one.metadata.labels?.['uses'] === 'web') ? undefined : describe(patch);
    },
  },
  {
    name: 'a manual change is kept',
    promise:
      'An image that a person set in place of ours is kept until there is a newer one, or until it is released; a companion goes along with the next change of the own image.',
    onPatch(patch, world) {
      if (!patch.isOurs || isRollback(patch)) return undefined;
      const { foreign, ours } = lastChanges(patch, world);
      if (foreign === undefined || ours === undefined || foreign.at < ours.at || foreign.to === ours.to) return undefined;
      const policy = policyOf(patch, world);
      if (policy !== undefined && isReleasedBy(policy, world)) return undefined;
      if (patch.isCompanion && changesOwn(patch, world)) return undefined;
      // A rollback that a person asked for takes the place of the change, also where it had only a companion to take back.
      const { uid } = patch.before.metadata;
      const since = (one: ImagePatch) => one.at > foreign.at && one.after.metadata.uid === uid && isSamePolicy(one, patch);
      if (world.patches.all.some((one) => since(one) && isRollback(one) && one.record.failed === '')) return undefined;
      const [applied, next] = [ageOf(ours), ageOf(patch)];
      return next > applied
        ? undefined
        : `${describe(patch)}, although ${foreign.by} had set ${shorten(foreign.to)} in place of ${shorten(ours.to)}`;
    },
  },
  {
    name: 'a rollback goes back to what ran before',
    promise:
      'rollback-to: previous brings back the image that ran before the last change when it was asked for, or was carried out; where that one failed or was rolled back itself, an older one.',
    onPatch(patch, world) {
      const setup = setupOf(patch, world);
      if (!patch.isOurs || !isRollback(patch) || setup === undefined) return undefined;
      const states = world.history.statesWithin(policies, policyNamespace, setup.name, ...boundOf(patch, world));
      const requests = states.map((policy) => policy?.metadata.annotations?.[actionAnnotations.rollbackTo]);
      const wrong = requests.map((request) => (request === undefined ? undefined : wrongPrevious(patch, request, world)));
      return wrong.every((problem) => problem !== undefined) ? wrong[0] : undefined;
    },
  },
  {
    name: 'a failed rollout goes back to what works',
    promise: 'A failed rollout is rolled back to no image of ours that is broken itself, if another one ran before.',
    onPatch(patch, world) {
      if (!patch.isOurs || !isRollback(patch) || patch.record.failed === '' || !isBroken(patch.to, world)) return undefined;
      // What another policy of the same container has applied is not ours to judge.
      if (world.setup.policies.filter(({ container }) => container === patch.container).length > 1) return undefined;
      const all = earlierOf(patch, world);
      const earlier = all.filter((one) => isSamePolicy(one, patch));
      const before = all.findLast(({ to }) => to === patch.to);
      // A person may have asked for it, or set it again.
      return before !== undefined &&
        isSamePolicy(before, patch) &&
        !isRollback(before) &&
        earlier.some(({ from }) => !isBroken(from, world))
        ? describe(patch)
        : undefined;
    },
  },
  {
    name: 'a rollback is not undone',
    promise:
      'The image that was rolled back from is not applied again, unless somebody releases it, or it was rolled back because a check gave no answer. With another companion, it is another one.',
    onPatch(patch, world) {
      const policy = policyOf(patch, world);
      // Companions go with the image of the policy, which is looked at.
      if (!patch.isOurs || patch.isCompanion || isRollback(patch) || (policy !== undefined && isReleasedBy(policy, world)))
        return undefined;
      const earlier = earlierOf(patch, world);
      const isUndone = (one: ImagePatch, index: number) =>
        isSamePolicy(one, patch) &&
        isRollback(one) &&
        one.from === patch.to &&
        setBefore(earlier.slice(0, index), one) === patch.record.setDigest;
      const undone = earlier.find(isUndone);
      const setup = setupOf(patch, world);
      return undone === undefined || (setup !== undefined && hasTimedOut(setup, patch, world))
        ? undefined
        : `${describe(patch)}, which was rolled back ${((patch.at - undone.at) / 1_000).toFixed(1)} s before`;
    },
  },
  {
    name: 'applied once',
    promise: 'An image is applied once, unless somebody else changes it in between.',
    onPatch(patch, world) {
      if (!patch.isOurs || isRollback(patch)) return undefined;
      const { foreign, ours } = lastChanges(patch, world);
      const isRepeated = ours !== undefined && (foreign === undefined || foreign.at < ours.at) && ours.to === patch.to;
      return isRepeated ? describe(patch) : undefined;
    },
  },
  {
    name: 'a later change has a later time',
    promise: 'The times of the changes of one container are in the order in which these were made, whatever the clocks of replicas say.',
    onPatch(patch, world) {
      const { ours } = lastChanges(patch, world);
      if (!patch.isOurs || ours === undefined || Date.parse(patch.record.at) > Date.parse(ours.record.at)) return undefined;
      return `${describe(patch)} at ${patch.record.at}, after a change at ${ours.record.at}`;
    },
  },
];

/** Why this is not what `previous` may mean since it was asked for; undefined if it is. */
function wrongPrevious(patch: ImagePatch, request: string, world: World): string | undefined {
  const own = world.patches.all.filter((one) => isSamePolicy(one, patch) && one.container === patch.container);
  const changes = own.filter((one) => !isRollback(one));
  const askedAt = world.asked.get(request) ?? 0;
  // What each target ran last by then: they need not run the same.
  const wasCurrent = [...new Map(own.filter((one) => one.at < askedAt).map((one) => [one.after.metadata.name, one])).values()];
  const current = [...wasCurrent, ...changes.filter(({ at }) => at >= askedAt)];
  // What a person had set before a rollback ran before it.
  const setBefore = wasCurrent.filter((one) => isRollback(one) && world.patches.all.some(({ isOurs, to }) => !isOurs && to === one.from));
  // Other targets may have run another image before.
  const replaced = [...changes.filter((one) => current.some(({ to }) => to === one.to)), ...setBefore].map(({ from }) => from);
  const isGone = own.some((one) => isRollback(one) && one.at < patch.at && replaced.includes(one.from));
  const rejected = policyOf(patch, world)?.status?.['rejected'];
  const isLeft = replaced.some((image) => Array.isArray(rejected) && rejected.some((one: unknown) => isAbout(one, image)));
  const isAnyBroken = [patch.from, ...replaced].some((image) => isBroken(image, world));
  return replaced.includes(patch.to) || isGone || isLeft || isAnyBroken || changes.length === 0
    ? undefined
    : `${describe(patch)}; before it ran ${[...new Set(replaced)].map(shorten).join(' or ')}`;
}

/** Whether the pods of an image never become available. */
function isBroken(image: string, { controllers }: World): boolean {
  return [...controllers.broken].some((part) => image.includes(part));
}

/** Whether a rejection is one of this image. */
function isAbout(rejection: unknown, image: string): boolean {
  const { tag, digest } = partsOf(image);
  return isObject(rejection) && (digest === undefined ? rejection['tag'] === tag : rejection['digest'] === digest);
}

/** What may not happen while something holds for the policy: for all of the time within the bound, or the change was in time. */
function forbidden(
  name: string,
  promise: string,
  forbids: (now: { readonly policy: ApiObject; readonly patch: ImagePatch; readonly world: World }) => boolean,
): Invariant {
  return {
    name,
    promise,
    onPatch(patch, world) {
      const setup = setupOf(patch, world);
      if (!patch.isOurs || setup === undefined) return undefined;
      const states = world.history.statesWithin(policies, policyNamespace, setup.name, ...boundOf(patch, world));
      return states.every((policy) => policy === undefined || forbids({ policy, patch, world })) ? describe(patch) : undefined;
    },
  };
}

/** The time in which a change must have been right: it was confirmed at some moment of it. */
export function boundOf({ sentAt }: Pick<ImagePatch, 'sentAt'>, { network }: World): [from: number, to: number] {
  return [sentAt - confirmedForMs - network.slowestMs(), sentAt];
}

/** A change back to an image that ran before, by a rollback. The reconcile that follows a rollback may also bring something new, which is an ordinary change. */
export function isRollback({ record, from, to, isKnown }: Pick<ImagePatch, 'record' | 'from' | 'to' | 'isKnown'>): boolean {
  return record.trigger === 'Rollback' && (isKnown || isOlder(to, from));
}

function isOlder(image: string, than: string): boolean {
  const [one, other] = [partsOf(image), partsOf(than)];
  if (valid(one.tag) !== null && valid(other.tag) !== null && one.tag !== other.tag) return compare(one.tag, other.tag) < 0;
  return buildOf(one.digest ?? '') < buildOf(other.digest ?? '');
}

/** The policy that made a change, also where it is deleted by now. */
export function setupOf(patch: Pick<ImagePatch, 'container' | 'record'>, { setup, history }: World): PolicySetup | undefined {
  const isOfPolicy = ({ name }: PolicySetup) =>
    history.statesOf(policies, policyNamespace, name).some(({ object }) => object?.metadata.uid === patch.record.policy);
  const own = setup.policies.filter(({ container }) => container === patch.container);
  return own.find(isOfPolicy) ?? own[0];
}

/** The policy that made a change, as it is now. */
export function policyOf(patch: ImagePatch, world: World): ApiObject | undefined {
  const setup = setupOf(patch, world);
  return setup && world.server.get(policies, policyNamespace, setup.name);
}

/** Whether somebody has released the policy at some time: which holds that ends is for the unit tests to say. */
export function isReleasedBy(policy: ApiObject, _world: World): boolean {
  return policy.metadata.annotations?.[actionAnnotations.release] !== undefined;
}

function selectsByLabel({ spec }: PolicySetup): boolean {
  return JSON.stringify(spec).includes('matchLabels');
}

/** The last change of the container by the service, and by anybody else. */
function lastChanges(patch: ImagePatch, world: World) {
  const earlier = earlierOf(patch, world);
  return { ours: earlier.findLast(({ isOurs }) => isOurs), foreign: earlier.findLast(({ isOurs }) => !isOurs) };
}

/** Whether the own image of a policy is changed with a companion. */
function changesOwn({ before, after }: ImagePatch, { setup }: World): boolean {
  const [from, to] = [heldBy(before), heldBy(after)];
  return setup.policies.some(({ container }) => from.get(container) !== to.get(container));
}

function isSamePolicy(one: ImagePatch, { record }: ImagePatch): boolean {
  return one.isOurs && one.record.policy === record.policy;
}

/** The earlier changes of the same container of the same object. */
function earlierOf(patch: ImagePatch, { patches }: World): ImagePatch[] {
  return patches.all.filter(
    ({ resource, before, container }) =>
      resource === patch.resource && before.metadata.uid === patch.before.metadata.uid && container === patch.container,
  );
}

/** The digest of the image with its companions that ran before a rollback; empty without companions. */
function setBefore(earlier: readonly ImagePatch[], rollback: ImagePatch): string {
  return earlier.findLast(({ to }) => to === rollback.from)?.record.setDigest ?? '';
}

/** The number of the build: newer ones are higher. */
function ageOf({ record, to }: ImagePatch): number {
  const { tag, digest = '' } = partsOf(to);
  const known = record.digest || digest;
  if (known !== '') return buildOf(known);
  // A version ends with the number of its build, except for that of the charts that run at first.
  return tag === firstVersion ? 0 : Number(tag.split('.').at(-1));
}

export function describe({ after, container, from, to, record, process }: ImagePatch): string {
  return `${process} changed ${after.metadata.name} ${container}: ${shorten(from)} → ${shorten(to)} (${textOrEmpty(record.trigger) || 'no trigger'})`;
}
