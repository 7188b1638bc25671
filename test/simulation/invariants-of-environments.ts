/** What must hold where production follows staging: what staging really ran, as the API server had it, decides. */
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import type { ApiObject } from './api-server.ts';
import { heldBy } from './chart-kinds.ts';
import { isComplete } from './controllers.ts';
import { partsOf, shorten } from './images.ts';
import { boundOf, describe, isRollback, setupOf } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { ImagePatch } from './patch-log.ts';
import { policyNamespace } from './setup.ts';
import { policies, type World } from './world.ts';

export const environmentInvariants: readonly Invariant[] = [
  {
    name: 'production runs what staging has proven',
    promise:
      'A policy that follows another one applies only an image that all targets of that one have run for the time that it demands, complete and available, without an interruption.',
    onPatch(patch, world) {
      const after = followedBy(patch, world);
      if (after === undefined) return undefined;
      const longest = longestHeld(digestOf(patch), after.policy, patch, world);
      return longest >= after.forMs && longest >= 0
        ? undefined
        : `${describe(patch)}, which ${after.policy} has run for ${longest < 0 ? 'no time' : `${longest} ms`} of ${after.forMs} ms`;
    },
  },
  {
    name: 'what staging has rolled back is not promoted',
    promise: 'An image that the followed policy has rolled back is not applied afterwards, unless somebody releases it there.',
    onPatch(patch, world) {
      const after = followedBy(patch, world);
      if (after === undefined) return undefined;
      const [from] = boundOf(patch, world);
      const staging = world.server.get(policies, policyNamespace, after.policy);
      const undone = world.patches.all.find(
        (one) =>
          one.isOurs &&
          one.at < from &&
          one.record.policy === staging?.metadata.uid &&
          isRollback(one) &&
          partsOf(one.from).digest === digestOf(patch),
      );
      if (undone === undefined || staging?.metadata.annotations?.[actionAnnotations.release] !== undefined) return undefined;
      return `${describe(patch)}, which ${after.policy} has rolled back ${((patch.at - undone.at) / 1_000).toFixed(1)} s before`;
    },
  },
  {
    name: 'production comes to what staging runs',
    promise: 'When faults end and nobody interferes, the targets of a policy that follows another one run the image that this one runs.',
    atEnd(world) {
      if (world.hasInterference) return [];
      return world.setup.policies.flatMap(({ repository, container, spec, after }) => {
        if (after === undefined || JSON.stringify(spec).includes('Approval') || world.mayBeUnknown.has(repository)) return [];
        const [staged, live] = [digestsOf(after.policy, world), digestsOf(container, world)];
        return [...live].every((digest) => staged.has(digest))
          ? []
          : [`staging runs ${shorten([...staged].join())}, and production ${shorten([...live].join())}`];
      });
    },
  },
];

/** The digests that the containers of this name run, by what is written in workloads and in the records on them. */
function digestsOf(container: string, { setup, server, patches }: World): Set<string> {
  return new Set(
    setup.workloads.flatMap(({ resource, namespace, name }) => {
      const workload = server.get(resource, namespace, name);
      const image = workload && heldBy(workload).get(container);
      if (image === undefined) return [];
      return [
        partsOf(image).digest ?? patches.all.findLast(({ to, after }) => to === image && after.metadata.name === name)?.record.digest ?? '',
      ];
    }),
  );
}

/** What the policy of a change follows; undefined for one that follows none, and for a rollback. */
function followedBy(patch: ImagePatch, world: World) {
  return patch.isOurs && !isRollback(patch) ? setupOf(patch, world)?.after : undefined;
}

function digestOf({ record, to }: ImagePatch): string {
  return partsOf(to).digest ?? record.digest;
}

/** The longest time without an interruption for which all targets of a policy have run a digest, until the change was confirmed at the earliest; -1 for none. In milliseconds. */
function longestHeld(digest: string, policy: string, patch: ImagePatch, world: World): number {
  const [from, to] = boundOf(patch, world);
  const targets = world.setup.workloads.filter(({ images }) => images[policy] !== undefined);
  const states = targets.map(({ resource, namespace, name }) => world.history.statesOf(resource, namespace, name));
  const times = [...new Set(states.flatMap((own) => own.map(({ since }) => since)))].filter((at) => at <= to).toSorted((a, b) => a - b);
  let [longest, since] = [-1, undefined as number | undefined];
  for (const [index, at] of times.entries()) {
    const end = times[index + 1] ?? to;
    const holds = states.every((own) => isHolding(own.findLast((state) => state.since <= at)?.object, policy, digest));
    since = holds ? (since ?? at) : undefined;
    if (since !== undefined && end >= from) longest = Math.max(longest, end - since);
  }
  return longest;
}

function isHolding(workload: ApiObject | undefined, container: string, digest: string): boolean {
  const image = workload && heldBy(workload).get(container);
  return workload !== undefined && image !== undefined && partsOf(image).digest === digest && isComplete(workload);
}
