/** The part of the role `work` that sends notifications. */
import { within } from '../core/async/deadline.ts';
import { baseKey } from '../bases/policies/enqueue-bases.ts';
import { isChildOf } from '../bases/policies/child-policies.ts';
import { readBaseStatus, type BaseImagePolicy } from '../core/model/base-policy.ts';
import { describeError } from '../core/model/errors.ts';
import { policyKey, type ImagePolicy } from '../core/model/image-policy.ts';
import { linkLifeMs, signApproval } from '../core/model/approval-link.ts';
import { formatSubject, type IdentifiedNotice, type NoticeKind } from '../core/model/notice.ts';
import type { PolicyStatus } from '../core/model/policy-status.ts';
import { baseNotices } from './base-notices.ts';
import { policyNotices } from './policy-notices.ts';
import { createNoticeProcessor, isWanted, type NoticePorts } from './process-notice.ts';
import { sendMail } from './send-mail.ts';
import { exchange } from './send-notice.ts';
import type { EventLog } from '../service/queue/event-log.ts';
import { createHeldNotices } from '../service/queue/held-notices.ts';
import type { NoticeJob, SummaryJob } from '../service/queue/jobs.ts';
import type { QueueAccess, WorkQueues } from '../service/queue/producer.ts';
import { readNoticeJob } from '../service/queue/read-job.ts';
import { createBoundedLabel } from '../service/telemetry/metrics.ts';
import { createWorker, type QueueWorker } from '../service/queue/worker.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { composeNamespacedTargets, type NamespacedTargetMeans, type NamespacedTargets } from './namespaced-targets.ts';
import { watchCertificates } from '../conversion/watch-certificates.ts';

/** Stores notices, for each target that wants them. Never rejects. */
export interface NoticeStore {
  /** What a write of a status is about to report; called before the write. `eventId`: the push that led to it. */
  readonly onPolicyStatus: (policy: ImagePolicy, before: PolicyStatus, after: PolicyStatus, eventId?: string) => Promise<void>;
  readonly onBaseStatus: (policy: BaseImagePolicy, before: unknown, after: unknown, eventId?: string) => Promise<void>;
  /** `labels`: of the policy that the notice is about. */
  readonly add: (notices: readonly IdentifiedNotice[], labels?: Readonly<Record<string, string>>) => Promise<void>;
}

/** The BaseImagePolicy of a name, as it is now. */
type FindBase = (namespace: string, name: string) => BaseImagePolicy | undefined;

const concurrency = 16;
const maxTargetLabels = 500;
/** A status is written even if Redis does not answer: the notices are then not confirmed, and counted as such. */
const confirmWithinMs = 1_000;

/** Builds it; it does nothing if there are no targets. */
function createNoticeStore(
  { settings, logger, metrics }: Foundation,
  queues: WorkQueues,
  namespaced: NamespacedTargets,
  { labelOf, findBase }: { readonly labelOf: (target: string) => string; readonly findBase: FindBase },
): NoticeStore {
  const { notificationTargets } = settings;
  const hasTargets = () => notificationTargets.length > 0 || namespaced.hasTargets();
  const add: NoticeStore['add'] = async (notices, labels) => {
    const receivedAt = new Date().toISOString();
    const jobs = notices.flatMap(({ notice, identity }) =>
      [...notificationTargets, ...(notice.subject.namespace === undefined ? [] : namespaced.of(notice.subject.namespace))]
        .filter((target) => isWanted(target, notice, labels))
        .map(({ name }): NoticeJob => ({ schema: 1, target: name, identity, notice, receivedAt })),
    );
    if (jobs.length === 0) return;
    const { promise: added, resolve } = Promise.withResolvers<'stored' | 'unconfirmed'>();
    const adding = queues.addNoticeJobs(jobs).then(
      () => resolve('stored'),
      (error: unknown) => {
        logger.warn(
          { policy: jobs.map(({ notice }) => formatSubject(notice.subject))[0], why: describeError(error) },
          'notices not stored',
        );
        resolve('unconfirmed');
      },
    );
    await within(confirmWithinMs, adding);
    // Resolved only if it has not been yet.
    resolve('unconfirmed');
    const result = await added;
    for (const { notice, target } of jobs) metrics.notices.inc({ kind: notice.kind, target: labelOf(target), result });
  };
  return {
    add,
    async onPolicyStatus(policy, before, after, eventId) {
      if (!hasTargets()) return;
      const found = policyNotices(policy, before, after, new Date().toISOString(), eventId);
      const isChild = policy.parent !== undefined && isChildOf(policy, findBase(policy.namespace, policy.parent.name));
      await add(isChild ? found.filter(({ notice }) => !toldByBase.has(notice.kind)) : found, policy.labels);
    },
    async onBaseStatus(policy, before, after, eventId) {
      if (!hasTargets()) return;
      const found = baseNotices(policy, readBaseStatus(before), readBaseStatus(after), new Date().toISOString(), eventId);
      await add(found, policy.labels);
    },
  };
}

