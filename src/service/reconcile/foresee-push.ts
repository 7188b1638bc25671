/** Asks the registry about a push while Redis stores it, for the job that this process takes with the same write. */
import { isUsable } from '../../core/model/image-policy.ts';
import type { PushJob } from '../queue/jobs.ts';
import { runningNow } from './attempt.ts';
import { jobCauseOf } from './fan-out-push.ts';
import type { Ports } from './ports.ts';
import { mayGoBack, rejectPush } from './selection.ts';

/** Nothing ends the question early: its answer costs no more than the question, and its job may be about to use it. */
const { signal } = new AbortController();

/**
 * Asks now what the job will ask, if one policy wants the push and selects by its tag alone, and the delivery is no repetition. Only an answer that confirms the
 * push is remembered; if there is none, the job asks and reports for itself.
 */
export async function foreseePush(
  push: PushJob,
  { policies, registry, cluster }: Pick<Ports, 'policies' | 'registry' | 'cluster'>,
): Promise<void> {
  if (push.waitsUntil !== undefined || policies.recentPushes.has(push)) return;
  const [policy, ...others] = policies.match(push.repository);
  if (policy === undefined || others.length > 0) return;
  if (!isUsable(policy.spec) || rejectPush(policy, push) !== undefined) return;
  const { spec, status } = policy;
  const isKnown = spec.pin === 'Tag' && status.latest?.tag === push.tag;
  const listsAll = mayGoBack(spec) || spec.strategy.isProven === true;
  if (isKnown || listsAll) return;
  const at = cluster.now();
  const running = await runningNow([policy], cluster, signal);
  const source = registry.sourceOf(policy, spec);
  const ask = async () => {
    const head = await registry.resolveTag({ ...source, causedAt: Date.parse(push.receivedAt) }, push.tag, signal);
    const isPushed = head !== undefined && (push.digest ?? head.digest) === head.digest;
    return isPushed ? { tag: push.tag, digest: head.digest } : undefined;
  };
  registry.sharedAnswers.remember(
    { cause: jobCauseOf(push), source, tag: push.tag },
    { answer: ask().catch(() => undefined), at, running },
  );
}
