/** The processor of the queue `notice`: sends one notice, or a summary of many, to one target. */
import { WaitError } from '../model/errors.ts';
import type { Origins } from '../model/image-origin.ts';
import { formatSubject, type Notice } from '../model/notice.ts';
import type { HeldNotices } from '../queue/held-notices.ts';
import type { NoticeJob, SummaryJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { Logger } from '../telemetry/logger.ts';
import { deliver, type ConfiguredTarget, type Exchange, type Mail } from './deliver.ts';
import type { Content, SignLink } from './message.ts';
import { describeResult, type SendResult } from './send-notice.ts';

export interface NoticePorts {
  /** The target of a name, as it is configured now. */
  readonly findTarget: (name: string) => ConfiguredTarget | undefined;
  /** Whether a target that is not found may be found later, because not all are known yet. */
  readonly mayAppear: (name: string) => boolean;
  readonly exchange: Exchange;
  readonly mail: Mail;
  /** Where the images of a notice were built from, as far as that can be read soon; never rejects. */
  readonly readOrigins: (notice: Notice, signal: AbortSignal) => Promise<Origins>;
  /** Told of every try, for targets that have a status. */
  readonly onResult: (target: string, result: SendResult) => void;
  readonly held: HeldNotices;
  /** Stores the job of a summary, once for each group. */
  readonly addSummary: (job: SummaryJob, delayMs: number) => Promise<void>;
  /** The address of the dashboard, for links. */
  readonly dashboardUrl?: string | undefined;
  readonly signLink?: SignLink | undefined;
  readonly count: (labels: { readonly kind: string; readonly target: string; readonly result: NoticeResult }) => void;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What became of a notice: the label of `image_watcher_notices_total`. */
export type NoticeResult = 'stored' | 'unconfirmed' | 'sent' | 'held' | 'failed' | 'abandoned';

/** Whether a target gets a notice of a policy with these labels. */
export function isWanted(
  { policies = {}, ...target }: ConfiguredTarget,
  notice: Notice,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return isFor(target, notice) && Object.entries(policies).every(([name, value]) => labels[name] === value);
}

/** The same without labels, which a job does not have. */
export function isFor({ events, namespaces }: Pick<ConfiguredTarget, 'events' | 'namespaces'>, { kind, subject }: Notice): boolean {
  const { namespace } = subject;
  return events.includes(kind) && (namespaces.length === 0 || (namespace !== undefined && namespaces.includes(namespace)));
}

/** Sends the notices of a queue. A target that asked for a pause, or failed, gets no request before the pause is over. */
export function createNoticeProcessor(ports: NoticePorts): (job: NoticeJob | SummaryJob, context: JobContext) => Promise<void> {
  const { held, now } = ports;
  const pausedUntil = new Map<string, number>();

  const awaitPause = (name: string, isLastTry: boolean) => {
    const pause = pausedUntil.get(name) ?? 0;
    if (pause > now() && !isLastTry) throw new WaitError('Retrying', new Date(pause), `target ${name} asked for a pause`);
  };
  /** Throws to be retried; returns when the content was accepted, or given up. */
  const send = async (target: ConfiguredTarget, content: Content, policy: string, { jobId: id, isLastTry, signal }: JobContext) => {
    const { name } = target;
    const result = await deliver(target, content, { ...ports, id, signal });
    ports.onResult(name, result);
    const kind = content.type === 'notice' ? content.notice.kind : 'Summary';
    const count = (result: NoticeResult) => ports.count({ kind, target: name, result });
    if (result.kind === 'sent') return count('sent');
    const fields = { target: name, policy, why: describeResult(result) };
    if (result.kind === 'refused' || isLastTry) {
      count('abandoned');
      ports.logger.warn(fields, 'notice given up');
      return;
    }
    count('failed');
    ports.logger.warn(fields, 'notice not accepted');
    if (result.until === undefined) throw new Error(describeResult(result));
    pausedUntil.set(name, result.until.getTime());
    throw new WaitError('Retrying', result.until, describeResult(result));
  };

  const sendNotice = async ({ notice, target: name }: NoticeJob, target: ConfiguredTarget, context: JobContext) => {
    if (!isFor(target, notice)) return;
    awaitPause(name, context.isLastTry);
    const { perMinute } = target;
    const wait = perMinute === undefined ? undefined : await held.hold(name, perMinute, context.jobId, notice);
    if (wait === undefined) {
      const origins = await ports.readOrigins(notice, context.signal);
      return send(target, { type: 'notice', notice, origins }, formatSubject(notice.subject), context);
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
      await send(target, content, `${wanted.length + more} notices`, context);
    }
    await held.forget(name, group);
  };

  return async (job, context) => {
    const target = ports.findTarget(job.target);
    if (target === undefined) {
      if (ports.mayAppear(job.target) && !context.isLastTry) throw new Error(`it is not known yet whether there is a target ${job.target}`);
      // The configuration was changed, or the target deleted: who may write to Redis reaches only what is there.
      return;
    }
    await ('group' in job ? sendSummary(job, target, context) : sendNotice(job, target, context));
  };
}