/** What a BaseImagePolicy reports for all the ImagePolicies that it created. */
const toldByBase: ReadonlySet<NoticeKind> = new Set(['Updated', 'RolledOut']);

/** The part: what stores notices, and the worker that sends them. */
export interface NoticePart {
  readonly store: NoticeStore;
  readonly worker: QueueWorker;
  /** Starts what looks for something to report; the worker is started apart. */
  /** A Secret of a namespace has changed. */
  onSecret(namespace: string): void;
  /** Starts the watch of the targets of namespaces. */
  watch(namespaces: readonly (string | undefined)[]): void;
  /** Resolves when these targets are known, or when there are none. */
  settled(): Promise<unknown>;
  start(): void;
  stop(): Promise<void>;
}

/** What the part shares with the rest of the role. */
export interface NoticeMeans extends NamespacedTargetMeans {
  readonly queue: QueueAccess;
  readonly queues: WorkQueues;
  readonly readOrigins: NoticePorts['readOrigins'];
  readonly recordGivenUp: EventLog['recordGivenUp'];
  readonly findBase: FindBase;
}

/** Builds the part; it does not connect before it is started. */
export function composeNotices(
  foundation: Foundation,
  { queue, queues, readOrigins, recordGivenUp, findBase, ...means }: NoticeMeans,
): NoticePart {
  const { settings, logger, metrics, outbound } = foundation;
  const namespaced = composeNamespacedTargets(foundation, means);
  // Teams choose the names of their targets, and could create any number of labels.
  const labelOf = createBoundedLabel(maxTargetLabels);
  const store = createNoticeStore(foundation, queues, namespaced, { labelOf, findBase });
  const ports: NoticePorts = {
    findTarget: (name) =>
      name.includes('/') ? namespaced.find(name) : settings.notificationTargets.find((target) => target.name === name),
    mayAppear: (name) => name.includes('/') && !namespaced.isComplete(),
    onResult: namespaced.onResult,
    async recordGivenUp(notices) {
      const records = notices.map(({ eventId, subject, ...notice }) => {
        const { namespace = '', name } = subject;
        const key = subject.kind === 'BaseImagePolicy' ? baseKey({ namespace, name }) : policyKey({ namespace, name });
        return recordGivenUp(eventId, key, notice);
      });
      await Promise.all(records);
    },
    exchange: (url, request, options) => exchange(url, request, { ...options, fetch: outbound.fetch, now: Date.now }),
    mail: sendMail,
    readOrigins,
    held: createHeldNotices(queue.redis, queue.prefix),
    addSummary: queues.addSummaryJob,
    dashboardUrl: settings.config.dashboard.publicUrl,
    signLink({ subject, tag, digest }) {
      const secret = settings.dashboardSecrets.session();
      if (secret === undefined || tag === undefined || digest === undefined) return undefined;
      const { namespace = '', name, uid } = subject;
      return signApproval({ namespace, name, uid, tag, digest, until: Date.now() + linkLifeMs }, secret);
    },
    count: ({ kind, target, result }) => metrics.notices.inc({ kind, target: labelOf(target), result }),
    logger,
    now: Date.now,
  };
  const worker = createWorker<NoticeJob | SummaryJob>({
    access: queue,
    now: Date.now,
    random: Math.random,
    queue: 'notice',
    concurrency,
    read: readNoticeJob,
    process: createNoticeProcessor(ports),
  });
  let certificates: ReturnType<typeof watchCertificates> | undefined;
  return {
    store,
    worker,
    watch: namespaced.start,
    settled: namespaced.settled,
    start() {
      certificates ??= watchCertificates(foundation, queue.redis, store);
      namespaced.checkAll();
    },
    onSecret: namespaced.onSecret,
    async stop() {
      certificates?.stop();
      await namespaced.stop();
    },
  };
}
