/** For each alert of the chart: series with which it fires, and what it is about then; and series with which it does not. */

/** Metrics without their prefix, scraped at regular intervals, with values in the notation of promtool: `0+1x60` counts up 60 times, `_` is no value. */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  /** When the alert is evaluated. */
  readonly at: string;
  /** How often series are scraped and alerts are evaluated; once a minute unless given. */
  readonly every?: string;
  readonly fires: Series;
  /** The labels of what fires, besides the severity. */
  readonly alerts: readonly Readonly<Record<string, string>>[];
  /** Series with which it does not fire, by the reason why. */
  readonly silent: Readonly<Record<string, Series>>;
}

const policy = { namespace: 'shop', name: 'web' };

export const alertCases: Readonly<Record<string, AlertCase>> = {
  ImageWatcherWebhookLost: {
    at: '30m',
    fires: { 'unannounced_finds_total{registry="ghcr.io"}': '0x10 1x20', 'unannounced_finds_total{registry="quay.io"}': '4x30' },
    alerts: [{ registry: 'ghcr.io' }],
    silent: { 'all images were announced': { 'unannounced_finds_total{registry="ghcr.io"}': '3x30' } },
  },
  ImageWatcherRolloutFailed: {
    at: '10m',
    fires: { 'rollouts_total{kind="Deployment",result="RolloutFailed"}': '0x5 1x5' },
    alerts: [{ kind: 'Deployment' }],
    silent: {
      'rollouts succeed': {
        'rollouts_total{kind="Deployment",result="RolledOut"}': '0+1x10',
        'rollouts_total{kind="Deployment",result="RolloutFailed"}': '1x10',
      },
    },
  },
  ImageWatcherRollbackFailed: {
    at: '10m',
    fires: {
      'rollouts_total{kind="Deployment",result="RollbackFailed"}': '0x5 1x5',
      'rollouts_total{kind="StatefulSet",result="RollbackRefused"}': '0x5 1x5',
    },
    alerts: [{ kind: 'Deployment' }, { kind: 'StatefulSet' }],
    silent: { 'failures are rolled back': { 'rollouts_total{kind="Deployment",result="RolledBack"}': '0+1x10' } },
  },
  ImageWatcherQueueOld: {
    at: '10m',
    fires: { 'queue_oldest_seconds{queue="push",pod="a"}': '90x10', 'queue_oldest_seconds{queue="poll",pod="a"}': '1x10' },
    alerts: [{ queue: 'push' }],
    silent: { 'a wait is over in minutes': { 'queue_oldest_seconds{queue="push"}': '90x4 0 90x4' } },
  },
  ImageWatcherRedisNotDurable: {
    at: '10m',
    fires: { 'redis_durable{pod="a"}': '0x10', 'redis_durable{pod="b"}': '1x10', 'redis_reachable{pod="a"}': '1x10' },
    alerts: [{}],
    silent: {
      'Redis keeps everything': { redis_durable: '1x10', redis_reachable: '1x10' },
      'Redis is away, which has its own alert': { redis_durable: '0x10', redis_reachable: '0x10' },
    },
  },
  ImageWatcherRedisUnreachable: {
    at: '5m',
    fires: { 'redis_reachable{pod="a"}': '0x5', 'redis_reachable{pod="b"}': '0x5' },
    alerts: [{}],
    silent: { 'one process reaches it': { 'redis_reachable{pod="a"}': '0x5', 'redis_reachable{pod="b"}': '1x5' } },
  },
  ImageWatcherRedisFull: {
    at: '10m',
    fires: { redis_memory_share: '0.75x10' },
    alerts: [{}],
    silent: { 'there is room': { redis_memory_share: '0.7x10' } },
  },
  ImageWatcherBlind: {
    at: '10m',
    fires: { 'watch_connected{resource="imagepolicies"}': '0x10', 'watch_connected{resource="deployments"}': '1x10' },
    alerts: [{ resource: 'imagepolicies' }],
    silent: {
      'another worker watches': {
        'watch_connected{resource="imagepolicies",pod="a"}': '0x10',
        'watch_connected{resource="imagepolicies",pod="b"}': '1x10',
      },
    },
  },
  ImageWatcherPolicyNotReady: {
    at: '2h',
    fires: { 'policy_ready{namespace="shop",name="web",reason="RegistryDenied"}': '0x120' },
    alerts: [{ ...policy, reason: 'RegistryDenied' }],
    silent: {
      'the reason changes within the hour': {
        'policy_ready{namespace="shop",name="web",reason="Waiting"}': '0x90 _x30',
        'policy_ready{namespace="shop",name="web",reason="RegistryDenied"}': '_x90 0x30',
      },
      'policies are Ready': { 'policy_ready{namespace="shop",name="web",reason="UpToDate"}': '1x120' },
    },
  },
  ImageWatcherImagesBehindBase: {
    at: '8d',
    every: '1h',
    fires: { 'base_behind_since_seconds{namespace="shop",name="web"}': '60x192' },
    alerts: [policy],
    silent: { 'they are behind for days': { 'base_behind_since_seconds{namespace="shop",name="web"}': '432000x192' } },
  },
  ImageWatcherBaseUnknown: {
    at: '2h',
    fires: { 'base_images{namespace="shop",name="web",state="unknown"}': '2x120' },
    alerts: [policy],
    silent: {
      'all bases are known': {
        'base_images{namespace="shop",name="web",state="unknown"}': '0x120',
        'base_images{namespace="shop",name="web",state="behind"}': '2x120',
      },
    },
  },
  ImageWatcherRebuildOverdue: {
    at: '30m',
    fires: { 'base_rebuilds_overdue{namespace="shop",name="web"}': '1x30' },
    alerts: [policy],
    silent: { 'the image arrives': { 'base_rebuilds_overdue{namespace="shop",name="web"}': '1x20 0x10' } },
  },
  ImageWatcherRetrying: {
    at: '40m',
    fires: { 'reconciles_total{outcome="retrying"}': '0+1x40', 'reconciles_total{outcome="updated"}': '3x40' },
    alerts: [{}],
    silent: {
      'others are reconciled': { 'reconciles_total{outcome="retrying"}': '0+1x40', 'reconciles_total{outcome="updated"}': '0+1x40' },
    },
  },
  ImageWatcherSenderRefused: {
    at: '40m',
    fires: { 'rejected_deliveries_total{receiver="harbor",kind="unauthorized"}': '0+1x40' },
    alerts: [{ receiver: 'harbor' }],
    silent: {
      'it was refused once': { 'rejected_deliveries_total{receiver="harbor",kind="unauthorized"}': '0x10 1x30' },
      'it is refused for another reason': { 'rejected_deliveries_total{receiver="harbor",kind="too-many"}': '0+1x40' },
    },
  },
  ImageWatcherSenderNotUnderstood: {
    at: '10m',
    fires: { 'malformed_deliveries_total{receiver="harbor"}': '0x5 1x5' },
    alerts: [{ receiver: 'harbor' }],
    silent: { 'all are understood': { 'malformed_deliveries_total{receiver="harbor"}': '1x10' } },
  },
  ImageWatcherRegistryFails: {
    at: '20m',
    fires: { 'registry_circuit_open{host="ghcr.io"}': '1x20', 'registry_circuit_open{host="quay.io"}': '0x20' },
    alerts: [{ host: 'ghcr.io' }],
    silent: { 'it answers now and then': { 'registry_circuit_open{host="ghcr.io"}': '1x8 0 1x8 0 1x2' } },
  },
  ImageWatcherConversionFails: {
    at: '10m',
    fires: { 'conversions_total{to="v1",result="refused"}': '0x5 1x5' },
    alerts: [{}],
    silent: { 'all are converted': { 'conversions_total{to="v1",result="converted"}': '0+9x10' } },
  },
  ImageWatcherCertificateEnds: {
    at: '2h',
    fires: { 'conversion_certificate_days{source="secret"}': '12x120' },
    alerts: [{}],
    silent: {
      'it is renewed': { 'conversion_certificate_days{source="secret"}': '80x120' },
      'it is a provisional one': { 'conversion_certificate_days{source="provisional"}': '1x120' },
    },
  },
  ImageWatcherDown: {
    at: '30m',
    fires: { redis_reachable: '1x10 _x20' },
    alerts: [{}],
    silent: {
      'a process runs': { 'redis_reachable{pod="a"}': '1x10 _x20', 'redis_reachable{pod="b"}': '1x30' },
      'a restart takes some minutes': { redis_reachable: '1x10 _x9 1x11' },
    },
  },
  ImageWatcherNoWorkers: {
    at: '30m',
    fires: { 'watch_connected{resource="imagepolicies"}': '1x10 _x20', redis_reachable: '1x30' },
    alerts: [{}],
    silent: {
      'a worker runs, even without the API server': { 'watch_connected{resource="imagepolicies"}': '0x30', redis_reachable: '1x30' },
      'nothing runs, which has its own alert': { redis_reachable: '1x10 _x20' },
    },
  },
  ImageWatcherProcessDown: {
    at: '30m',
    fires: {
      'up{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '1x10 0x20',
      'policies{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '5x10 _x20',
      'up{job="other",instance="10.0.0.9:80"}': '0x30',
    },
    alerts: [{ job: 'image-watcher-metrics', instance: '10.0.0.1:9090' }],
    silent: {
      'the process is gone': {
        'up{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '1x10 stale',
        'policies{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '5x10 stale',
      },
      'all processes answer': {
        'up{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '1x30',
        'policies{job="image-watcher-metrics",instance="10.0.0.1:9090"}': '5x30',
      },
    },
  },
  ImageWatcherNotificationsFail: {
    at: '60m',
    fires: {
      'notices_total{target="ops",kind="Updated",result="failed"}': '0+1x60',
      'notices_total{target="ops",kind="Updated",result="sent"}': '7x60',
    },
    alerts: [{ target: 'ops' }],
    silent: {
      'others of the target arrive': {
        'notices_total{target="ops",kind="Updated",result="failed"}': '0+1x60',
        'notices_total{target="ops",kind="Blocked",result="sent"}': '0+1x60',
      },
      'only another target accepts none for some minutes': {
        'notices_total{target="shop/chat",kind="Updated",result="failed"}': '0x50 0+1x10',
        'notices_total{target="ops",kind="Updated",result="sent"}': '0+1x60',
      },
    },
  },
  ImageWatcherApprovalsWait: {
    at: '25h',
    every: '10m',
    fires: { 'policies_in_state{state="ApprovalRequired",pod="a"}': '2x150' },
    alerts: [{}],
    silent: {
      'the last one was approved at noon': { 'policies_in_state{state="ApprovalRequired"}': '2x70 0 1x79' },
      'policies wait for something else': { 'policies_in_state{state="Waiting"}': '2x150' },
    },
  },
};
