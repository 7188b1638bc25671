/** What a configuration may say: its shape, its defaults, and the rules between settings. */
import { z } from 'zod';
import { conversion } from './conversion.ts';
import { credentials } from './credentials.ts';
import { customTargets } from './custom-targets.ts';
import { receiver } from './receiver.ts';
import { headersComeFirst, hostsAreUnambiguous, namesAreUnique, openOnlyOnLoopback, proxyIsKnown, redisIsOfOneForm } from './rules.ts';
import { always, duration, headerName, host, name, network, port, requestsPerMinute, secretReference } from './scalars.ts';
import { traces } from './traces.ts';

const registry = z.strictObject({
  host: host.describe('The host, with its port: registry.example.com:5000.'),
  aliases: z
    .array(host.describe('Another name.'))
    .max(32)
    .default([])
    .describe('Other names of the same registry, in payloads and in the images of workloads.'),
  insecure: z.boolean().default(false).describe('Whether it is spoken to in plain http; never assumed.'),
  caFile: z.string().min(1).optional().describe('The authorities that its certificate is checked with, PEM.'),
  requestsPerSecond: z
    .number()
    .positive()
    .max(10_000)
    .optional()
    .describe('How many requests are sent to it at most, of all replicas together; no limit unless given.'),
  concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('How many requests it gets at the same time at most, of all replicas together; 8 of each replica unless given.'),
});

