/** What must hold when all faults are over and everything is quiet. */
import { limits } from '../../src/core/model/last-update.ts';
import { isObject } from '../../src/core/model/untyped.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { maxListed, type HistoryEntry, type PolicyStatus } from '../../src/core/model/policy-status.ts';
import type { PolicyResult } from '../../src/service/queue/event-log.ts';
import { compare, satisfies, valid } from 'semver';
import { changesAfter, changesBy, compareHistory, isDisplaced, staysVisible } from './compare-history.ts';
import { heldBy } from './chart-kinds.ts';
import { firstVersion } from './chart-setup.ts';
import { isSelectable } from './invariants-of-charts.ts';
import { isVetoed } from './checked-policies.ts';
import { partsOf, shorten } from './images.ts';
import type { Invariant } from './invariants.ts';
import { appliedTag, type ImagePatch } from './patch-log.ts';
import { policyNamespace } from './setup.ts';
import { policies, policyNow, type AcceptedPush, type World } from './world.ts';

/** Of one job, by all replicas together; each of them pauses for about half a second at least. */
const mostTriesPerSecond = 6;

export const endInvariants: readonly Invariant[] = [
  {
    name: 'no job lives for ever',
    promise: 'When faults end, all jobs end.',
    atEnd: ({ queue: { stores } }) =>
      (['push', 'policy', 'check', 'base'] as const).flatMap((queue) =>
        (['active', 'waiting'] as const).flatMap((state) =>
          stores[queue].list(state).map(({ id, attemptsMade }) => `${queue} ${id.slice(0, 8)} is ${state} after ${attemptsMade} failures`),
        ),
      ),
  },
  {
    name: 'no job runs in circles',
    promise: 'Between two tries of a job there is a pause, whatever the clocks of replicas say.',
    atEnd: ({ queue: { failedTries } }) =>
      [...failedTries].flatMap(([job, tries]) => {
        const most = Math.max(...tries.map((from) => tries.filter((at) => at >= from && at < from + 1_000).length));
        return most > mostTriesPerSecond ? [`${job.slice(0, 16)} was tried ${most} times in a second`] : [];
      }),
  },
  {
    name: 'an accepted push has a final record',
    promise: 'Each accepted push ends with one final record.',
    atEnd: (world) =>
      acceptedOf(world).flatMap((push) => {
        if (world.records.isUnwatched(push.id)) return [];
        const results = [...world.records.results(push.id)];
        if (results.length === 0) return [`push ${nameOf(push)} has no record`];
        return results.flatMap(([policy, result]) =>
          isFinal(result) ? [] : [`push ${nameOf(push)} stays ${result?.kind} for ${policy}: ${result?.message}`],
        );
      }),
  },
  {
    name: 'no watched push is recorded as unwatched',
    promise: '"No policy watches it" is recorded only where none does.',
    atEnd: (world) =>
      acceptedOf(world)
        .filter((push) => world.records.isUnwatched(push.id) && isWatched(push, world))
        .map((push) => `push ${nameOf(push)}`),
  },
  {
    name: 'the record of a push is what happened',
    promise: 'What a push is recorded to have changed was changed.',
    atEnd: (world) =>
      acceptedOf(world).flatMap((push) =>
        [...world.records.results(push.id).values()].flatMap((result) =>
          (result?.changes ?? []).flatMap(({ to, workload }) =>
            world.patches.all.some((patch) => patch.isOurs && patch.to === to && patch.after.metadata.name === workload.name)
              ? []
              : [`push ${nameOf(push)} is recorded as ${shorten(to)}, which nobody applied`],
          ),
        ),
      ),
  },
  {
    name: 'a change by a push is recorded',
    promise:
      'The change that a push caused is in the record of a push, unless its policy was deleted or made invalid, or more than six others followed, before its worker, or the next one, reported it.',
    atEnd: (world) =>
      world.patches.all.flatMap((patch) => {
        if (!validOf(world).some(({ uid }) => uid === patch.record.policy)) return [];
        // What became of a rollout replaces the change in the record.
        const isBroken = [...world.controllers.broken].some((part) => patch.to.includes(part));
        // A push that was accepted before Redis was wiped is recorded by nobody.
        const isAccepted = acceptedOf(world).some(({ id }) => id === patch.record.event);
        if (
          !patch.isOurs ||
          patch.isCompanion ||
          patch.record.trigger !== 'Webhook' ||
          !isAccepted ||
          isBroken ||
          !staysVisible(patch, world)
        )
          return [];
        if (changesAfter(patch, world) > limits.maxBefore) return [];
        const isRecorded = world.pushes.some(({ id }) =>
          [...world.records.results(id).values()].some(
            (result) =>
              result?.changes?.some(({ to, workload }) => to === patch.to && workload.name === patch.after.metadata.name) === true,
          ),
        );
        return isRecorded ? [] : [`no push is recorded to have changed ${patch.after.metadata.name} to ${shorten(patch.to)}`];
      }),
  },
  {
    name: 'the record of a push says how its rollouts ended',
    promise:
      'Where the history says that the rollouts of all changes of a push are complete, so does the record of the push, if the policy watches rollouts, its workloads are there ever since, and nobody else changed the images.',
    atEnd: (world) =>
      validOf(world).flatMap(({ name, uid, watches, status: { history = [], waiting } }) => {
        // A full history may have dropped what a rollout of the same image depends on.
        if (!watches || history.length >= maxListed) return [];
        const patchOf = ({ at, to, name: workload }: HistoryEntry) =>
          world.patches.all.find(
            ({ record, after, ...patch }) =>
              record.policy === uid && record.at === at && patch.to === to && after.metadata.name === workload,
          );
        const pushOf = (entry: HistoryEntry) => patchOf(entry)?.record.event;
        // The push of a change is known from its workload.
        const isDisturbed = (entry: HistoryEntry) => {
          const patch = patchOf(entry);
          const isByOthers = world.patches.all.some(({ isOurs, after }) => !isOurs && after.metadata.name === entry.name);
          return isByOthers || (patch !== undefined && !staysVisible(patch, world));
        };
        return [...Map.groupBy(history, pushOf)].flatMap(([id, entries]) => {
          const push = acceptedOf(world).find((one) => one.id === id);
          const isComplete = entries.every((entry) => entry.result === 'RolledOut' && entry.tag !== waiting?.tag && !isDisturbed(entry));
          if (push === undefined || !isComplete) return [];
          const result = world.records.results(push.id).get(name);
          return result?.reason !== 'Updated' ? [] : [`push ${nameOf(push)} is Updated for ${name}, and its changes are out`];
        });
      }),
  },
  {
    name: 'the history is the log of changes',
    promise:
      'The history of a valid policy has its last ten changes, in their order, with their times and triggers; failures stay longer. A change is missing if more than six others followed before a status could be written.',
    atEnd: (world) =>
      validOf(world).flatMap(({ name, uid, status }) => {
        const isHidden = (patch: ImagePatch) => !staysVisible(patch, world) || isDisplaced(patch, name, world);
        const { history = [] } = status;
        // A change of companions alone is an entry, and no change of the own image; a history that is full may have dropped others for it.
        const own = history.filter(({ from, to }) => from !== to);
        if (own.length < history.length && history.length >= maxListed) return [];
        return compareHistory(changesBy(uid, world), own, isHidden).map((problem) => `policy ${name}: ${problem}`);
      }),
  },
  {
    name: 'the status shows what runs',
    promise: 'status.targets shows what each workload runs.',
    atEnd: (world) =>
      policiesOf(world).flatMap(({ name, status }) =>
        (status.targets ?? []).flatMap(({ name: workload, namespace, kind, container, image }) => {
          const resource = world.setup.workloads.find((one) => one.name === workload && one.kind === kind)?.resource ?? '';
          const object = world.server.get(resource, namespace, workload);
          const runs = (object && heldBy(object).get(container ?? '')) ?? '';
          return image === undefined || runs === '' || image === runs
            ? []
            : [`policy ${name} shows ${shorten(image)} for ${workload}, which runs ${shorten(runs)}`];
        }),
      ),
  },
  {
    name: 'the last change is the last applied tag',
    promise: 'status.lastAppliedTag of a valid policy is the tag of the last change.',
    atEnd: (world) =>
      validOf(world).flatMap(({ name, uid, status }) => {
        const made = changesBy(uid, world);
        const last = made.find((patch) => staysVisible(patch, world));
        // Those that are as late, or later but hidden, count as well.
        const tags = made.filter((one) => last !== undefined && one.record.at >= last.record.at).map(appliedTag);
        return last === undefined || tags.includes(status.lastAppliedTag ?? '')
          ? []
          : [`policy ${name} says ${status.lastAppliedTag}; the last change was ${tags.join(' or ')}`];
      }),
  },
  {
    name: 'what was applied was selected',
    promise: 'status.latest is not older than an image that the history has, for longer than ten seconds, unless a clock was set.',
    atEnd: ({ setup, history, clock, hasSetClock }) =>
      setup.policies
        .filter(({ range }) => range !== undefined && !hasSetClock)
        .flatMap(({ name }) => {
          const states = history.statesOf(policies, policyNamespace, name).map(({ since, object }) => {
            return { since, why: object && whyNotSelected(readStatus(object.status, object.metadata.generation)) };
          });
          const wrong = states.flatMap(({ since, why }, index) =>
            why !== undefined && states[index - 1]?.why === undefined ? [since] : [],
          );
          const long = wrong.find(
            (from) => (states.find(({ since, why }) => since > from && why === undefined)?.since ?? clock.now()) > from + 10_000,
          );
          return long === undefined ? [] : [`policy ${name} ${states.find(({ since }) => since === long)?.why}`];
        }),
  },
  {
    name: 'everything converges',
    promise: 'When faults end and nobody interferes, each target runs what its policy selects.',
    atEnd(world) {
      if (world.hasInterference) return [];
      return world.setup.policies.flatMap((setup) => {
        const { name, container, repository, follows, range, spec, after, alongside, scans } = setup;
        if (
          after !== undefined ||
          alongside !== undefined ||
          scans !== undefined ||
          JSON.stringify(spec).includes('Approval') ||
          isVetoed(setup, world)
        )
          return [];
        // Whoever follows a tag finds what nobody announced with the next push, or with the next poll.
        if (follows !== undefined && world.mayBeUnknown.has(repository)) return [];
        const announced = [...world.registry.tags(repository)].filter(
          ([tag, digest]) =>
            isKnown(world, repository, tag) &&
            (follows !== undefined || valid(tag) !== null) &&
            isSelectable(digest, setup) &&
            (range === undefined || satisfies(tag, range)),
        );
        const best =
          follows === undefined ? announced.toSorted(([a], [b]) => compare(b, a))[0] : announced.find(([tag]) => tag === follows);
        return world.setup.workloads.flatMap(({ resource, namespace, name: workload }) => {
          const object = world.server.get(resource, namespace, workload);
          const runs = object && heldBy(object).get(container);
          if (runs === undefined) return [];
          const isBest =
            best === undefined || (follows === undefined ? compare(partsOf(runs).tag, best[0]) >= 0 : partsOf(runs).digest === best[1]);
          return isBest ? [] : [`${workload} runs ${shorten(runs)}; policy ${name} selects ${shorten(`${best[0]}@${best[1]}`)}`];
        });
      });
    },
  },
];

