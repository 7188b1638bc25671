/** Waits until a registry shows the push that caused a job: registries announce a tag before it can be read, and only a poll finds a missed tag. */
import { defined } from '../../core/model/defined.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { sameRepository } from '../../core/model/image-reference.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import type { Registry } from '../../service/reconcile/ports.ts';
import { resolveCandidate } from '../../service/reconcile/resolve-tag.ts';
import { isSecondLook, lookAgain } from '../../service/reconcile/second-look.ts';

export interface AwaitAnnouncedPorts {
  readonly registry: Pick<Registry, 'headManifest' | 'announcements'>;
  readonly cluster: { readonly now: () => number };
}

/** Resolves when the registry shows the push, or its time has passed; throws WaitError(NotShownYet) to retry the job. `base`: the source of the base. */
export async function awaitAnnounced(
  job: Pick<BaseJob, 'hint' | 'pushed' | 'eventId' | 'cause' | 'receivedAt'>,
  { base, status, signal }: { readonly base: ImageSource; readonly status: BaseStatus; readonly signal: AbortSignal },
  { registry, cluster }: AwaitAnnouncedPorts,
): Promise<void> {
  const { hint, eventId, cause, receivedAt } = job;
  if (hint === undefined || isSecondLook(job)) return;
  const source = announcedSource(job, base);
  // The policy was changed to another base after the job was enqueued.
  if (source === undefined) return;
  const isBase = sameRepository(source, base);
  const known = isBase
    ? [status.latest?.digest, ...(status.history ?? []).map((one) => one.digest)]
    : (status.dependents ?? []).map((one) => one.digest);
  try {
    await resolveCandidate(source, hint, registry.headManifest, {
      announced: true,
      announcedAt: registry.announcements.since(eventId ?? cause, receivedAt),
      signal,
      now: cluster.now,
      mayBePushed: (digest) => Promise.resolve(!known.includes(digest)),
    });
  } catch (error) {
    // An application that cannot be read is reported with the others, and does not stop the policy.
    if (isBase || !(error instanceof PermanentError)) throw error;
  }
}

/** The source of the push, with the credentials of the base. Undefined if the policy was changed to another base. */
export function announcedSource({ hint, pushed }: Pick<BaseJob, 'hint' | 'pushed'>, base: ImageSource): ImageSource | undefined {
  if (pushed !== undefined) return sameRepository(pushed, base) ? base : { ...pushed, ...defined({ access: base.access }) };
  return hint?.repository === undefined || sameRepository(hint.repository, base) ? base : undefined;
}

/** Why a pushed application could not be read. The push is retried for it, as one of the base is. Undefined if it could be read, or only somebody can mend that. */
export function whyUnread({ pushed }: Pick<BaseJob, 'pushed'>, images: readonly ExaminedImage[] = []): unknown {
  if (pushed === undefined) return undefined;
  return images.find(({ source, error }) => sameRepository(source, pushed) && error !== undefined && !(error instanceof PermanentError))
    ?.error;
}

/** The job that asks the registry again about a push whose sender sent no digest (`reconcile/second-look.ts`). */
export function secondLookAfter({ eventId, ...job }: BaseJob, { registry, cluster }: AwaitAnnouncedPorts): BaseJob | undefined {
  const { hint, cause, receivedAt } = job;
  // The job for a push of an application names it in its cause alone, because the push is not one of the policy.
  const push = eventId ?? cause;
  if (hint === undefined || hint.digest !== undefined || isSecondLook(job)) return undefined;
  const again = lookAgain(push, registry.announcements.since(push, receivedAt), cluster.now());
  // For the base, the job is a poll, because it is not known which push the found image belongs to. Of an application, its tags alone are read again.
  return again && { ...job, ...(job.pushed === undefined && { source: 'Poll' }), ...again };
}