/** The whole of it. */
export const configSchema = z.strictObject({
  listen: z
    .strictObject({
      host: z.string().default('0.0.0.0').describe('The address to listen on.'),
      port: port.default(8080).describe('The port; 0 is any free one. PORT overrides it.'),
      bodyLimitBytes: z.int().min(1024).max(67_108_864).default(1_048_576).describe('The longest payload; longer ones are answered 413.'),
      maxHeaderBytes: z
        .int()
        .min(4_096)
        .max(1_048_576)
        .default(16_384)
        .describe('All headers of a request together; more are answered 431.'),
      requestsPerMinute: requestsPerMinute
        .default(60_000)
        .describe('How many requests one receiver takes in a minute, of all replicas together; more are answered 429.'),
      headersTimeout: duration.default(10_000).describe('How long the headers of a request may take.'),
      requestTimeout: duration.default(20_000).describe('How long a request may take with its body; slower ones are answered 408.'),
      confirmWithin: duration
        .refine((value) => value <= 10_000, 'at most 10s: no sender waits longer')
        .default(2_000)
        .describe(
          'How long the answer to a delivery may wait for Redis to confirm that it is stored, 10s at most; after that it is 503. Senders wait 3 s (Harbor) to 10 s.',
        ),
      keepAliveTimeout: duration
        .default(72_000)
        .describe('How long a connection may be idle; longer than the load balancer in front keeps it.'),
      maxConnections: z.int().min(1).max(1_000_000).default(10_000).describe('How many connections there may be; more are closed at once.'),
    })
    .describe('The public listener, for webhooks only.')
    .superRefine(headersComeFirst, always)
    .prefault({}),
  operations: z
    .strictObject({
      host: z.string().default('0.0.0.0').describe('The address to listen on.'),
      port: port.default(9090).describe('The port; 0 is any free one.'),
      auth: z
        .enum(['kubernetes', 'proxy', 'none'])
        .default('kubernetes')
        .describe(
          'Who may ask. kubernetes: a bearer token and its rights. proxy: whom a trusted proxy names. none: anybody, on loopback only.',
        ),
      proxy: z
        .strictObject({
          userHeader: headerName.default('X-Forwarded-User').describe('The header that names the user.'),
          groupsHeader: headerName
            .optional()
            .describe(
              'The header that names the groups, separated by commas; the proxy has to set it in every request. Without it users have no groups.',
            ),
          secret: secretReference
            .optional()
            .describe('What only the proxy knows, at least 16 characters: {env: NAME} or {file: PATH}. Required with auth: proxy.'),
          secretHeader: headerName.default('X-Proxy-Secret').describe('The header in which the proxy sends the secret.'),
          trustedPeers: z
            .array(network.describe('An address or a network.'))
            .max(64)
            .default(['127.0.0.0/8', '::1'])
            .describe('Where the proxy connects from; requests from elsewhere are refused, even with the secret.'),
        })
        .describe('The proxy in front, with auth: proxy.')
        .prefault({}),
    })
    .describe('The listener of the cluster: health, metrics and the API.')
    .superRefine(openOnlyOnLoopback)
    .superRefine(proxyIsKnown)
    .prefault({}),
  conversion,
  namespace: name
    .optional()
    .describe('The namespace this program runs in; what the service account says unless given, else image-watcher.'),
  redis: z
    .strictObject({
      url: z
        .url({ protocol: /^rediss?$/, hostname: /./, error: 'a URL such as redis://redis:6379/0' })
        .default('redis://redis:6379/0')
        .describe('Where Redis is: redis:// or, with TLS, rediss://. REDIS_URL overrides it.'),
      password: secretReference
        .optional()
        .describe(
          'Its password, instead of one in `url`: {env: NAME} or {file: PATH}, read at the start. The user, if there is one, stays in `url`.',
        ),
      sentinels: z
        .array(host.describe('A host, with its port if it is not 26379.'))
        .max(64)
        .default([])
        .describe(
          'The Sentinels that know where Redis is: then the host of `url` is the name of their group. They are asked over TLS where `url` begins with rediss:. Their own password, if they have one, is in REDIS_SENTINEL_PASSWORD.',
        ),
      cluster: z.boolean().default(false).describe('Whether it is a Redis Cluster: then `url` is any of its nodes.'),
      prefix: z
        .string()
        .min(1)
        .max(64)
        .default('{image-watcher}')
        .describe('What all keys begin with; the braces keep them in one slot of a Cluster.'),
      durability: z
        .enum(['warn', 'enforce', 'ignore'])
        .default('warn')
        .describe('What to do when Redis may lose what it accepted (no AOF, or eviction): log it, take no pushes (503), or nothing.'),
      minReplicas: z.int().min(0).max(16).default(0).describe('How many replicas must have a push before it is accepted.'),
    })
    .describe('Redis, which keeps what was accepted.')
    .superRefine(redisIsOfOneForm)
    .prefault({}),
  receivers: z
    .array(receiver)
    .max(1_000)
    .describe('Who may announce pushes, each under a URL of its own.')
    .superRefine(namesAreUnique, always)
    .default([]),
  registries: z
    .array(registry.describe('A registry.'))
    .max(1_000)
    .describe('Registries that need something else than the defaults; others may be used all the same.')
    .superRefine(hostsAreUnambiguous, always)
    .default([]),
  allowedRegistries: z
    .array(host.describe('A host.'))
    .max(1_000)
    .default([])
    .describe('The hosts that policies may name; empty: all but link-local and metadata addresses.'),
  credentials,
  verification: z
    .strictObject({
      trustRootFile: z
        .string()
        .min(1)
        .optional()
        .describe('The certificate authorities and logs that keyless signatures are verified with: a trusted_root.json of Sigstore.'),
    })
    .describe('What signatures of images are verified with, besides the keys of the policies.')
    .prefault({}),
  watch: z
    .strictObject({
      namespaces: z
        .array(z.string().min(1).describe('A namespace.'))
        .max(1_000)
        .default([])
        .describe('The namespaces whose policies and workloads are watched; empty: all.'),
    })
    .describe('What is watched.')
    .prefault({}),
  poll: z
    .strictObject({
      interval: duration
        .default(3_600_000)
        .describe(
          'How often registries are asked for what no webhook announced, where the policy says nothing else: 30s, 10m, 1h30m. 1h unless given.',
        ),
    })
    .describe('The fallback for webhooks that never came.')
    .prefault({}),
  crossNamespace: z
    .enum(['deny', 'consent', 'allow', 'legacy'])
    .default('consent')
    .describe(
      'Whether policies may have targets in other namespaces: never, with the consent of their owners (an annotation), or always. legacy, for a while after an upgrade from the older operator: as consent, but policies that say nothing that v1alpha1 could not say keep their one Deployment where nobody answered.',
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
          'How often a container may be changed to one and the same image within an hour: more means that something changes it back.',
        ),
    })
    .describe('What keeps changes from doing harm.')
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
        .default('info')
        .describe('The least important level that is written. LOG_LEVEL overrides it.'),
    })
    .describe('The log, JSON on the standard output.')
    .prefault({}),
  traces,
});

/** What can be read of the receivers' secrets, however wrong the rest is. */
export const readableReceivers = z
  .object({
    receivers: z.array(
      z
        .object({ name: z.string().catch(''), provider: z.string().catch(''), secrets: z.array(secretReference).catch([]) })
        .catch({ name: '', provider: '', secrets: [] }),
    ),
  })
  .catch({ receivers: [] });