/** A result of a wait is final where something else ends the wait: an approval, a window. */
function isFinal(result: PolicyResult | undefined): boolean {
  return result !== undefined && result.kind !== 'retrying';
}

/** The pushes that must not be lost. */
function acceptedOf({ pushes, wipedAt }: World): AcceptedPush[] {
  return pushes.filter(({ at }) => at > wipedAt);
}

/** Whether a policy for the repository has been there ever since the push came. */
function isWatched({ repository, at }: AcceptedPush, { setup, history, clock }: World): boolean {
  const isThere = (name: string) =>
    history.statesWithin(policies, policyNamespace, name, at, clock.now()).every((one) => one !== undefined);
  return setup.policies.some((one) => one.repository === repository && isThere(one.name));
}

/** Whether the service must know of a tag: it was there at first, or was announced and not forgotten. */
function isKnown({ pushes, wipedAt }: World, repository: string, tag: string): boolean {
  return (
    tag === '1.0.0' ||
    tag === firstVersion ||
    pushes.some((push) => push.repository === repository && push.tag === tag && push.at > wipedAt)
  );
}

function nameOf({ id, repository, tag, digest }: AcceptedPush): string {
  return `${id.slice(0, 6)} of ${shorten(`${repository}:${tag}@${digest}`)}`;
}

