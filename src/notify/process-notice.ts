/** The processor of the queue `notice`: sends one notice, or a summary of many, to one target. */
import { describeError, WaitError } from '../core/model/errors.ts';
import type { Origins } from '../core/model/image-origin.ts';
import { formatSubject, type GivenUpNotice, type Notice } from '../core/model/notice.ts';
import { cut } from '../core/model/text.ts';
import { startDeadline } from '../core/async/deadline.ts';
import type { HeldNotices } from '../service/queue/held-notices.ts';
import type { NoticeJob, SummaryJob } from '../service/queue/jobs.ts';
import { takenMs, type NoticeThreads } from '../service/queue/notice-threads.ts';
import type { JobContext } from '../service/queue/worker.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { deliver, type Exchange, type Mail } from './deliver.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import type { Content, SignLink } from './message.ts';
import type { ThreadMeans } from './send-in-thread.ts';
import { describeResult, type SendResult } from '../service/proxy/exchange.ts';
import { hasThreads, isLater, needsThread, threadOf, untilEnd } from './thread.ts';

export interface NoticePorts {
  /** Finds a target of the current configuration by its name. */
  readonly findTarget: (name: string) => ConfiguredTarget | undefined;
  /** Whether a missing target may be found later, because not all targets are known yet. */
  readonly mayAppear: (name: string) => boolean;
  readonly exchange: Exchange;
  readonly mail: Mail;
  /** Reads where the images of a notice were built from, as far as that is quickly possible. Never rejects. */
  readonly readOrigins: (notice: Notice, signal: AbortSignal) => Promise<Origins>;
  /** Called after every try, for targets with a status. */
  readonly onResult: (target: string, result: SendResult) => void;
  readonly held: HeldNotices;
  readonly threads: NoticeThreads;
  /** Stores the job of a summary, once for each group. */
  readonly addSummary: (job: SummaryJob, delayMs: number) => Promise<void>;
  /** The address of the dashboard for links. */
  readonly dashboardUrl?: string | undefined;
  /** The name of the cluster, with which messages begin. */
  readonly cluster?: string | undefined;
  readonly signLink?: SignLink | undefined;
  /** Records at the pushes that notices were given up. Rejects if Redis does not answer. */
  readonly recordGivenUp: (notices: readonly PushNotice[]) => Promise<void>;
  readonly count: (labels: { readonly kind: string; readonly target: string; readonly result: NoticeResult }) => void;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A notice that was given up, and the push that caused it. */
export interface PushNotice extends GivenUpNotice, Pick<Notice, 'subject'> {
  readonly eventId: string;
}

/** The notices that are sent in one message: one notice, or those of a summary. */
interface Parcel {
  readonly kind: string;
  /** The subject of the notices for the log. */
  readonly about: string;
  readonly notices: readonly Notice[];
}

function parcelOf(notice: Notice): Parcel {
  return { kind: notice.kind, about: formatSubject(notice.subject), notices: [notice] };
}

const maxAnswer = 300;
/** How long the report of a failure waits for that of its rollback, if only one of them is sent. */
const rollbackWithinMs = 30_000;
/** How long a notice waits while another one of its thread is sent. */
const turnMs = 1_000;
/** The time for all requests about one notice, so that they are over before another worker takes the thread. */
const threadMs = takenMs - 10_000;

/** The result of a notice, which is the label of `image_watcher_notices_total`. */
export type NoticeResult = 'stored' | 'unconfirmed' | 'sent' | 'held' | 'failed' | 'abandoned';

/** Whether a target gets a notice of a policy with these labels. A notice about an image is about no policy. */
export function isWanted(
  { policies = {}, ...target }: ConfiguredTarget,
  notice: Notice,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const known = notice.subject.kind === 'Image' ? {} : labels;
  return isFor(target, notice) && Object.entries(policies).every(([name, value]) => known[name] === value);
}

/**
 * Whether a target gets a notice, regardless of the labels of the policy: a job does not have them. Notices about single images are for the targets of their
 * namespace; a target of all namespaces gets what the policy of their base reports.
 */
function isFor({ events, namespaces }: Pick<ConfiguredTarget, 'events' | 'namespaces'>, { kind, subject }: Notice): boolean {
  const { namespace } = subject;
  const isForAll = namespaces.length === 0 && subject.kind !== 'Image';
  return events.includes(kind) && (isForAll || (namespace !== undefined && namespaces.includes(namespace)));
}

/** Sends the notices of a queue. A target that asked for a pause, or failed, gets no request until the pause is over. */
export function createNoticeProcessor(ports: NoticePorts): (job: NoticeJob | SummaryJob, context: JobContext) => Promise<void> {
  const { held, now } = ports;
  const pausedUntil = new Map<string, number>();

  const awaitPause = (name: string, isLastTry: boolean) => {
    const pause = pausedUntil.get(name) ?? 0;
    if (pause > now() && !isLastTry) throw new WaitError('Retrying', new Date(pause), `target ${name} asked for a pause`);
  };
  /** Records in the metric, the log and the records of the pushes that nothing more is sent. */
  const giveUp = async (target: string, { kind, about, notices }: Parcel, reason: GivenUpNotice['reason'], why: string) => {
    ports.count({ kind, target, result: 'abandoned' });
    const event = notices.length === 1 ? notices[0]?.eventId : undefined;
    ports.logger.warn({ target, policy: about, event, why }, 'notice given up');
    // Only answers of a team's own target are recorded. Teams may read the records of their pushes, and must not see the answers of an operator's target.
    const answer = target.includes('/') ? { message: cut(why, maxAnswer) } : {};
    const at = new Date(now()).toISOString();
    const records = notices.flatMap(({ kind, subject, eventId }) =>
      eventId === undefined ? [] : [{ eventId, subject, target, kind, reason, ...answer, at }],
    );
    try {
      await ports.recordGivenUp(records);
    } catch (error) {
      // The notices are not sent again if only the record fails.
      ports.logger.warn({ target, policy: about, event, why: describeError(error) }, 'failure could not be reported');
    }
  };
  /** Throws to be retried. Returns when the content was accepted, or given up. */
  const send = async (
    target: ConfiguredTarget,
    content: Content,
    parcel: Parcel,
    { jobId: id, isLastTry, signal, thread }: JobContext & { readonly thread?: ThreadMeans | undefined },
  ) => {
    const { name } = target;
    const result = await deliver(target, content, { ...ports, id, signal, thread });
    ports.onResult(name, result);
    const { kind, about } = parcel;
    const count = (result: NoticeResult) => ports.count({ kind, target: name, result });
    if (result.kind === 'sent') return count('sent');
    const why = describeResult(result);
    if (result.kind === 'refused') return giveUp(name, parcel, 'Refused', why);
    if (isLastTry) return giveUp(name, parcel, 'NotAccepted', why);
    count('failed');
    ports.logger.warn({ target: name, policy: about, why }, 'notice not accepted');
    if (result.until === undefined) throw new Error(why);
    pausedUntil.set(name, result.until.getTime());
    throw new WaitError('Retrying', result.until, why);
  };

  const sendNotice = async (job: NoticeJob, target: ConfiguredTarget, context: JobContext) => {
    const { notice, target: name } = job;
    if (!isFor(target, notice)) return;
    const end = untilEnd(target, notice);
    if (end === 'drop') return;
    awaitPause(name, context.isLastTry);
    const id = threadOf(notice);
    if (id === undefined || !needsThread(target, notice)) return sendOrHold(job, target, context);
    const thread = await ports.threads.take(name, id);
    if (thread === undefined) throw new WaitError('Retrying', new Date(now() + turnMs), 'another message of the thread is being sent');
    try {
      const { last, remember } = thread;
      const event = { kind: notice.kind, at: notice.at, receivedAt: job.receivedAt };
      if (hasThreads(target)) return await sendOrHold(job, target, context, { event, last, remember });
      if (end === 'wait') {
        if (last !== undefined && isLater(last, event)) return;
        const due = Date.parse(job.receivedAt) + rollbackWithinMs;
        if (now() < due && !context.isLastTry) throw new WaitError('Retrying', new Date(due), 'a rollback may be reported with it');
      }
      await sendOrHold(job, target, context);
      await remember(event);
    } finally {
      await thread.release();
    }
  };
  const sendOrHold = async ({ notice, target: name }: NoticeJob, target: ConfiguredTarget, context: JobContext, thread?: ThreadMeans) => {
    const { perMinute } = target;
    const wait = perMinute === undefined ? undefined : await held.hold(name, perMinute, context.jobId, notice);
    if (wait === undefined) {
      const { signal, end } = startDeadline(threadMs, context.signal);
      try {
        const origins = await ports.readOrigins(notice, signal);
        return await send(target, { type: 'notice', notice, origins }, parcelOf(notice), { ...context, signal, thread });
      } finally {
        end();
      }
    }
    // A process that dies here holds the notice again, under the same id.
    const { group, afterMs } = wait;
    await ports.addSummary({ schema: 1, target: name, group, receivedAt: new Date(now()).toISOString() }, afterMs);
    ports.count({ kind: notice.kind, target: name, result: 'held' });
  };
  const sendSummary = async ({ target: name, group }: SummaryJob, target: ConfiguredTarget, context: JobContext) => {
    awaitPause(name, context.isLastTry);
    const { notices, more } = await held.close(name, group);
    const wanted = notices.filter((notice) => isFor(target, notice));
    if (wanted.length + more > 0) {
      const content = { type: 'summary', target: name, at: new Date(now()).toISOString(), notices: wanted, more } as const;
      await send(target, content, { kind: 'Summary', about: `${wanted.length + more} notices`, notices: wanted }, context);
    }
    await held.forget(name, group);
  };

  return async (job, context) => {
    const target = ports.findTarget(job.target);
    if (target === undefined) {
      // The configuration was changed, or the target deleted. Writers of Redis can only reach existing targets.
      if (!ports.mayAppear(job.target)) return;
      const why = `it is not known yet whether there is a target ${job.target}`;
      if (!context.isLastTry) throw new Error(why);
      return giveUp(job.target, 'group' in job ? { kind: 'Summary', about: '', notices: [] } : parcelOf(job.notice), 'NotAccepted', why);
    }
    await ('group' in job ? sendSummary(job, target, context) : sendNotice(job, target, context));
  };
}
