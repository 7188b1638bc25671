/** The part of the role `work` that sends notifications. */
import { randomUUID } from 'node:crypto';
import { baseKey } from '../core/model/base-policy.ts';
import { policyKey } from '../core/model/image-policy.ts';
import { linkApproval } from '../core/model/approval-link.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { sendTest } from './deliver.ts';
import { createNoticeProcessor, type NoticePorts } from './process-notice.ts';
import { createTargetRoutes } from './routes.ts';
import { sendMail } from './send-mail.ts';
import { describeResult, exchange, type SendResult } from '../service/proxy/exchange.ts';
import type { JoinedWing, WorkMeans } from '../service/compose/work-wing.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { createHeldNotices } from '../service/queue/held-notices.ts';
import { createNoticeResults, type NoticeResults } from '../service/queue/notice-results.ts';
import { createNoticeThreads } from '../service/queue/notice-threads.ts';
import type { NoticeJob, SummaryJob } from '../service/queue/jobs.ts';
import { readNoticeJob } from '../service/queue/read-job.ts';
import { createBoundedLabel } from '../service/telemetry/metrics.ts';
import { createWorker } from '../service/queue/worker.ts';
import type { Foundation } from '../service/compose/foundation.ts';
import { createNamespacedTargets, type NamespacedTargets } from './namespaced-targets.ts';
import { createNoticeOrigins } from './notice-origins.ts';
import { createNoticeStore } from './notice-store.ts';
import { createTargetCauses, readTargets, targetSight } from './target-causes.ts';
import { watchCertificates } from './watch-certificates.ts';

const concurrency = 16;
const maxTargetLabels = 500;

/** The wing in the role `work`: the store of notices, and the worker that sends them. It does not connect before it is started. */
export function composeNotices(foundation: Foundation, client: KubeClient, means: WorkMeans): JoinedWing {
  const { queue, queues, cache, access, rewriteNotice } = means;
  const { logger } = foundation;
  const configured = foundation.settings.notificationTargets;
  const namespaced = createNamespacedTargets(foundation, { client, readSecret: access.readSecret, isSelected: cache.isSelected });
  const results = createNoticeResults(means.failFastRedis, queue.prefix);
  const ports = createNoticePorts(foundation, means, { configured, namespaced, results });
  const { count } = ports;
  const store = createNoticeStore({ configured, namespaced, addJobs: queues.addNoticeJobs, rewriteNotice, count, logger });
  const known = { configured, namespaced: namespaced.all, readResults: results.read };
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
      routes: createTargetRoutes({ ...known, test: (name) => sendTest(name, { ...ports, newId: randomUUID }), now: Date.now }),
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

/** The targets of the configuration and of namespaces, and the record of what they answered. */
interface Targets {
  readonly configured: readonly ConfiguredTarget[];
  readonly namespaced: NamespacedTargets;
  readonly results: NoticeResults;
}

function createNoticePorts(
  { settings, logger, metrics, outbound }: Foundation,
  { queue, queues, cache, registry, sourceOf, eventLog }: WorkMeans,
  { configured, namespaced, results }: Targets,
): NoticePorts {
  const { dashboard, cluster } = settings.config;
  // The labels are bounded, because teams choose the names of their targets and could create any number of them.
  const labelOf = createBoundedLabel(maxTargetLabels);
  return {
    findTarget: (name) => (name.includes('/') ? namespaced.find(name) : configured.find((target) => target.name === name)),
    mayAppear: (name) => name.includes('/') && !namespaced.isComplete(),
    onResult(name, result: SendResult) {
      namespaced.onResult(name, result);
      // A result that Redis does not accept is dropped: the next one says the same.
      void results.record(name, Date.now(), result.kind === 'sent' ? undefined : describeResult(result)).catch(() => undefined);
    },
    async recordGivenUp(notices) {
      const records = notices.map(({ eventId, subject, ...notice }) => {
        const { namespace = '', name } = subject;
        const key = subject.kind === 'BaseImagePolicy' ? baseKey({ namespace, name }) : policyKey({ namespace, name });
        return eventLog.recordGivenUp(eventId, key, notice);
      });
      await Promise.all(records);
    },
    exchange: (url, request, options) => exchange(url, request, { ...options, fetch: outbound.fetch, now: Date.now }),
    mail: sendMail,
    readOrigins: createNoticeOrigins(registry, cache.findPolicy, sourceOf),
    held: createHeldNotices(queue.redis, queue.prefix),
    threads: createNoticeThreads(queue.redis, queue.prefix),
    addSummary: queues.addSummaryJob,
    dashboardUrl: dashboard.publicUrl,
    cluster: cluster.name,
    signLink: (notice) => linkApproval(notice, settings.dashboardSecrets.session(), Date.now()),
    count: ({ kind, target, result }) => metrics.notices.inc({ kind, target: labelOf(target), result }),
    logger,
    now: Date.now,
  };
}
