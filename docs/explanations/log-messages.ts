/** What to do about each message of the log; what it means is beside its level, in src/service/telemetry/log-messages.ts. */
import type { logMessages } from '../../src/service/telemetry/log-messages.ts';

/** By message, in Markdown. Empty: there is nothing to do, whatever the fields say. */
export const logActions = {
  started: '',
  stopping: '',
  stopped: '',
  'stopping after an unexpected error': 'Report the bug with `err`. The pod is restarted, and no accepted push is lost.',

  'push accepted': '',
  'push ignored': 'Look up `reason` in [reasons](reasons.md).',
  'push not watched': 'See [`NoPolicy`](#nopolicy).',
  'policy reconciled': 'Look up `reason` in [reasons](reasons.md).',
  'delivery not authentic':
    'If the sender is yours, `why` shows what is wrong: compare its secret or token with the receiver ([authentication](receivers.md#authentication)). Otherwise an unauthorized client sends requests; they have no effect.',
  'delivery not understood': 'See [`Malformed`](#malformed).',
  'delivery refused':
    'For 503, `why` says what Redis lacks: see [`ImageWatcherRedisUnreachable`](alerts.md#imagewatcherredisunreachable) and [`ImageWatcherRedisFull`](alerts.md#imagewatcherredisfull). For 413, the sender must put fewer pushes into one delivery.',
  'delivery failed': 'Report the bug with `err`. The sender may repeat the delivery; otherwise the poll finds the image.',
  'a secret is short enough to be guessed': 'Create a longer one: `openssl rand -hex 24`. Give it to the sender and to the receiver.',
  'a secret has changed': '',
  'a secret cannot be read again, the old value stays in use':
    'Restore the file. After a restart, the receiver could not start without it.',
  'keys of a sender could not be fetched':
    'Allow connections from the receivers to the host in `why`. If the sender repeats refused deliveries, nothing is lost; otherwise the poll finds the images.',
  'subscription confirmed': '',
  'subscription not confirmed: ask SNS to send the confirmation again':
    'Allow connections from the receivers to SNS. Then request the confirmation again in the AWS console.',
  'notification target tested': '',
  'event replayed': '',
  'action requested': '',

  'user signed in to the dashboard': '',
  'sign-in at the identity provider failed':
    'Check `dashboard.oidc`, the redirect URI that is registered at the provider, and whether the process reaches it ([dashboard](dashboard.md#sign-in)).',
  'page of the dashboard cannot be shown': 'Report the bug with `why`.',

  'workload updated': '',
  'update blocked': 'Look up `reason` in [reasons](reasons.md).',
  'base policy reconciled': '',
  'base policies cannot be watched':
    'To use BaseImagePolicies, apply their definition with `image-watcher crd apply`. Nothing else depends on it.',
  'notification targets cannot be watched':
    'To use NotificationTargets, apply their definition with `image-watcher crd apply`. Nothing else depends on it.',
  'notification target not checked': 'Check the permission to patch `notificationtargets/status`.',
  'rebuild requested': '',
  'rebuild not accepted': 'Check the address, the project and the token. `status.requests` of the policy shows the same.',
  'certificates not checked': 'Check Redis; `image-watcher doctor` checks the same certificates.',
  'activity not recorded': 'Check Redis. The entries are missing in the record of activity only.',
  'record not written, will be repeated':
    'Check the folder or the bucket, and what may be written there ([the record](operations/record.md)). `image-watcher doctor` says how much waits.',
  'notices not stored': 'Check Redis. The notifications may be missing; the state of the policy is in its status.',
  'notice not accepted': 'Check the URL of the target ([notifications](notifications.md)), and whether the chat is available.',
  'notice given up':
    'The same, then see `kubectl describe ipol` for what the message would have said. `image-watcher events` shows it with its push.',
  'base policy is gone': '',
  'reconcile of a base policy failed':
    'Look up `reason` in [reasons](reasons.md). The same message is in the policy: `kubectl describe bipol NAME`.',
  'check has a verdict': 'For `Failed` and `TimedOut`, see [checks](checks.md).',
  'policy stalled': 'Look up `reason` in [reasons](reasons.md). The same message is in the policy: `kubectl describe ipol NAME`.',
  'policy waiting': 'Look up `reason` in [reasons](reasons.md).',
  'rollout finished': 'Look up `reason` on this page, unless it is `RolledOut`.',
  'rollouts finished': '',
  'registry no longer has the running tag': 'See [`TagGone`](#taggone).',
  "found by polls, not announced: check the registry's webhook, the receiver's URL, and image-watcher events":
    'See [`WebhookMissing`](#webhookmissing).',
  'reconcile failed, will be repeated':
    'Look up `reason` on this page; for [`Retrying`](#retrying), `why` contains the error. One such message now and then is normal.',
  'rollout check failed, will be repeated': 'Nothing, unless it lasts: then `why` shows what the API server or the registry answers.',
  'workload restarted after a change': '',
  'restart after a change failed, will be repeated':
    'If `why` is a missing permission, grant `get` and `patch` on the kind of the workload. Otherwise nothing, unless it lasts.',
  'pods of a rollout could not be read':
    'If `why` is a missing permission, grant `list` on `pods` and `replicasets`. Without it, failures are detected only by `spec.rollout.timeout` or by the controller.',
  'failure could not be reported': 'Nothing, unless it lasts: `why` shows whether the API server or Redis fails.',
  'shared manifest request failed': '',
  'event not recorded': 'If `why` is a missing permission, grant `create` on `events` (`events.k8s.io`).',

  'registry failing, circuit open': 'See [`RegistryUnavailable`](#registryunavailable); `why` shows the last failure.',
  'registry failed, details': 'Read `why` if a policy shows a failure of this host without details.',
  'registry answering, circuit closed': '',

  'crossNamespace: legacy lets policies update workloads of other namespaces without consent: run "image-watcher consents", then use consent':
    'Do what the message says ([upgrading](upgrading.md#targets-in-other-namespaces)).',
  'caches are complete': '',
  'watch failed, will be repeated':
    'One such message is normal, for example when the API server restarts. If it lasts, see [`ImageWatcherBlind`](alerts.md#imagewatcherblind).',
  'an optional watch is forbidden':
    'Nothing if you withheld the permission on purpose. Otherwise grant it ([security](security.md)); `without` shows what it is for.',
  'jobs not enqueued, will be repeated': 'Nothing, unless it lasts: then check Redis.',
  'queue connection error': 'Nothing, unless it lasts: the command is repeated. Then check Redis; `why` shows what it answered.',
  'redis answers': '',
  'redis answers, but not with the database of its URL': 'Correct the number at the end of `redis.url`, and restart.',
  'redis answers, but may lose accepted pushes': 'See [`ImageWatcherRedisNotDurable`](alerts.md#imagewatcherredisnotdurable).',
  'redis nearly full, finished work is trimmed early': 'See [`ImageWatcherRedisFull`](alerts.md#imagewatcherredisfull).',
  'redis could not be trimmed': 'See [`ImageWatcherRedisFull`](alerts.md#imagewatcherredisfull); `why` shows what Redis answered.',
  'redis full, record not written': 'See [`ImageWatcherRedisFull`](alerts.md#imagewatcherredisfull).',
  'redis does not answer': 'Do what `remedy` says. See also [`ImageWatcherRedisUnreachable`](alerts.md#imagewatcherredisunreachable).',
  'redis connection error': '',
  'push queue error': '',
  'ages of queues could not be read': '',
  'event queue error': '',
  'events cannot be read': 'Check Redis; `why` shows what failed.',
  'caller cannot be authenticated':
    'If `why` is a missing permission, bind the ClusterRole `system:auth-delegator` to the service account ([the API](operations/api.md)). Otherwise check the API server.',

  'conversion certificate in use': '',
  'conversion certificate renewed': '',
  'conversion certificate failed, will be retried':
    'If it lasts, `why` shows what is missing: a permission on the Secret or on the CustomResourceDefinition, or the API server. See [`ImageWatcherCertificateEnds`](alerts.md#imagewatchercertificateends).',
  'conversion certificate: the files cannot be used as they are':
    'Correct the files of `conversion.certFile` and `conversion.keyFile`: `why` shows what is wrong with them. They are read again by themselves.',
  'the API server trusts the conversion certificate now': '',
  'conversion is off: the CustomResourceDefinition has v1 alone, and no webhook':
    'If policies in v1alpha1 should work, run `image-watcher crd apply`.',
  'caBundle unchanged': '',
  'conversion refused': 'See [`ImageWatcherConversionFails`](alerts.md#imagewatcherconversionfails).',
  'conversion client refused': '',
  'conversion failed': 'Report the bug with `err`, and see [`ImageWatcherConversionFails`](alerts.md#imagewatcherconversionfails).',

  'traces cannot be exported, and are lost until they can': 'Check `traces.endpoint` and the collector. Updates do not depend on it.',
  'traces are exported again': '',
  'traces are incomplete: spans come faster than the collector takes them':
    'Lower `traces.sampleRatio`, or give the collector more resources.',
  'trace memory error': '',
} as const satisfies Readonly<Record<keyof typeof logMessages, string>>;
