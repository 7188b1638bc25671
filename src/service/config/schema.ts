/** The schema of the configuration: its settings with their descriptions, defaults and rules. */
import { z } from 'zod';
import { checks } from './checks.ts';
import { consents } from './consents.ts';
import { conversion } from './conversion.ts';
import { credentials } from './credentials.ts';
import { customTargets } from './custom-targets.ts';
import { notifications } from './notifications.ts';
import { namespaceSelector, policyDefaults } from './policy-defaults.ts';
import { receiver } from './receiver.ts';
import { registryProxy } from './proxies.ts';
import { dashboard } from './dashboard.ts';
import { headersComeFirst, hostsAreUnambiguous, labelsAreWatched, namesAreUnique, redisIsOfOneForm } from './rules.ts';
import { always, duration, host, name, port, requestsPerMinute, secretReference } from './scalars.ts';
import { operations } from './operations.ts';
import { record } from './record.ts';
import { traces } from './traces.ts';

const registry = z.strictObject({
  host: host.describe('The host, with its port: registry.example.com:5000.'),
  aliases: z
    .array(host.describe('Another name.'))
    .max(32)
    .default([])
    .describe('Other names of the same registry, in payloads and in the images of workloads.'),
  insecure: z.boolean().default(false).describe('Whether to use plain http. Without this setting, https is always used.'),
  caFile: z.string().min(1).optional().describe('A PEM file with the certificate authorities that its certificate is verified with.'),
  proxy: registryProxy,
  requestsPerSecond: z
    .number()
    .positive()
    .max(10_000)
    .optional()
    .describe('The maximum number of requests per second, over all replicas together; no limit by default.'),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('The maximum number of concurrent requests, over all replicas together. The default is 8 per replica.'),
});

