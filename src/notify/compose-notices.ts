/** The part of the role `work` that sends notifications. */
import { randomUUID } from 'node:crypto';
import { baseKey } from '../core/model/base-policy.ts';
import { within } from '../core/async/deadline.ts';
import { describeError } from '../core/model/errors.ts';
import { wholeDigest } from '../core/model/companions.ts';
import { policyKey } from '../core/model/image-policy.ts';
import { linkLifeMs, signApproval } from '../core/model/approval-link.ts';
import type { NoticeSink } from '../core/model/notice-sink.ts';
import { formatSubject } from '../core/model/notice.ts';
import { policyNotices } from '../core/status/policy-notices.ts';
import { deliver } from './deliver.ts';
import { createNoticeProcessor, isWanted, type NoticePorts } from './process-notice.ts';
import { createTargetRoutes } from './routes.ts';
import { sendMail } from './send-mail.ts';
import { describeResult, exchange, type SendResult } from '../service/proxy/exchange.ts';
import type { JoinedWing, WorkMeans } from '../service/compose/work-wing.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { createHeldNotices } from '../service/queue/held-notices.ts';
import { createNoticeResults } from '../service/queue/notice-results.ts';
import { createNoticeThreads } from '../service/queue/notice-threads.ts';
import type { NoticeJob, SummaryJob } from '../service/queue/jobs.ts';
import type { WorkQueues } from '../service/queue/producer.ts';
import { readNoticeJob } from '../service/queue/read-job.ts';
import { createBoundedLabel } from '../service/telemetry/metrics.ts';
import { createWorker } from '../service/queue/worker.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { composeNamespacedTargets, type NamespacedTargets } from './namespaced-targets.ts';
import { createNoticeOrigins } from './notice-origins.ts';
import { createTargetCauses, readTargets, targetSight } from './target-causes.ts';
import { watchCertificates } from './watch-certificates.ts';

const concurrency = 16;
const maxTargetLabels = 500;
/** How long a write of a status waits for Redis. It happens even without an answer; the notices are then counted as unconfirmed. */
const confirmWithinMs = 1_000;

/** Builds the store of notices. It does nothing if there are no targets. */
function createNoticeStore(
  { settings, logger, metrics }: Foundation,
  queues: WorkQueues,
  namespaced: NamespacedTargets,
  { labelOf, rewriteNotice }: { readonly labelOf: (target: string) => string } & Pick<WorkMeans, 'rewriteNotice'>,
): NoticeSink {
  const { notificationTargets } = settings;
  const hasTargets = () => notificationTargets.length > 0 || namespaced.hasTargets();
  const add: NoticeSink['add'] = async (notices, labels) => {
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
    // Has no effect if the result is known already.
    resolve('unconfirmed');
    const result = await added;
    for (const { notice, target } of jobs) metrics.notices.inc({ kind: notice.kind, target: labelOf(target), result });
  };
  return {
    add,
    async onPolicyStatus(policy, before, after, eventId) {
      if (!hasTargets()) return;
      const found = policyNotices(policy, { before, after }, new Date().toISOString(), eventId);
      await add(
        found.flatMap((one) => rewriteNotice(policy, one) ?? []),
        policy.labels,
      );
    },
  };
}

/** The wing in the role `work`: the store of notices, and the worker that sends them. It does not connect before it is started. */
export function composeNotices(foundation: Foundation, client: KubeClient, means: WorkMeans): JoinedWing {
  const { queue, queues, cache, access, eventLog, rewriteNotice } = means;
  const { recordGivenUp } = eventLog;
  const { settings, logger, metrics, outbound } = foundation;
  const namespaced = composeNamespacedTargets(foundation, { client, readSecret: access.readSecret, isSelected: cache.isSelected });
  // The labels are bounded, because teams choose the names of their targets and could create any number of them.
  const labelOf = createBoundedLabel(maxTargetLabels);
  const store = createNoticeStore(foundation, queues, namespaced, { labelOf, rewriteNotice });
  const results = createNoticeResults(means.failFastRedis, queue.prefix);
  const onResult = (name: string, result: SendResult) => {
    namespaced.onResult(name, result);
    // A result that Redis does not accept is dropped: the next one says the same.
    void results.record(name, Date.now(), result.kind === 'sent' ? undefined : describeResult(result)).catch(() => undefined);
  };
  const ports: NoticePorts = {
    findTarget: (name) =>
      name.includes('/') ? namespaced.find(name) : settings.notificationTargets.find((target) => target.name === name),
    mayAppear: (name) => name.includes('/') && !namespaced.isComplete(),
    onResult,
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
    readOrigins: createNoticeOrigins(means.registry, cache.findPolicy, means.sourceOf),
    held: createHeldNotices(queue.redis, queue.prefix),
    threads: createNoticeThreads(queue.redis, queue.prefix),
    addSummary: queues.addSummaryJob,
    dashboardUrl: settings.config.dashboard.publicUrl,
    cluster: settings.config.cluster.name,
    signLink({ subject, tag, ...image }) {
      const digest = wholeDigest(image);
      const secret = settings.dashboardSecrets.session();
      if (secret === undefined || tag === undefined || digest === undefined) return undefined;
      const { namespace = '', name, uid } = subject;
      return signApproval({ namespace, name, uid, tag, digest, until: Date.now() + linkLifeMs }, secret);
    },
    count: ({ kind, target, result }) => metrics.notices.inc({ kind, target: labelOf(target), result }),
    logger,
    now: Date.now,
  };
  const known = { configured: settings.notificationTargets, namespaced: namespaced.all, readResults: results.read };
  /** Sends a test message, once. */
  const test = async (name: string): Promise<SendResult | undefined> => {
    const target = ports.findTarget(name);
    if (target === undefined) return undefined;
    const content = { type: 'test', target: name, at: new Date().toISOString() } as const;
    const result = await deliver(target, content, { ...ports, id: randomUUID(), signal: new AbortController().signal });
    onResult(name, result);
    return result;
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
    notices: store,
    work: () => ({
      workers: [worker],
      routes: createTargetRoutes({ ...known, test, now: Date.now }),
      causes: createTargetCauses(known),
      sight: targetSight,
      readTargets: () => readTargets(known),
      watch: namespaced.start,
      settled: namespaced.settled,
      start() {
        certificates ??= watchCertificates(foundation, queue.redis, { add: store.add, read: means.readCertificates });
        namespaced.checkAll();
      },
      onSecret: namespaced.onSecret,
      async stop() {
        certificates?.stop();
        await namespaced.stop();
      },
    }),
  };
}
