/** Gathers the facts for the checks of the doctor that only the service can reach. */
import { readFileSync } from 'node:fs';
import { checks } from '../doctor/checks/index.ts';
import type { OtherCertificate } from '../doctor/checks/certificates.ts';
import type { GrantFacts, PermissionFacts, PermissionFile } from '../doctor/checks/permissions.ts';
import type { TargetFacts } from '../doctor/checks/notifications.ts';
import type { PolicyFacts } from '../doctor/checks/policies.ts';
import type { RecordFacts } from '../doctor/checks/record.ts';
import type { RedisFacts } from '../doctor/checks/redis.ts';
import type { WebhookFacts } from '../doctor/checks/webhooks.ts';
import type { ServedCertificate, ServiceReport } from '../doctor/finding.ts';
import { say } from '../doctor/say.ts';
import { runCheck } from '../doctor/run-check.ts';
import { shippedPermissions } from '../doctor/shipped-permissions.ts';
import { startDeadline } from '../../core/async/deadline.ts';
import type { KubeClient } from '../kube/client.ts';
import { findMissingAccess, reviewOwnAccess } from '../kube/review-access.ts';
import { describeRedisError, type RedisConnection } from '../queue/connection.ts';
import { readServerTime } from '../kube/server-time.ts';
import { describeError } from '../../core/model/errors.ts';
import { readDeliveryTimes } from '../queue/delivery-times.ts';
import { readServer, type ServerFacts } from '../queue/read-server.ts';
import { readOutboxState } from '../queue/outbox.ts';
import { maxOutbox } from '../queue/outbox-functions.ts';
import { readReceivers } from '../queue/receiver-list.ts';
import { readAnnouncements } from '../queue/unannounced-finds.ts';
import type { RegistryClient } from '../registry/client.ts';
import { readVersion } from '../config/version.ts';
import type { Installation } from './installation.ts';
import { listRoutes } from './list-routes.ts';
import { clocksOf, probeRegistries, type RegistryMeans } from './probe-registries.ts';
import { type PolicySurvey, type SurveyMeans, surveyPolicies } from './survey-policies.ts';
import { maxMemoryShare } from '../queue/redis-state.ts';
import { crowdedShare } from '../queue/trim-redis.ts';

/** The caches and clients from which the facts are gathered. */
export interface DoctorMeans extends RegistryMeans, SurveyMeans {
  readonly registry: Pick<RegistryClient, 'probe' | 'routeOf'>;
  /** Whether all policies are known. */
  readonly isWatching: () => boolean;
  readonly client: KubeClient;
  /** Reads the targets of notifications, and why messages do not reach them. */
  readonly readTargets: () => Promise<readonly TargetFacts[]>;
  readonly redis: { readonly connection: RedisConnection };
  /** Reads the certificate of the conversion webhook, as the API server would see it. */
  readonly readConversionCertificate: () => Promise<ServedCertificate>;
}

/** The time after which the requests of the checks end. All checks run at the same time. */
const endMs = 15_000;
/** The timeout of a check, in ms. It leaves a second to report what is known when the requests have ended. */
const timeoutMs = endMs + 1_000;
/** The limit for hosts in a report, because tenants choose the hosts of registries. */
const maxHosts = 50;
/** The limit for namespaces in a report, because each costs 32 requests to the API server. */
const maxNamespaces = 5;
const dayMs = 86_400_000;
const warnWithinMs = 14 * dayMs;

/** Makes reports on an installation. */
export interface Reporter {
  /** Gathers the facts and checks them; never rejects. */
  readonly makeReport: () => Promise<ServiceReport>;
  /** The namespaces that the reports concern; none: all namespaces. */
  readonly namespaces: readonly string[];
}

/** Creates the reporter of this installation. */
export function createReporter(installation: Installation, means: DoctorMeans): Reporter {
  const { config } = installation.settings;
  const makeReport = async () => {
    const { signal, end } = startDeadline(endMs);
    const now = Date.now();
    const server = readServer(means.redis.connection, config.redis.prefix, Date.now).catch((error: unknown) => ({
      why: describeRedisError(error),
    }));
    const survey = surveyPolicies(means, installation.settings.config.checks, signal);
    // One walk after the other, so that both together are as gentle as one.
    const probes = survey.then(() => probeRegistries(means, signal));
    const clocks = async () => ({
      own: say('name.worker'),
      clocks: [
        clockOfRedis(await server),
        { line: 'api-server', name: say('name.apiServer'), ...(await readServerTime(means.client, Date.now, signal)) } as const,
        ...clocksOf((await probes).probes),
      ],
    });
    const [findings, conversion] = await Promise.all([
      Promise.all([
        runCheck(checks.redis, timeoutMs, async () => redisFacts(await server, config.redis)),
        runCheck(checks.record, timeoutMs, () => gatherRecord(installation, means.redis.connection, now)),
        runCheck(checks.clock, timeoutMs, clocks),
        runCheck(checks.permissions, timeoutMs, () => gatherPermissions(installation, means, survey, signal)),
        runCheck(checks.certificates, timeoutMs, () => Promise.resolve({ now, warnWithinMs, others: registryAuthorities(installation) })),
        runCheck(checks.webhooks, timeoutMs, async () => gatherWebhooks(installation, means, await survey, now)),
        runCheck(checks.proxies, timeoutMs, async () => listRoutes(installation, means.registry, (await survey).registries)),
        runCheck(checks.notifications, timeoutMs, async () => ({ now, targets: await means.readTargets() })),
        runCheck(checks.registries, timeoutMs, () => probes),
        runCheck(checks.policies, timeoutMs, async () => gatherPolicies(await survey, means, now)),
      ]),
      means.readConversionCertificate(),
    ]);
    end();
    const report: ServiceReport = {
      version: readVersion(),
      checkedAt: new Date(now).toISOString(),
      findings: findings.flat(),
      conversion,
    };
    return report;
  };
  return { makeReport, namespaces: config.watch.namespaces };
}

