/** The processor of the queue `notice`: sends one notice to one target. */
import { WaitError } from '../model/errors.ts';
import type { Notice } from '../model/notice.ts';
import type { NoticeJob } from '../queue/jobs.ts';
import type { JobContext } from '../queue/worker.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { NotificationTarget, TargetRequest } from './message.ts';
import type { SendResult } from './send-notice.ts';
import { targets } from './targets/index.ts';

/** A target of the configuration, with its secrets. */
export interface ConfiguredTarget {
  readonly name: string;
  readonly kind: NotificationTarget['id'];
  readonly on: readonly string[];
  /** The namespaces whose policies it gets notices about; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether plain http is allowed. */
  readonly insecure: boolean;
  /** The current address, which is a secret. */
  readonly url: () => string;
  /** The current key for signatures; empty for chats. */
  readonly secret: () => string;
}

export interface NoticePorts {
  readonly targets: readonly ConfiguredTarget[];
  readonly send: (url: URL, request: TargetRequest, signal: AbortSignal) => Promise<SendResult>;
  readonly count: (labels: { readonly kind: string; readonly target: string; readonly result: NoticeResult }) => void;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What became of a notice: the label of `image_watcher_notices_total`. */
export type NoticeResult = 'stored' | 'unconfirmed' | 'sent' | 'failed' | 'abandoned';

/** Whether a target gets a notice. */
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
    const result = await send(target, notice, id, signal, ports);
    const count = (result: NoticeResult) => ports.count({ kind: notice.kind, target: name, result });
    if (result.kind === 'sent') return count('sent');
    const fields = { target: name, policy: `${notice.policy.namespace}/${notice.policy.name}`, why: result.message };
    if (result.kind === 'refused' || isLastTry) {
      count('abandoned');
      ports.logger.warn(fields, 'notice given up');
      return;
    }
    count('failed');
    ports.logger.warn(fields, 'notice not accepted');
    if (result.until === undefined) throw new Error(result.message);
    pausedUntil.set(name, result.until.getTime());
    throw new WaitError('Retrying', result.until, result.message);
  };
}

async function send(target: ConfiguredTarget, notice: Notice, id: string, signal: AbortSignal, ports: NoticePorts): Promise<SendResult> {
  const url = URL.parse(target.url());
  if (url === null) return { kind: 'failed', message: 'its secret holds no URL' };
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && target.insecure);
  if (!isAllowed)
    return { kind: 'failed', message: 'its URL does not begin with https:, and the target is not configured with insecure: true' };
  const request = targets[target.kind].build(notice, { id, secret: target.secret(), now: new Date(ports.now()) });
  return ports.send(url, request, signal);
}
