/** The processor of the queue `notice`: sends one notice to one target. */
import { WaitError } from '../model/errors.ts';
import type { Notice } from '../model/notice.ts';
import type { NoticeJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { Logger } from '../telemetry/logger.ts';
import { deliver, type ConfiguredTarget, type Mail, type Post } from './deliver.ts';
import { describeResult } from './send-notice.ts';

export interface NoticePorts {
  readonly targets: readonly ConfiguredTarget[];
  readonly post: Post;
  readonly mail: Mail;
  /** The address of the dashboard, for links. */
  readonly dashboardUrl?: string | undefined;
  readonly count: (labels: { readonly kind: string; readonly target: string; readonly result: NoticeResult }) => void;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What became of a notice: the label of `image_watcher_notices_total`. */
export type NoticeResult = 'stored' | 'unconfirmed' | 'sent' | 'failed' | 'abandoned';

/** Whether a target gets a notice of a policy with these labels. */
export function isWanted(
  { policies = {}, ...target }: ConfiguredTarget,
  notice: Notice,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return isFor(target, notice) && Object.entries(policies).every(([name, value]) => labels[name] === value);
}

/** The same without labels, which a job does not have. */
export function isFor(target: Pick<ConfiguredTarget, 'on' | 'namespaces'>, { kind, policy }: Notice): boolean {
  return target.on.includes(kind) && (target.namespaces.length === 0 || target.namespaces.includes(policy.namespace));
}

/** Sends the notices of a queue. A target that asked for a pause, or failed, gets no request before the pause is over. */
export function createNoticeProcessor(ports: NoticePorts): (job: NoticeJob, context: JobContext) => Promise<void> {
  const pausedUntil = new Map<string, number>();
  return async ({ notice, target: name }, { jobId: id, isLastTry, signal }) => {
    const target = ports.targets.find((one) => one.name === name);
    // The configuration was changed: who may write to Redis reaches only what it names.
    if (target === undefined || !isFor(target, notice)) return;
    const pause = pausedUntil.get(name) ?? 0;
    if (pause > ports.now() && !isLastTry) throw new WaitError('Retrying', new Date(pause), `target ${name} asked for a pause`);
    const result = await deliver(target, { type: 'notice', notice }, { ...ports, id, signal });
    const count = (result: NoticeResult) => ports.count({ kind: notice.kind, target: name, result });
    if (result.kind === 'sent') return count('sent');
    const fields = { target: name, policy: `${notice.policy.namespace}/${notice.policy.name}`, why: describeResult(result) };
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
}
