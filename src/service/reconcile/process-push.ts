/** The processor of the queue `push`: finds the policies that watch the repository of a push and has them reconciled. */
import { baseNameOf } from '../../core/model/base-policy.ts';
import { WaitError } from '../../core/model/errors.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { notSelected } from '../../core/model/policy-defaults.ts';
import type { PushJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import { inSlices, throwFirst } from '../../core/async/in-parallel.ts';
import { causeOf, fanOutPush, reconcileForPush, type Match } from './fan-out-push.ts';
import type { Ports } from './ports.ts';
import { namesAnother, rejectPush } from './selection.ts';
import { traceMatches } from './trace-decisions.ts';

/** How many policies of namespaces that are not selected are named in the record of a push. */
const maxUnselected = 100;
const watchPauseMs = { least: 1_000, most: 5_000 } as const;

/** Passes one push to all policies that watch its repository. The result of each is recorded with the push. */
export async function processPush(push: PushJob, context: JobContext, ports: Ports): Promise<void> {
  ports.policies.recentPushes.remember(push);
  let matches = await findMatches(push, context, ports);
  if (!isWanted(matches)) {
    // A push that no policy wants is final, so a cache that may be outdated must not decide it.
    const isKnown = ports.policies.isWatching() && (await ports.policies.isComplete(push.id, context.signal));
    matches = await findMatches(push, context, ports);
    if (!isKnown && !isWanted(matches)) {
      const age = ports.cluster.now() - Date.parse(push.receivedAt);
      const pauseMs = Math.min(Math.max(age, watchPauseMs.least), watchPauseMs.most);
      throw new WaitError('Retrying', new Date(ports.cluster.now() + pauseMs), 'the watch of policies has not been heard of');
    }
  }
  const policies = matches.map(({ policy }) => policy);
  if (context.isRepeated) await endForgotten(push, policies, ports);
  traceMatches(policies.map(policyKey));
  const bases = await ports.bases.onPush(push);
  const unselected = ports.policies.matchUnselected(push.repository).slice(0, maxUnselected);
  if (unselected.length > 0) await reportUnselected(push, { policies, unselected, bases }, ports);
  else if (policies.length === 0 && bases.length === 0) {
    const { registry, path } = push.repository;
    ports.report.logger.debug({ event: push.id, registry, repository: path, tag: push.tag, reason: 'NoPolicy' }, 'push not watched');
    await ports.report.eventLog.unwatched(push, new Date(ports.cluster.now()));
  }
  if (policies.length === 0) {
    if (bases.length === 0) ports.report.metrics.unwatched.inc();
    else if (unselected.length === 0) await ports.report.eventLog.matched(push, bases);
    return;
  }
  const [first] = policies;
  if (policies.length === 1 && unselected.length === 0 && bases.length === 0 && first !== undefined)
    // The match is recorded together with the result, which saves a write to Redis before the image is applied.
    return reconcileForPush(push, { policy: first, cause: { ...causeOf(push), push } }, context, ports);
  // A failure of one waits for the other, so that nothing of this try goes on during the next one.
  const ended = await Promise.allSettled([
    ports.report.eventLog.matched(push, [...[...policies, ...unselected].map(policyKey), ...bases]),
    fanOutPush(push, matches, context, ports),
  ]);
  throwFirst(ended);
}

/** The policies that watch the repository, with their outcomes. They are evaluated in slices: there may be a thousand, each with patterns of its own. */
async function findMatches(push: PushJob, { signal }: JobContext, { policies }: Pick<Ports, 'policies'>): Promise<Match[]> {
  const matches: Match[] = [];
  const watching = [...policies.match(push.repository), ...policies.matchCompanions(push.repository)];
  await inSlices(watching, signal, (policy) => void matches.push({ policy, outcome: rejectPush(policy, push) }));
  return matches;
}

/** Ends the push for policies that an earlier try was for, and that do not watch the repository any more. A push for one policy has no job beside its own. */
async function endForgotten(push: PushJob, watching: readonly ImagePolicy[], { policies, report, cluster }: Ports): Promise<void> {
  const matched = new Set(watching.map(policyKey));
  for (const key of await report.eventLog.unfinished(push.id)) {
    const [namespace = '', name = ''] = key.split('/');
    if (matched.has(key) || baseNameOf(name) !== undefined) continue;
    const at = new Date(cluster.now());
    const ended = { kind: 'ignored', at: at.toISOString(), afterMs: at.getTime() - Date.parse(push.receivedAt) } as const;
    const why =
      policies.find(namespace, name) === undefined
        ? ({ reason: 'PolicyGone', message: `${key} was deleted` } as const)
        : ({ reason: 'NotSelected', message: namesAnother } as const);
    await report.eventLog.recordResult(push.id, key, { ...ended, ...why });
  }
}

function isWanted(matches: readonly Match[]): boolean {
  return matches.some(({ outcome }) => outcome === undefined);
}

/** Records that policies in namespaces that are not selected do not get the push. Nothing is written to the policies. */
async function reportUnselected(
  push: PushJob,
  {
    policies,
    unselected,
    bases,
  }: { readonly [Kind in 'policies' | 'unselected']: readonly ImagePolicy[] } & { readonly bases: readonly string[] },
  ports: Ports,
): Promise<void> {
  const {
    report: { eventLog },
    cluster: { now },
  } = ports;
  if (policies.length === 0) await eventLog.matched(push, [...unselected.map(policyKey), ...bases]);
  const at = new Date(now());
  const result = {
    kind: 'ignored',
    reason: 'NamespaceNotSelected',
    at: at.toISOString(),
    afterMs: at.getTime() - Date.parse(push.receivedAt),
  } as const;
  await Promise.all(
    unselected.map((policy) => eventLog.recordResult(push.id, policyKey(policy), { ...result, message: notSelected(policy.namespace) })),
  );
}