function toReason(error: unknown): { readonly why: string } {
  return { why: describeError(error) };
}

type Server = ServerFacts | { readonly why: string };

function redisFacts(server: Server, { durability, minReplicas }: Installation['settings']['config']['redis']): RedisFacts {
  if ('why' in server) return server;
  const { info, settings } = server;
  return { info, settings, durability, minReplicas, trimFrom: crowdedShare, refuseFrom: maxMemoryShare };
}

async function gatherRecord({ settings: { config } }: Installation, redis: RedisConnection, now: number): Promise<RecordFacts> {
  if (config.record === undefined) return undefined;
  const { waiting, oldestAt, problem } = await readOutboxState(redis, config.redis.prefix);
  const oldestMs = oldestAt === undefined ? undefined : Math.max(0, now - oldestAt);
  return { waiting, oldestMs, problem, intervalMs: config.record.interval, most: maxOutbox };
}

function clockOfRedis(server: Server) {
  const name = { line: 'redis', name: 'Redis' } as const;
  return 'why' in server ? { ...name, ...server } : { ...name, aheadMs: server.aheadMs, toleranceMs: server.toleranceMs };
}

async function gatherPermissions(
  { settings: { config } }: Installation,
  { client }: DoctorMeans,
  survey: Promise<PolicySurvey>,
  signal: AbortSignal,
): Promise<PermissionFacts> {
  const review = async (file: PermissionFile, namespace?: string): Promise<GrantFacts> => {
    const ask = findMissingAccess(shippedPermissions[file], namespace, (access) => reviewOwnAccess(client, access, signal));
    return { file, namespace, missing: await ask.catch(toReason) };
  };
  const watched = config.watch.namespaces;
  const places = watched.length === 0 ? [undefined] : watched.slice(0, maxNamespaces);
  const everywhere = [
    'work',
    'work-bases',
    'work-notifications',
    'work-rebase',
    ...(config.checks.jobs ? (['work-checks'] as const) : []),
    ...(config.checks.analysis ? (['work-analysis'] as const) : []),
    ...((await survey).asksTrivyOperator ? (['work-vulnerabilities'] as const) : []),
    'work-status',
    'work-secrets',
    'work-secret-watches',
  ] as const;
  const grants: GrantFacts[] = [];
  for (const place of places) for (const file of everywhere) grants.push(await review(file, place));
  grants.push(await review('work-namespaces'));
  if (watched.length === 0) grants.push(await review('work-definitions'));
  if (config.operations.auth !== 'none') grants.push(await review('work-reviews'));
  return {
    account: say('name.workerAccount'),
    grants,
    namespacesNotAsked: watched.length - Math.min(watched.length, maxNamespaces),
  };
}

/** The certificate authorities that the configuration names. */
export function registryAuthorities({ settings: { config } }: Installation): OtherCertificate[] {
  return config.registries.flatMap(({ host, caFile }): OtherCertificate[] => {
    if (caFile === undefined) return [];
    const name = `${caFile} (registries[].caFile of ${host})`;
    try {
      return [{ line: 'registry-ca', name, pem: readFileSync(caFile, 'utf8') }];
    } catch (error) {
      return [{ line: 'registry-ca', name, pem: toReason(error) }];
    }
  });
}

async function gatherWebhooks(
  { settings: { config } }: Installation,
  means: DoctorMeans,
  { registries: counts }: PolicySurvey,
  now: number,
): Promise<WebhookFacts> {
  const { connection } = means.redis;
  const hosts = [...counts].sort(([, a], [, b]) => b - a).slice(0, maxHosts);
  const [receivers, times, announcements] = await Promise.all([
    config.receivers.length > 0 ? config.receivers : readReceivers(connection, config.redis.prefix),
    readDeliveryTimes(connection, config.redis.prefix, now),
    readAnnouncements(
      connection,
      config.redis.prefix,
      hosts.map(([host]) => host),
    ),
  ]);
  return {
    now,
    receivers: receivers.map(({ name, provider }) => ({
      name,
      provider,
      lastByStatus: times.get(name) ?? new Map<number, number>(),
    })),
    registries: hosts.map(([host, policies], index) => ({ host, policies, lastPush: undefined, unannounced: 0, ...announcements[index] })),
  };
}

function gatherPolicies(
  { summaries, refusedChecks, unprovable, withoutCanaries }: PolicySurvey,
  means: DoctorMeans,
  now: number,
): PolicyFacts {
  if (!means.isWatching()) throw new Error('the watch of the policies is not connected; /readyz?verbose says why');
  return { now, policies: summaries, refusedChecks, unprovable, withoutCanaries };
}
