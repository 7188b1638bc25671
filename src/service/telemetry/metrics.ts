/** Every metric, in one list. Labels are bounded: they are names from the configuration, or ids and reasons from lists in our code. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

const latency = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const rolloutTimes = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_200, 3_600];

export type Metrics = ReturnType<typeof createMetrics>;

/** All metrics of one process, in a registry of its own. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  // With the defaults, timers would run 110 times a second in an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100, eventLoopUtilizationTimeout: 1_000 });
  return {
    registry,
    deliveries: new Counter({
      name: 'image_watcher_deliveries_total',
      help: 'Webhook requests by receiver, provider and how they were answered',
      labelNames: ['receiver', 'provider', 'status'],
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'image_watcher_delivery_seconds',
      help: 'Time from a webhook request to its answer',
      labelNames: ['receiver', 'provider'],
      buckets: latency,
      registers,
    }),
    pushes: new Counter({
      name: 'image_watcher_pushes_total',
      help: 'Pushes that webhooks announced: accepted (stored in Redis) or ignored',
      labelNames: ['receiver', 'provider', 'result'],
      registers,
    }),
    ignoredPushes: new Counter({
      name: 'image_watcher_ignored_pushes_total',
      help: 'Announced items that are no pushes of images, by reason',
      labelNames: ['receiver', 'provider', 'reason'],
      registers,
    }),
    ignoredNotRecorded: new Counter({
      name: 'image_watcher_ignored_pushes_not_recorded_total',
      help: 'Ignored pushes that are not among the events: rate (too many of one receiver and reason at once), redis (Redis slow, nearly full or away)',
      labelNames: ['receiver', 'provider', 'why'],
      registers,
    }),
    rejectedDeliveries: new Counter({
      name: 'image_watcher_rejected_deliveries_total',
      help: 'Webhook requests that were refused: unauthorized, too-many, too-large, unavailable, bad-request, internal',
      labelNames: ['receiver', 'provider', 'kind'],
      registers,
    }),
    refusedTokens: new Counter({
      name: 'image_watcher_refused_tokens_total',
      help: 'Genuine tokens of OpenID providers that were refused, by the claim that does not match',
      labelNames: ['receiver', 'provider', 'claim'],
      registers,
    }),
    malformed: new Counter({
      name: 'image_watcher_malformed_deliveries_total',
      help: 'Authentic deliveries that are not what the provider sends: a wrong provider is configured, or its format has changed',
      labelNames: ['receiver', 'provider'],
      registers,
    }),
    reconciles: new Counter({
      name: 'image_watcher_reconciles_total',
      help: 'Reconciles of one policy, by trigger and result',
      labelNames: ['source', 'outcome', 'reason'],
      registers,
    }),
    notices: new Counter({
      name: 'image_watcher_notices_total',
      help: 'Notifications by kind, target and result: stored in the queue, unconfirmed by Redis, sent, held (for a summary), failed (and sent again) or abandoned',
      labelNames: ['kind', 'target', 'result'],
      registers,
    }),
    unwatched: new Counter({
      name: 'image_watcher_unwatched_pushes_total',
      help: 'Pushes of repositories that no policy watches',
      registers,
    }),
    pushToPatchSeconds: new Histogram({
      name: 'image_watcher_push_to_patch_seconds',
      help: 'Time from the receipt of a push to the confirmed change of a workload',
      buckets: latency,
      registers,
    }),
    pushToAvailableSeconds: new Histogram({
      name: 'image_watcher_push_to_available_seconds',
      help: 'Time from the receipt of a push to the end of the rollout that it caused',
      buckets: rolloutTimes,
      registers,
    }),
    rollouts: new Counter({
      name: 'image_watcher_rollouts_total',
      help: 'Rollouts of changed workloads by kind and how they ended: RolledOut, RolloutFailed, RolledBack, RollbackFailed or RollbackRefused',
      labelNames: ['kind', 'result'],
      registers,
    }),
    changes: new Counter({
      name: 'image_watcher_workload_changes_total',
      help: 'Patches that changed a workload, by kind and trigger',
      labelNames: ['kind', 'source'],
      registers,
    }),
    patchConflicts: new Counter({
      name: 'image_watcher_patch_conflicts_total',
      help: 'Patches that the API server refused because the workload had changed meanwhile; each is planned again',
      registers,
    }),
    registryRequests: new Counter({
      name: 'image_watcher_registry_requests_total',
      help: 'Requests to registries by host (the first 200, then other), kind (manifest, blob, tags, referrers, token, push, delete, scan) and answer (a status class or error)',
      labelNames: ['host', 'kind', 'answer'],
      registers,
    }),
    registryPostponed: new Counter({
      name: 'image_watcher_registry_postponed_total',
      help: 'Requests that were postponed, by host and reason: RegistryThrottled, RegistryUnavailable, RegistryBusy',
      labelNames: ['host', 'reason'],
      registers,
    }),
    registryCircuitOpen: new Gauge({
      name: 'image_watcher_registry_circuit_open',
      help: 'Whether the circuit of the host is open, so that it gets no requests (1), or closed (0)',
      labelNames: ['host'],
      registers,
    }),
    registryPullsRemaining: new Gauge({
      name: 'image_watcher_registry_pulls_remaining',
      help: 'Pulls that remain by the RateLimit headers of the host, of the account that asked last',
      labelNames: ['host'],
      registers,
    }),
    registrySeconds: new Histogram({
      name: 'image_watcher_registry_request_seconds',
      help: 'Duration of requests to registries',
      labelNames: ['host', 'kind'],
      buckets: latency,
      registers,
    }),
    polls: new Counter({
      name: 'image_watcher_polls_total',
      help: 'Polls of repositories, by result',
      labelNames: ['found'],
      registers,
    }),
    unannouncedFinds: new Counter({
      name: 'image_watcher_unannounced_finds_total',
      help: 'Images that polls found new at a registry although no webhook had announced them',
      labelNames: ['registry'],
      registers,
    }),
    conversions: new Counter({
      name: 'image_watcher_conversions_total',
      help: 'Policies that the API server had converted, by the version it asked for: converted or refused',
      labelNames: ['to', 'result'],
      registers,
    }),
    conversionReviews: new Counter({
      name: 'image_watcher_conversion_reviews_total',
      help: 'Conversion requests of the API server, each of one or many policies: converted or refused',
      labelNames: ['to', 'result'],
      registers,
    }),
    conversionSeconds: new Histogram({
      name: 'image_watcher_conversion_review_seconds',
      help: 'Time that one conversion request takes, without its transfer',
      labelNames: ['to'],
      buckets: latency,
      registers,
    }),
    conversionCertificateDays: new Gauge({
      name: 'image_watcher_conversion_certificate_days',
      help: 'Days until the certificate of the conversion listener ends, by where it is from: files, secret or provisional',
      labelNames: ['source'],
      registers,
    }),
    policies: new Gauge({ name: 'image_watcher_policies', help: 'ImagePolicies in memory', registers }),
    policiesInState: new Gauge({
      name: 'image_watcher_policies_in_state',
      help: 'ImagePolicies by their state in one word, as the API and the pages show it',
      labelNames: ['state'],
      registers,
    }),
    policyReady: new Gauge({
      name: 'image_watcher_policy_ready',
      help: 'Whether the condition Ready of a policy is True (1) or not (0), with its reason; only with metrics.policies, and of so many policies at most',
      labelNames: ['namespace', 'name', 'reason'],
      registers,
    }),
    policiesWithoutMetric: new Gauge({
      name: 'image_watcher_policies_without_metric',
      help: 'Policies without image_watcher_policy_ready, because there are more than metrics.policies',
      registers,
    }),
    baseImages: new Gauge({
      name: 'image_watcher_base_images',
      help: 'Images that the workloads of a BaseImagePolicy run, by how they relate to the base: current, behind, other_line, unknown or unrelated; of 200 policies at most',
      labelNames: ['namespace', 'name', 'state'],
      registers,
    }),
    baseBehindSince: new Gauge({
      name: 'image_watcher_base_behind_since_seconds',
      help: 'Since when an image of a BaseImagePolicy is behind its base, in seconds since 1970; absent where none is',
      labelNames: ['namespace', 'name'],
      registers,
    }),
    baseRebuildsOverdue: new Gauge({
      name: 'image_watcher_base_rebuilds_overdue',
      help: 'Images of a BaseImagePolicy whose rebuild was requested and has not come in time',
      labelNames: ['namespace', 'name'],
      registers,
    }),
    workloads: new Gauge({ name: 'image_watcher_workloads', help: 'Workloads in memory', registers }),
    watchConnected: new Gauge({
      name: 'image_watcher_watch_connected',
      help: 'Whether a watch of the API server is connected (1) or not (0)',
      labelNames: ['resource'],
      registers,
    }),
    queueOldest: new Gauge({
      name: 'image_watcher_queue_oldest_seconds',
      help: 'How long the job that is next has waited for a worker, by queue: push, policy, poll, base, trigger or notice',
      labelNames: ['queue'],
      registers,
    }),
    recordWaiting: new Gauge({
      name: 'image_watcher_record_waiting',
      help: 'Entries of the record of activity that are not yet where `record` keeps them; absent without this setting',
      registers,
    }),
    recordOldest: new Gauge({
      name: 'image_watcher_record_oldest_seconds',
      help: 'How long the oldest entry waits to be written where `record` keeps it; 0 if none waits',
      registers,
    }),
    redisReachable: new Gauge({ name: 'image_watcher_redis_reachable', help: 'Whether Redis answers (1) or not (0)', registers }),
    redisDurable: new Gauge({
      name: 'image_watcher_redis_durable',
      help: 'Whether Redis keeps accepted pushes over a restart: AOF on, no eviction (1) or not (0)',
      registers,
    }),
    redisMemoryShare: new Gauge({
      name: 'image_watcher_redis_memory_share',
      help: 'Used share of Redis maxmemory, 0 to 1; receivers refuse pushes above 0.8',
      registers,
    }),
  };
}

/** The label of all values beyond the limit. */
export const otherLabel = 'other';

/** How many registries get a label of their own, because tenants choose the hosts. */
export const maxRegistryLabels = 200;

/** Limits a label whose values tenants choose: keeps the first `limit` different values, and returns `other` for all further ones. */
export function createBoundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < limit) known.add(value);
    return known.has(value) ? value : otherLabel;
  };
}
