/** What must hold for a BaseImagePolicy: for each restart, each image that its children change, each rebased image, and at the end. */
import { restartedForAnnotation } from '../../src/service/kube/restart-workload.ts';
import { readBaseStatus } from '../../src/core/model/base-status.ts';
import { textOrEmpty } from '../../src/core/model/untyped.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import type { ApiObject } from './api-server.ts';
import { appContainer, appLabel, basePolicyName } from './base-setup.ts';
import { baseOf, basePolicies, basePolicyNow, type BaseAct, type RestartPatch } from './base-world.ts';
import { containersOf } from './controllers.ts';
import { partsOf } from './images.ts';
import { boundOf, confirmedForMs, isRollback } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import { otherNamespace, policyNamespace, type WorkloadSetup } from './setup.ts';
import type { Registry } from './registry.ts';
import { isVisible, type World } from './world.ts';

export const baseInvariants: readonly Invariant[] = [
  {
    name: 'a suspended base policy does nothing',
    promise: 'Nothing is done for a BaseImagePolicy that is suspended, or deleted: no restart, no rebase, no change by its children.',
    onBaseAct(act, world) {
      // The policy was confirmed by what the API server said of base policies, and by nothing else.
      const from = act.sentAt - confirmedForMs - world.network.slowestMs('baseimagepolicies');
      const states = world.history.statesWithin(basePolicies, policyNamespace, basePolicyName, from, act.sentAt);
      const isActive = (policy: ApiObject | undefined) =>
        policy !== undefined && policy.spec['suspend'] !== true && (act.parent === undefined || policy.metadata.uid === act.parent);
      return states.some(isActive) ? undefined : act.what;
    },
  },
  {
    name: 'a base policy changes only what it selects',
    promise: 'For a BaseImagePolicy, only workloads are restarted or changed that it selects, and whose owners consent.',
    onBaseAct(act, world) {
      if (act.workload === undefined) return undefined;
      const { resource, before, version } = act.workload;
      const { namespace = '', name, uid } = before.metadata;
      const [from, to] = boundOf(act, world);
      const states = world.history.statesWithin(resource, namespace, name, from, to);
      if (!states.some((one) => one?.metadata.uid === uid && one.metadata.labels?.['runs'] === appLabel.runs)) return act.what;
      if (namespace !== otherNamespace) return undefined;
      const consents = world.history.statesWithin('v1/namespaces', '', otherNamespace, from, to);
      const isGiven = consents.some((one) => one?.metadata.annotations?.[consentAnnotation] === policyNamespace);
      return version === 'older' && isGiven ? undefined : `${act.what} without consent`;
    },
  },
  {
    name: 'a workload is restarted once for each image',
    promise: 'A workload is restarted once for each image that its tag was given.',
    onBaseAct({ restart, what }, { bases }) {
      const earlier = bases?.restarts.filter(({ after }) => after.metadata.uid === restart?.after.metadata.uid) ?? [];
      return restart !== undefined && earlier.some((one) => restartedFor(one) === restartedFor(restart)) ? what : undefined;
    },
  },
  {
    name: 'no workload is moved to an older base',
    promise: 'A restart, or a rebased image, brings a workload to a newer base, except a rollback.',
    onBaseAct({ restart, patch, what }, { registry, controllers }) {
      if (patch !== undefined && isRollback(patch)) return undefined;
      const [from] =
        patch === undefined
          ? [...(restart === undefined ? [] : controllers.running(restart.before).values())]
          : [digestOfImage(patch.from, registry)];
      const to = patch === undefined ? restart && restartedFor(restart) : digestOfImage(patch.to, registry);
      if (from === undefined || to === undefined) return undefined;
      const [older, newer] = [baseOf(from, registry) ?? -1, baseOf(to, registry) ?? -1];
      return newer > older ? undefined : `${what}: from the base ${older} to ${newer}`;
    },
  },
  {
    name: 'waves are kept',
    promise: 'No more workloads than maxParallel are restarted or changed for a base at the same time.',
    onBaseAct(act, world) {
      const { workload } = act;
      const brought = baseOfAct(act, world);
      if (workload === undefined || brought === undefined || world.bases === undefined) return undefined;
      const { setup, acts } = world.bases;
      const others = acts.filter(
        (one) => baseOfAct(one, world) === brought && one.workload !== undefined && isUnderWay(one.workload, world),
      );
      const names = new Set([...others.map((one) => one.workload?.after.metadata.uid), workload.after.metadata.uid]);
      return names.size > setup.maxParallel ? `${act.what}, although ${names.size - 1} others are under way` : undefined;
    },
  },
  {
    name: 'a canary comes first',
    promise: 'No other workload is restarted or changed for a base before the canary has rolled out on it.',
    onBaseAct(act, world) {
      const { workload, what, patch } = act;
      if (workload === undefined || (patch !== undefined && isRollback(patch))) return undefined;
      const canary = canaryOf(world);
      if (canary === undefined || canary.metadata.uid === workload.after.metadata.uid) return undefined;
      const wanted = baseOfAct(act, world);
      const own = world.bases?.acts.findLast(
        (one) => one.workload?.after.metadata.uid === canary.metadata.uid && baseOfAct(one, world) === wanted,
      );
      if (own?.workload !== undefined)
        return isUnderWay(own.workload, world) ? `${what} while ${canary.metadata.name} rolls out` : undefined;
      // Whether its tag has an image on this base may not be known yet.
      if (world.bases?.setup.action === 'mixed') return undefined;
      const has = baseOfWorkload(canary, act, world);
      return wanted === undefined || has === undefined || has >= wanted
        ? undefined
        : `${what} before ${canary.metadata.name}, on base ${has}`;
    },
  },
  {
    name: 'workloads come to the newest base',
    promise: 'When faults end, each workload that a BaseImagePolicy selects runs an image on the newest base, where there is one.',
    atEnd: (world) =>
      selectedOf(world).flatMap(({ name, digest, running, isRestarted }) => {
        const [wanted, runs] = [digest && baseOf(digest, world.registry), running && baseOf(running, world.registry)];
        const newest = world.bases?.newest;
        // Nobody may have built the image anew.
        if (isRestarted && wanted !== newest) return [];
        const found = isRestarted ? runs : wanted;
        return found === newest ? [] : [`${name} runs an image on base ${found}; the newest is ${newest}`];
      }),
  },
  {
    name: 'the status of a base policy says what is',
    promise: 'The status of a BaseImagePolicy counts the images that are behind the newest base.',
    atEnd(world) {
      const policy = basePolicyNow(world.server);
      if (policy === undefined || !isKnown(world)) return [];
      const { images, conditions = [] } = readBaseStatus(policy.status);
      const ready = conditions.find(({ type }) => type === 'Ready');
      if (policy.spec['suspend'] === true)
        return ready?.reason === 'Suspended' ? [] : [`the base policy is suspended, and says ${ready?.reason}`];
      const found = new Map(selectedOf(world).map(({ image, digest = '' }) => [image, baseOf(digest, world.registry)]));
      const behind = [...found.values()].filter((base) => base !== world.bases?.newest).length;
      const line = `${found.size} images, ${behind} of them behind, ${behind > 0 ? 'ImagesBehind' : 'UpToDate'}`;
      const told = `${images?.total} images, ${images?.behind} of them behind, ${ready?.reason}`;
      return told === line ? [] : [`it says: ${told}; there are ${line}`];
    },
  },
];