/** Schema of the complete configuration. */
export const configSchema = z
  .strictObject({
    listen: z
      .strictObject({
        host: z.string().default('0.0.0.0').describe('The address to listen on.'),
        port: port.default(8080).describe('The port; 0 means any free port. The environment variable PORT overrides it.'),
        bodyLimitBytes: z
          .int()
          .min(1024)
          .max(67_108_864)
          .default(1_048_576)
          .describe('The maximum size of a request body; a larger body is answered 413.'),
        maxHeaderBytes: z
          .int()
          .min(4_096)
          .max(1_048_576)
          .default(16_384)
          .describe('The maximum size of all headers of a request together; larger headers are answered 431.'),
        requestsPerMinute: requestsPerMinute
          .default(60_000)
          .describe(
            'The maximum number of requests per minute for one receiver, over all replicas together; requests beyond it are answered 429.',
          ),
        headersTimeout: duration.prefault('10s').describe('How long the headers of a request may take.'),
        requestTimeout: duration
          .prefault('20s')
          .describe('How long a request may take, including its body; a slower request is answered 408.'),
        confirmWithin: duration
          .refine((value) => value <= 10_000, 'must be at most 10s: no sender waits longer')
          .prefault('2s')
          .describe(
            'How long a delivery may wait for Redis to confirm that it is stored, at most 10s; after that the answer is 503. Senders wait between 3 s (Harbor) and 10 s.',
          ),
        keepAliveTimeout: duration
          .prefault('72s')
          .describe('How long a connection may be idle. Must be longer than the idle timeout of the load balancer in front.'),
        maxConnections: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(10_000)
          .describe('The maximum number of connections; further ones are closed at once.'),
      })
      .describe('The public listener, for webhooks only.')
      .superRefine(headersComeFirst, always)
      .prefault({}),
    operations,
    dashboard,
    cluster: z
      .strictObject({
        name: z
          .string()
          .max(63)
          .regex(/^[A-Za-z0-9](?:[\w. -]*[A-Za-z0-9])?$/, 'letters, digits, dots, dashes, underscores and spaces')
          .optional()
          .describe('A name for people, such as prod-eu: pages show it in their title and header, and messages begin with it.'),
      })
      .describe('The cluster that this installation changes.')
      .prefault({}),
    conversion,
    namespace: name
      .optional()
      .describe('The namespace in which image-watcher runs. The default is the namespace of its service account, or else image-watcher.'),
    redis: z
      .strictObject({
        url: z
          .url({ protocol: /^rediss?$/, hostname: /./, error: 'a URL such as redis://redis:6379/0' })
          .default('redis://redis:6379/0')
          .describe('The URL of Redis: redis://, or rediss:// for TLS. The environment variable REDIS_URL overrides it.'),
        password: secretReference
          .optional()
          .describe('The password, if it is not in `url`: {env: NAME} or {file: PATH}, read at the start. A user name stays in `url`.'),
        sentinels: z
          .array(host.describe('A host, with its port if it is not 26379.'))
          .max(64)
          .default([])
          .describe(
            'The addresses of Redis Sentinels. With Sentinels, the host in `url` is the name of their group. They are reached over TLS if `url` begins with rediss:. Their own password, if they have one, is in the environment variable REDIS_SENTINEL_PASSWORD.',
          ),
        cluster: z.boolean().default(false).describe('Whether Redis is a Redis Cluster; `url` is then any of its nodes.'),
        prefix: z
          .string()
          .min(1)
          .max(64)
          .default('{image-watcher}')
          .describe('The prefix of all keys. The braces keep all keys in one slot of a Cluster.'),
        durability: z
          .enum(['warn', 'enforce', 'ignore'])
          .default('warn')
          .describe(
            'What to do if Redis can lose accepted pushes (no AOF, or eviction). warn: log a warning. enforce: answer deliveries with 503. ignore: nothing.',
          ),
        minReplicas: z
          .int()
          .min(0)
          .max(16)
          .default(0)
          .describe('The number of Redis replicas that must have a push before it is accepted.'),
      })
      .describe('Redis stores the accepted pushes and the queue.')
      .superRefine(redisIsOfOneForm)
      .prefault({}),
    receivers: z
      .array(receiver)
      .max(1_000)
      .describe('The endpoints that accept pushes. Each receiver has its own URL.')
      .superRefine(namesAreUnique, always)
      .default([]),
    registries: z
      .array(registry.describe('A registry.'))
      .max(1_000)
      .describe('Registries that need other settings than the defaults. A registry does not have to be listed to be used.')
      .superRefine(hostsAreUnambiguous, always)
      .default([]),
    allowedRegistries: z
      .array(host.describe('A host.'))
      .max(1_000)
      .default([])
      .describe('The registry hosts that policies may use. If the list is empty: all hosts except link-local and metadata addresses.'),
    triggers: z
      .strictObject({
        hosts: z
          .array(
            z
              .string()
              .max(300)
              .regex(
                /^(?:http:\/\/)?[a-z0-9.-]+(?::[0-9]{1,5})?$/,
                'a host such as "gitlab.example.com", or "http://el-rebuild.ci:8080" for plain http',
              )
              .describe('A host.'),
          )
          .max(100)
          .default([])
          .describe(
            'The CI systems that BaseImagePolicies may request rebuilds from, in addition to api.github.com and gitlab.com: "gitlab.example.com", or with "http://" those that are called without TLS.',
          ),
      })
      .describe('Requests to CI systems.')
      .prefault({}),
    notifications,
    checks,
    credentials,
    verification: z
      .strictObject({
        trustRootFile: z
          .string()
          .min(1)
          .optional()
          .describe(
            'A trusted_root.json of Sigstore, with the certificate authorities and transparency logs that keyless signatures are verified with.',
          ),
      })
      .describe('What image signatures are verified with, in addition to the keys in the policies.')
      .prefault({}),
    watch: z
      .strictObject({
        namespaces: z
          .array(z.string().min(1).describe('A namespace.'))
          .max(1_000)
          .default([])
          .describe('The namespaces whose policies and workloads are watched. If the list is empty: all namespaces.'),
        namespaceSelector,
      })
      .describe('Which part of the cluster is watched.')
      .prefault({}),
    poll: z
      .strictObject({
        interval: duration
          .prefault('1h')
          .describe('How often registries are polled for images that no webhook announced. A policy can override it.'),
      })
      .describe('Polling finds images whose webhooks never arrived.')
      .prefault({}),
    policyDefaults,
    crossNamespace: z
      .enum(['deny', 'consent', 'allow', 'legacy'])
      .default('consent')
      .describe(
        'Whether policies may have targets in other namespaces. deny: no. consent: only with the consent of the owners of the target (an annotation). allow: yes. legacy (temporarily, after an upgrade from the v1alpha1 operator): like consent, but a policy that uses only what v1alpha1 can express keeps its one Deployment while the owners have neither consented nor refused.',
      ),
    consents,
    admissionPolicy: z
      .boolean()
      .default(false)
      .describe(
        'Whether the admission policy of the chart is installed, which lets nobody approve in the name of somebody else. The chart sets it together with the policy. Without it, policies with update.approvals are Stalled.',
      ),
    customTargets,
    guards: z
      .strictObject({
        repeatsPerHour: z
          .int()
          .min(1)
          .max(10)
          .default(5)
          .describe(
            'How often a container may be changed to the same image within an hour. More changes than that mean that something else keeps reverting the image.',
          ),
      })
      .describe('Limits for changes.')
      .prefault({}),
    record,
    metrics: z
      .strictObject({
        policies: z
          .int()
          .min(0)
          .max(10_000)
          .default(0)
          .describe(
            'The maximum number of policies that get a metric of their own, `image_watcher_policy_ready`; 0: none. See [Many namespaces](many-namespaces.md#the-state-of-each-policy-in-prometheus).',
          ),
      })
      .describe('The metrics at `/metrics`.')
      .prefault({}),
    log: z
      .strictObject({
        level: z
          .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
          .default('info')
          .describe('The lowest level that is written. The environment variable LOG_LEVEL overrides it.'),
      })
      .describe('The log: JSON lines on standard output.')
      .prefault({}),
    traces,
  })
  .superRefine(labelsAreWatched);

/** The parts of receivers that reading their secrets needs. The schema accepts any other value, so that errors in secrets are reported with all others. */
export const readableReceivers = z
  .object({
    receivers: z.array(
      z
        .object({ name: z.string().catch(''), provider: z.string().catch(''), secrets: z.array(secretReference).catch([]) })
        .catch({ name: '', provider: '', secrets: [] }),
    ),
  })
  .catch({ receivers: [] });
