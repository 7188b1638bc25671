/** What people do to workloads, policies and Namespaces, with kubectl. */
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { fieldsOf, isObject, textOrEmpty } from '../../src/core/model/untyped.ts';
import type { ApiObject, Edit } from './api-server.ts';
import { withHeld } from './chart-kinds.ts';
import { hasForeign } from './faults.ts';
import { shorten } from './images.ts';
import type { OperationKind } from './operation.ts';
import { otherNamespace, policyNamespace, type PolicySetup, type WorkloadSetup } from './setup.ts';
import { createPolicy, createWorkload, policies, policyNow, type World } from './world.ts';

/** Every kind, in a list. */
export const people: readonly OperationKind[] = [
  {
    name: 'kubectl set image',
    weight: 3,
    draw(random, { workloads }) {
      const [setup, choice] = [random.pick(workloads), random.next()];
      return (world) =>
        editWorkload(world, setup, 'kubectl-set', (workload) => {
          const [container] = Object.keys(setup.images);
          const known = world.patches.all.filter(({ after, container: own }) => after.metadata.name === setup.name && own === container);
          const image = known[Math.floor(choice * known.length)]?.from;
          return image === undefined || container === undefined ? workload : withHeld(workload, container, image);
        });
    },
  },
  {
    name: 'edit a workload, and not its image',
    weight: 1.5,
    draw(random, { workloads }) {
      const [setup, limit] = [random.pick(workloads), random.integer(1, 1_000)];
      return (world) => {
        world.story.tell('person', `edits ${setup.name}`);
        editWorkload(world, setup, 'kubectl-edit', (workload) => ({
          ...workload,
          spec: { ...workload.spec, revisionHistoryLimit: limit },
        }));
      };
    },
  },
  {
    name: 'edit a policy',
    weight: 2,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      const edits: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
        ['update', { mode: 'Approval' }],
        ['update', { mode: 'Automatic' }],
        ['rollout', { watch: true, onFailure: 'Rollback' }],
        ['rollout', { watch: true, onFailure: 'Hold' }],
        // Checks follow the rollout: without it, the policy would be refused, and nothing about it would be checked.
        ['rollout', setup.hasChecks === true ? { watch: true, onFailure: 'Ignore' } : { watch: false }],
      ];
      const [field, change] = random.pick(edits);
      return (world) =>
        editPolicy(world, setup, (policy) => {
          world.story.tell('person', `edits policy ${setup.name}: ${field} ${JSON.stringify(change)}`);
          return { ...policy, spec: { ...policy.spec, [field]: { ...fieldsOf(policy.spec[field]), ...change } } };
        });
    },
  },
  {
    name: 'suspend or resume',
    weight: 3,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      return (world) =>
        editPolicy(world, setup, (policy) => {
          const suspend = policy.spec['suspend'] !== true;
          world.story.tell('person', suspend ? `suspends policy ${setup.name}` : `resumes policy ${setup.name}`);
          return { ...policy, spec: { ...policy.spec, suspend } };
        });
    },
  },
  {
    name: 'pause or unpause',
    weight: 3,
    draw(random, { workloads }) {
      const setup = random.pick(workloads);
      return (world) => {
        if (setup.kind !== 'Deployment') return;
        editWorkload(world, setup, 'kubectl-rollout', (workload) => {
          const paused = workload.spec['paused'] !== true;
          world.story.tell('person', paused ? `pauses ${setup.name}` : `unpauses ${setup.name}`);
          return { ...workload, spec: { ...workload.spec, paused } };
        });
      };
    },
  },
  {
    name: 'rollback-to',
    weight: 3,
    draw(random, { policies: setups }) {
      const [setup, number] = [random.pick(setups), random.integer(1, 1_000_000)];
      return (world) => {
        world.asked.set(`previous ${number}`, world.clock.now());
        annotate(world, setup, actionAnnotations.rollbackTo, `previous ${number}`, `asks policy ${setup.name} for rollback-to: previous`);
      };
    },
  },
  {
    name: 'take the rollback back',
    weight: 1,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      return (world) => annotate(world, setup, actionAnnotations.rollbackTo, undefined, `takes the rollback of policy ${setup.name} back`);
    },
  },
  {
    name: 'approve',
    weight: 4,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      return (world) => {
        const { pendingApproval } = policyNow(world, setup.name)?.status ?? {};
        if (!isObject(pendingApproval)) return;
        const image = `${textOrEmpty(pendingApproval['tag'])}@${textOrEmpty(pendingApproval['digest'])}`;
        annotate(world, setup, actionAnnotations.approve, image, `approves ${shorten(image)} of policy ${setup.name}`);
      };
    },
  },
  {
    name: 'take the approval back',
    weight: 2,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      return (world) => {
        if (policyNow(world, setup.name)?.metadata.annotations?.[actionAnnotations.approve] === undefined) return;
        annotate(world, setup, actionAnnotations.approve, undefined, `takes the approval of policy ${setup.name} back`);
      };
    },
  },
  {
    name: 'release',
    weight: 2,
    draw(random, { policies: setups }) {
      const setup = random.pick(setups);
      return (world) =>
        annotate(world, setup, actionAnnotations.release, new Date(world.clock.now()).toISOString(), `releases policy ${setup.name}`);
    },
  },
  {
    name: 'give or withdraw the consent of a Namespace',
    weight: 2,
    draw: () => (world) => {
      if (!hasForeign(world.setup)) return;
      world.hasInterference = true;
      world.server.edit({ resource: 'v1/namespaces', name: otherNamespace, by: 'kubectl-annotate' }, (namespace) => {
        const isGiven = namespace.metadata.annotations?.[consentAnnotation] !== undefined;
        world.story.tell(
          'person',
          isGiven ? `withdraws the consent of Namespace ${otherNamespace}` : `gives the consent of Namespace ${otherNamespace}`,
        );
        return withAnnotation(namespace, consentAnnotation, isGiven ? undefined : policyNamespace);
      });
    },
  },
  {
    name: 'relabel',
    weight: 2,
    draw(random, { workloads }) {
      const setup = random.pick(workloads);
      return (world) =>
        editWorkload(world, setup, 'kubectl-label', (workload) => {
          const isLabelled = workload.metadata.labels?.['uses'] === 'web';
          world.story.tell('person', isLabelled ? `removes the label of ${setup.name}` : `labels ${setup.name} again`);
          const { uses: _, ...labels } = workload.metadata.labels ?? {};
          return { ...workload, metadata: { ...workload.metadata, labels: isLabelled ? labels : { ...labels, uses: 'web' } } };
        });
    },
  },
  {
    name: 'delete and create anew',
    weight: 1,
    draw(random, { workloads }) {
      const [setup, isLabelled] = [random.pick(workloads), random.chance(0.5)];
      return (world) => {
        const { resource, namespace, name } = setup;
        world.hasInterference = true;
        world.story.tell('person', `deletes ${name} and creates it anew${isLabelled ? '' : ', without its label'}`);
        world.server.delete({ resource, namespace, name, by: 'kubectl' });
        createWorkload(world.server, setup, isLabelled ? { uses: 'web' } : {});
      };
    },
  },
  {
    name: 'delete a policy and create it anew',
    weight: 1,
    draw(random, { policies: setups }) {
      const [setup, awayMs] = [random.pick(setups), random.chance(0.5) ? 0 : random.between(10, 4_000)];
      return (world) => {
        if (policyNow(world, setup.name) === undefined) return;
        world.hasInterference = true;
        world.story.tell('person', `deletes policy ${setup.name}, and creates it anew after ${(awayMs / 1_000).toFixed(1)} s`);
        world.server.delete({ resource: policies, namespace: policyNamespace, name: setup.name, by: 'kubectl' });
        world.clock.schedule(undefined, awayMs, () => createPolicy(world.server, setup));
      };
    },
  },
];

function editWorkload(
  world: World,
  { resource, namespace, name }: WorkloadSetup,
  by: string,
  change: (workload: ApiObject) => ApiObject,
): void {
  world.hasInterference = true;
  const edit: Edit = { resource, namespace, name, by };
  world.server.edit(edit, change);
}

function editPolicy(world: World, { name }: PolicySetup, change: (policy: ApiObject) => ApiObject): void {
  if (policyNow(world, name) === undefined) return;
  world.hasInterference = true;
  world.server.edit({ resource: policies, namespace: policyNamespace, name, by: 'kubectl-edit' }, change);
}

function annotate(world: World, setup: PolicySetup, key: string, value: string | undefined, what: string): void {
  const policy = policyNow(world, setup.name);
  if (policy === undefined || (value === undefined && policy.metadata.annotations?.[key] === undefined)) return;
  world.story.tell('person', what);
  editPolicy(world, setup, (policy) => withAnnotation(policy, key, value));
}

function withAnnotation(object: ApiObject, key: string, value: string | undefined): ApiObject {
  const { [key]: _, ...others } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations: value === undefined ? others : { ...others, [key]: value } } };
}
