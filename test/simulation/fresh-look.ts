/** What every policy says when all is quiet, and what it says after it was asked to look at everything anew: the same, or its status was not what is. */
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { heldBy } from './chart-kinds.ts';
import { namesRepository } from './invariants-of-charts.ts';
import { partsOf } from './images.ts';
import { appliedTag } from './patch-log.ts';
import { policyNamespace, type PolicySetup } from './setup.ts';
import { isVisible, policies, policyNow, type World } from './world.ts';

/** The name and the promise of this invariant, for the list. */
export const freshLook = {
  name: 'the status is what a fresh look says',
  promise: 'When everything is quiet, conditions, latest, what waits and what runs are what a new reconcile finds.',
};

const longestLookMs = 60_000;

/** Has each policy look anew, and tells the story what that changes. */
export async function lookAnew(world: World): Promise<void> {
  const { clock, story, setup } = world;
  const before = setup.policies.map((policy) => statusOf(policy, world));
  const request = `at the end of ${clock.now()}`;
  for (const { name } of setup.policies)
    world.server.edit({ resource: policies, namespace: policyNamespace, name, by: 'kubectl-annotate' }, (policy) => ({
      ...policy,
      metadata: { ...policy.metadata, annotations: { ...policy.metadata.annotations, [actionAnnotations.requestedAt]: request } },
    }));
  const until = clock.now() + longestLookMs;
  const isAnswered = (policy: PolicySetup) => statusOf(policy, world)?.lastHandledRequest === request;
  while (clock.now() < until && !setup.policies.every(isAnswered)) await clock.runUntil(clock.now() + 1_000);
  // What another policy has replaced is changed again by this look: the status has said so, and both policies then see another image run.
  const saysReplaced = (status?: PolicyStatus) =>
    status?.conditions?.some(({ message }) => message.startsWith('another ImagePolicy has changed'));
  const contested = new Set(setup.policies.flatMap(({ container }, index) => (saysReplaced(before[index]) === true ? [container] : [])));
  for (const [index, policy] of setup.policies.entries()) {
    const [then, now] = [before[index], statusOf(policy, world)];
    if (then === undefined || now === undefined) continue;
    if (!isAnswered(policy)) story.violation(freshLook.name, `policy ${policy.name} does not answer a request within a minute`);
    const shown = now.running ?? '';
    const runs = tagsOf(policy, world);
    // In the column of `kubectl get`: the tag that most containers run, and how many others there are.
    const isTrue = runs.has(shown.split(',')[0] ?? '') && (shown.includes(',') ? runs.size > 1 : runs.size === 1);
    if (runs.size > 0 && !isTrue)
      story.violation(freshLook.name, `policy ${policy.name} shows that "${shown}" runs, and ${[...runs].join(', ')} do`);
    else if (contested.has(policy.container)) continue;
    // What was never announced, or was forgotten, is found only now, and other policies see its rollout.
    else if (world.mayBeUnknown.size === 0 && world.wipedAt === 0)
      for (const problem of differences(then, now)) story.violation(freshLook.name, `policy ${policy.name}: ${problem}`);
  }
}

function statusOf({ name }: PolicySetup, world: World): PolicyStatus | undefined {
  const policy = policyNow(world, name);
  return policy && readStatus(policy.status, policy.metadata.generation);
}

/** The tags that the containers of a policy run, as far as it may see them. */
function tagsOf({ container, spec }: PolicySetup, world: World): Set<string> {
  const { server, setup, patches } = world;
  const isSelecting = JSON.stringify(spec).includes('matchLabels');
  return new Set(
    setup.workloads.flatMap(({ resource, namespace, name }) => {
      const workload = server.get(resource, namespace, name);
      if (workload === undefined || !isVisible(namespace, world) || (isSelecting && workload.metadata.labels?.['uses'] !== 'web'))
        return [];
      const image = heldBy(workload).get(container);
      if (image === undefined || !namesRepository(workload, world)) return [];
      const written = patches.all.findLast((one) => one.isOurs && one.to === image);
      return [written === undefined ? partsOf(image).tag : appliedTag(written)];
    }),
  );
}

function differences(before: PolicyStatus, after: PolicyStatus): string[] {
  const [then, now] = [linesOf(before), linesOf(after)];
  return [...then].flatMap(([what, line]) => (isSame(line, now.get(what) ?? '') ? [] : [`${what} was ${line}, and is ${now.get(what)}`]));
}

/** A digest that is not known yet is no other one. */
function isSame(line: string, other: string): boolean {
  return line === other || line === other.replace(/@sha256:\w+/, '@undefined');
}

function linesOf({
  conditions = [],
  latest,
  waiting,
  pendingApproval,
  running,
  lastAppliedTag,
  rejected = [],
}: PolicyStatus): Map<string, string> {
  const image = (one: { readonly tag?: string; readonly digest?: string } | undefined) =>
    one === undefined ? 'none' : `${one.tag}@${one.digest?.slice(0, 12)}`;
  return new Map([
    [
      'conditions',
      conditions
        .map(({ type, status, reason }) => `${type}=${status} ${reason}`)
        .toSorted()
        .join(', '),
    ],
    ['latest', image(latest)],
    ['waiting', `${image(waiting)} ${waiting?.reason}`],
    ['pendingApproval', image(pendingApproval)],
    ['running', running ?? ''],
    ['lastAppliedTag', lastAppliedTag ?? ''],
    ['rejected', rejected.map(image).join(', ')],
  ]);
}