function policiesOf(
  world: World,
): { readonly name: string; readonly uid: string; readonly watches: boolean; readonly status: PolicyStatus }[] {
  return world.setup.policies.flatMap(({ name }) => {
    const policy = policyNow(world, name);
    return policy === undefined
      ? []
      : [
          {
            name: `${policyNamespace}/${name}`,
            uid: policy.metadata.uid,
            watches: watchesRollouts(policy.spec),
            status: readStatus(policy.status, policy.metadata.generation),
          },
        ];
  });
}

function watchesRollouts(spec: unknown): boolean {
  return isObject(spec) && isObject(spec['rollout']) && spec['rollout']['watch'] === true;
}

/** The policies whose targets are known. A change that was made before the spec became invalid is in the history when it is valid again. */
function validOf(world: World): ReturnType<typeof policiesOf> {
  return policiesOf(world).filter(({ status: { conditions = [] } }) => !conditions.some(({ reason }) => reason === 'InvalidPolicy'));
}

/** The newest image that was applied, if the status says that an older one is selected. */
function whyNotSelected({ history = [], latest, conditions = [] }: PolicyStatus): string | undefined {
  const newest = history.map(({ tag }) => tag).toSorted((a, b) => compare(b, a))[0];
  if (newest === undefined || compare(latest?.tag ?? '0.0.0', newest) >= 0) return undefined;
  return `says ${latest?.tag}, and has applied ${newest}: ${conditions.find(({ type }) => type === 'Ready')?.reason}`;
}