/** What the tag of an image shows. */
function digestOfImage(image: string, registry: Registry): string | undefined {
  const { repository, tag } = partsOf(image);
  return registry.tags(repository).get(tag);
}

/** The image that a restart was for. */
function restartedFor({ after }: RestartPatch): string | undefined {
  return after.metadata.annotations?.[restartedForAnnotation]?.split(',')[0];
}

/** The canary, where it has been selected ever since it was created: who does not know that may have begun without it. */
function canaryOf({ bases, server, history }: World): ApiObject | undefined {
  const setup = bases?.setup.workloads.find(({ name }) => name === bases.setup.canary);
  if (setup === undefined) return undefined;
  const { resource, namespace, name } = setup;
  const canary = server.get(resource, namespace, name);
  const isSelected = (one: ApiObject | undefined) =>
    one?.metadata.uid === canary?.metadata.uid && one?.metadata.labels?.['runs'] === appLabel.runs;
  return history.statesOf(resource, namespace, name).every(({ object }) => isSelected(object)) ? canary : undefined;
}

/** The number of the base that an act brings. */
function baseOfAct({ patch, restart }: BaseAct, { registry }: World): number | undefined {
  const to = patch === undefined ? restart && restartedFor(restart) : digestOfImage(patch.to, registry);
  return to === undefined ? undefined : baseOf(to, registry);
}

/** The number of the base that a workload has: of the image that it names, or that its pods run where it is restarted for another one. */
function baseOfWorkload(workload: ApiObject, { restart }: BaseAct, { registry, controllers }: World): number | undefined {
  const [running] = controllers.running(workload).values();
  const image = textOrEmpty(containersOf(workload.spec).find((one) => one['name'] === appContainer)?.['image']);
  const digest = restart === undefined ? digestOfImage(image, registry) : running;
  return digest === undefined ? undefined : baseOf(digest, registry);
}

/** Whether the rollout of a change that was made has not come to its end. */
function isUnderWay({ resource, after }: NonNullable<BaseAct['workload']>, world: World): boolean {
  const { namespace = '', name, uid, generation } = after.metadata;
  // What the policy may not see does not hold the others up.
  if (!isVisible(namespace, world)) return false;
  const now = world.server.get(resource, namespace, name);
  if (now === undefined || now.metadata.uid !== uid || now.metadata.generation !== generation) return false;
  return (
    now.metadata.labels?.['runs'] === appLabel.runs &&
    (now.status?.['observedGeneration'] !== generation || now.status['isComplete'] !== true)
  );
}

/** Whether the service must know of everything that was pushed. */
function isKnown({ bases }: World): boolean {
  return bases !== undefined && (!bases.mayBeUnknown || bases.setup.isPolledOften);
}

interface Selected extends Pick<WorkloadSetup, 'name'> {
  readonly isRestarted: boolean;
  readonly image: string;
  /** What its tag shows. */
  readonly digest: string | undefined;
  /** What its pods run. */
  readonly running: string | undefined;
}

/** The workloads that the policy selects and may see; none where it does nothing. */
function selectedOf(world: World): Selected[] {
  const { server, registry, controllers, bases } = world;
  const policy = basePolicyNow(server);
  if (bases === undefined || policy === undefined || policy.spec['suspend'] === true || !isKnown(world)) return [];
  return bases.setup.workloads.flatMap(({ resource, namespace, name }) => {
    const workload = server.get(resource, namespace, name);
    if (workload?.metadata.labels?.['runs'] !== appLabel.runs || !isVisible(namespace, world)) return [];
    const image = textOrEmpty(containersOf(workload.spec).find((one) => one['name'] === appContainer)?.['image']);
    const [running] = [...controllers.running(workload).values()];
    const isRestarted = partsOf(image).repository === bases.setup.rebuilt?.repository;
    return [{ name, isRestarted, image, digest: digestOfImage(image, registry), running }];
  });
}
