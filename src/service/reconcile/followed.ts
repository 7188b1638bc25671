/** Reads from the API server what the followed policies show, right before an image is applied: the caches may be behind, and our clock may be wrong. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { confirmedForMs } from '../../core/model/confirmation.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { Followed } from '../../core/model/followed-status.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicyName, type ProofRules } from '../../core/model/image-policy.ts';
import { resolveTargets } from '../../core/model/resolve-target.ts';
import { asSeenBy, needsConsent } from '../../core/plan/consent.ts';
import { hasChanges, type UpdatePlan } from '../../core/plan/plan-update.ts';
import { followedOf, proofFor, whyCircular, whyNotFollowed, type FollowedNow } from '../../core/plan/proven.ts';
import { isHealthOutdated } from '../../core/rollout/health.ts';
import type { Attempt } from './attempt.ts';
import type { Ports } from './ports.ts';
import type { Selection } from './selection.ts';

/** How many workloads of a followed policy are read at the same time. */
const maxParallel = 16;

type FollowPorts = Pick<Ports, 'policies' | 'workloads' | 'cluster'>;

/** What the followed policies show, and a confirmation before each try of a patch. */
export interface GatheredProof {
  readonly followed: FollowedNow;
  /** Returns when the image was proven, by the monotonic clock; undefined if it is not any more. */
  readonly confirm: () => Promise<number | undefined>;
}

/** Reads the followed policies of a plan with changes; undefined for a plan without, for a policy that follows none, and for a rollback that a user asked for. */
export async function gatherProof(
  attempt: Attempt,
  { rules }: Selection,
  plan: UpdatePlan,
  ports: FollowPorts,
): Promise<GatheredProof | undefined> {
  const { after } = attempt.spec;
  if (after === undefined || rules !== undefined || !hasChanges(plan)) return undefined;
  let readAt = performance.now();
  const followed = await readFollowed(attempt, after, ports);
  let read: Promise<FollowedNow> = Promise.resolve(followed);
  return {
    followed,
    async confirm() {
      if (performance.now() - readAt >= confirmedForMs) {
        readAt = performance.now();
        read = readFollowed(attempt, after, ports);
      }
      const since = readAt;
      const { actions } = attempt.policy;
      return proofFor(plan.candidate, { after, actions }, await read).kind === 'proven' ? since : undefined;
    },
  };
}

/** Reads all followed policies, with the earliest time that the API server said it was. */
async function readFollowed(attempt: Attempt, after: ProofRules, ports: FollowPorts): Promise<FollowedNow> {
  const { policy, cluster } = attempt;
  const circular = whyCircular(policy, after, cluster);
  if (circular !== undefined) return { policies: circular, at: new Date(cluster.now()) };
  const times: number[] = [];
  const onAnswered = (at: Date) => void times.push(at.getTime());
  const answers = await inParallel(after.policies, after.policies.length, (name) => readOne(name, attempt, ports, onAnswered));
  const policies = answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
  return { policies, at: new Date(times.length === 0 ? cluster.now() : Math.min(...times)) };
}

async function readOne(
  name: PolicyName,
  { policy, cluster: { crossNamespace }, signal }: Attempt,
  ports: FollowPorts,
  onAnswered: (at: Date) => void,
): Promise<Followed> {
  const { policies, workloads } = ports;
  const found = await policies.read(name.namespace, name.name, signal, onAnswered);
  const onTarget = found?.allowPoliciesFrom;
  const isAsked = onTarget === undefined && needsConsent({ kind: 'ImagePolicy', ...name }, policy, crossNamespace);
  const onNamespace = isAsked ? await consentOf(name.namespace, workloads, signal) : undefined;
  const shown = followedOf(name, found, whyNotFollowed(policy, name, { onTarget, onNamespace }, crossNamespace));
  if (shown.digest === undefined || found === undefined) return shown;
  // The next try finds what it says then.
  const unread = whyUnread(found, ports.cluster);
  if (unread !== undefined) throw new Error(`what ImagePolicy ${policyKey(name)} runs cannot be read: ${unread}`);
  if (await isLate(found, ports, signal)) throw new Error(`the targets of ImagePolicy ${policyKey(name)} do not run what its status says`);
  return shown;
}

/** Why the objects of one of its targets cannot be read; undefined if they can. */
function whyUnread(followed: ImagePolicy, { targetState }: FollowPorts['cluster']): string | undefined {
  if (!isUsable(followed.spec)) return undefined;
  const states = followed.spec.targets.map((target) => targetState(target, followed));
  return states.flatMap((state) => (typeof state === 'object' && 'problem' in state ? [state.problem.message] : []))[0];
}

/** Whether the targets of a policy run something else than its status says, or have not run it all the time: whoever changed or watched them may have been killed before writing it. */
async function isLate(followed: ImagePolicy, { cluster, workloads }: FollowPorts, signal: AbortSignal): Promise<boolean> {
  if (!isUsable(followed.spec)) return true;
  const refs = resolveTargets(followed.spec.targets, asSeenBy(followed, cluster));
  const answers = await inParallel(refs, maxParallel, (ref) => workloads.read(ref, signal));
  const targets = answers.flatMap((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value ?? [];
  });
  return isHealthOutdated(followed, { targets, aliases: cluster.aliases }, true);
}

/** The consent of a Namespace; undefined where it may not be read, which is no consent. */
async function consentOf(namespace: string, { readConsent }: Ports['workloads'], signal: AbortSignal): Promise<string | null | undefined> {
  try {
    return await readConsent(namespace, signal);
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
}
