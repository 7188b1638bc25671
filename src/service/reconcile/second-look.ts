/**
 * For pushes without a digest (Docker Hub, Quay, Gitea, Nexus). The first image that is new to the policy is taken for the pushed one, so that nobody waits. If
 * a tag is pushed twice within seconds, that may be the image of the first push, so the tag is read once more when the registry has had its time.
 */
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { runningNow } from './attempt.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { isKnown, isOtherKind } from './examine-tag.ts';
import type { Ports } from './ports.ts';
import { policyJob, type PolicyJob } from '../queue/jobs.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import { isElsewhere, type SelectRequest } from './selection.ts';
import { shownBy } from './resolve-tag.ts';

const prefix = 'shown:';

/** Whether a job reads a tag a second time, and accepts the answer. */
export function isSecondLook({ cause }: { readonly cause: string }): boolean {
  return cause.startsWith(prefix);
}

/** The cause and the time of a second look for a push; undefined if the registry has already had its time. All times are in ms since 1970. */
export function lookAgain(
  eventId: string,
  announcedAt: number,
  now: number,
): { readonly cause: string; readonly notBefore: string } | undefined {
  const at = shownBy(announcedAt);
  return at <= now ? undefined : { cause: `${prefix}${eventId}`, notBefore: new Date(at).toISOString() };
}

/** Whether the registry now shows an image that the policy does not know, which is rare. All policies of the push share one answer. */
export async function showsNew(
  { cause, policy: { namespace, name }, hint }: PolicyJob,
  { policies, registry, cluster }: Pick<Ports, 'policies' | 'registry' | 'cluster'>,
  signal: AbortSignal,
): Promise<boolean> {
  const policy = policies.find(namespace, name);
  if (policy === undefined || !isUsable(policy.spec) || hint === undefined || isElsewhere(hint, policy.spec)) return false;
  const { tag } = hint;
  const source = registry.sourceOf(policy, { ...policy.spec, repository: hint.repository ?? policy.spec.repository });
  const running = await runningNow([policy], cluster, signal);
  const ask = async () => {
    const head = await registry.headManifest(source, tag, signal);
    return head && { tag, digest: head.digest };
  };
  const found = await registry.sharedAnswers.share({ cause, source, tag }, { ask, running });
  return found !== undefined && !isKnown(found, policy, policy.spec, asSeenBy(policy, cluster));
}

/**
 * The job that reads the tag of a push a second time; undefined if the push names its digest, or nothing was found. What was found may also be no image: it may
 * have been there before the push. `now`: in ms since 1970.
 */
export function secondLook(
  policy: ImagePolicy,
  { announced, announcedAt, hint }: SelectRequest,
  {
    cause: { eventId, receivedAt },
    outcome: { digest, reason },
    now,
  }: { readonly cause: ReconcileCause; readonly outcome: Pick<Outcome, 'digest' | 'reason'>; readonly now: number },
): PolicyJob | undefined {
  const { generation, spec } = policy;
  if (!announced || announcedAt === undefined || eventId === undefined) return undefined;
  // A policy that pins tags does not follow the content of a tag, so it needs no second look.
  if (hint === undefined || hint.digest !== undefined || !isUsable(spec) || spec.pin !== 'Digest') return undefined;
  if (digest === undefined && !isOtherKind(reason)) return undefined;
  const again = lookAgain(eventId, announcedAt, now);
  if (again === undefined) return undefined;
  // The job names no push, because it is not known which push the image belongs to that it finds.
  return policyJob(policy, { generation, source: 'Poll', receivedAt, hint, ...again });
}
