/** What a configuration may say: its shape, its defaults, and the rules between settings. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';
import {
  authenticatesSomehow,
  filesBelongTogether,
  headersComeFirst,
  hostsAreUnambiguous,
  namesAreUnique,
  namesItsSender,
  openOnlyOnLoopback,
} from './rules.ts';
import { topicPattern } from '../receive/sns-topic.ts';
import { providerIds } from '../receive/providers/index.ts';

/** Where a secret's value is. */
export type SecretReference = z.output<typeof secretReference>;

const name = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'lower-case letters, digits and dashes, at most 63 characters');
const host = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\s/@]+$/, 'a host with an optional port, without a scheme: registry.example.com:5000');
const port = z.int().min(0).max(65_535);
const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  context.addIssue({ code: 'custom', message: `"${text}" is not a duration such as 30s, 10m or 1h30m` });
  return z.NEVER;
});
const secretReference = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
    error: 'a reference to a secret: {env: NAME} or {file: PATH}',
  })
  .describe('Where a secret is: {env: NAME} or {file: PATH}; files are read again when they change.');

const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'the name of a header');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'an address, or a network such as 10.0.0.0/8' });
const requestsPerMinute = z.int().min(1).max(100_000_000);

/** Also where something else is wrong: all problems are told at once. */
const always = { when: () => true };

/** Tokens of an OpenID provider; Google's unless another is named. */
const oidc = z
  .strictObject({
    audience: z.string().min(1).max(1_024).describe('What the token must be for: by default of Pub/Sub, the URL of the receiver.'),
    email: z.string().min(1).max(320).optional().describe("The service account that the token must be of; needed for Google's tokens."),
    issuer: z.string().min(1).max(1_024).optional().describe('Who makes the tokens; Google unless given.'),
    jwksUri: z
      .url({ protocol: /^https?$/, error: 'an https URL' })
      .optional()
      .describe("The address of the issuer's public keys; needed for every issuer but Google."),
  })
  .superRefine(namesItsSender, always)
  .describe('The sender proves itself by a bearer token that an OpenID provider made.');
const sns = z
  .strictObject({
    topics: z
      .array(z.string().regex(topicPattern, 'the ARN of a topic: arn:aws:sns:eu-west-1:123456789012:name').describe('The ARN of a topic.'))
      .min(1)
      .max(32)
      .describe('The topics that are heard; subscriptions of others are not confirmed.'),
  })
  .describe('The sender is Amazon SNS and proves itself by its signature.');

const receiver = z
  .strictObject({
    name: name.describe('The last part of its URL: POST /webhooks/NAME.'),
    provider: z.enum(providerIds, { error: `one of ${providerIds.join(', ')}` }).describe('Who sends: the form of what is received.'),
    secrets: z
      .array(secretReference)
      .min(1)
      .max(16)
      .optional()
      .describe('Secrets that the sender has one of; several of them while one is replaced.'),
    oidc: oidc.optional(),
    sns: sns.optional(),
    unauthenticated: z.boolean().default(false).describe('Whether anybody may send, without a secret, a token or a signature.'),
    registry: host.optional().describe('The registry that is meant, whatever the payload says; needed for senders that do not name one.'),
    requestsPerMinute: requestsPerMinute
      .optional()
      .describe('How many requests it takes in a minute; listen.requestsPerMinute unless given.'),
  })
  .describe('A receiver of webhooks.')
  .superRefine(authenticatesSomehow, always);

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
    .describe('How many requests are sent to it at most; no limit unless given.'),
  concurrency: z.int().min(1).max(1_000).default(8).describe('How many requests it gets at the same time at most.'),
});

const dnsName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const certificateName = z.string().refine((text) => isIP(text) !== 0 || dnsName.test(text), 'a DNS name in lower case, or an IP address');
const namespaced = (kind: string, defaultName: string) =>
  z
    .strictObject({
      name: name.default(defaultName).describe(`The name of the ${kind}.`),
      namespace: name.optional().describe(`The namespace of the ${kind}; the one this program runs in unless given.`),
    })
    .prefault({})
    .describe(`The ${kind}.`);

const conversion = z
  .strictObject({
    host: z.string().default('0.0.0.0').describe('The address that the listener for the API server listens on; always TLS.'),
    port: port.default(9443).describe('Its port; the Service for it has port 443 unless the CustomResourceDefinition says another.'),
    bodyLimitBytes: z
      .int()
      .min(1_048_576)
      .max(536_870_912)
      .default(67_108_864)
      .describe('The longest ConversionReview; one holds all objects of a list, some 2 kB each, with long histories 20 kB.'),
    service: namespaced('Service by which the API server reaches the listener', 'image-watcher-conversion'),
    names: z
      .array(certificateName)
      .max(32)
      .default([])
      .describe('More names and addresses for our own certificate, where the API server calls a URL: 127.0.0.1 in development.'),
    certFile: z
      .string()
      .min(1)
      .optional()
      .describe('The certificate and its chain, PEM, as cert-manager mounts it; read again when it changes.'),
    keyFile: z.string().min(1).optional().describe('The key of certFile, PEM.'),
    caFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The authority of certFile, PEM: the caBundle of the CustomResourceDefinition is kept equal to it; not needed with cainjector.',
      ),
    secret: namespaced('Secret that holds our own certificate authority, unless certFile is given', 'image-watcher-conversion'),
  })
  .superRefine(filesBelongTogether, always)
  .prefault({})
  .describe('The webhook by which the API server converts policies between their versions: role convert.');

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
          groupsHeader: headerName.default('X-Forwarded-Groups').describe('The header that names the groups, separated by commas.'),
          trustedPeers: z
            .array(network.describe('An address or a network.'))
            .max(64)
            .default(['127.0.0.0/8', '::1'])
            .describe('Where the proxy connects from; the headers of others are not believed.'),
        })
        .describe('The proxy in front, with auth: proxy.')
        .prefault({}),
    })
    .describe('The listener of the cluster: health, metrics and the API.')
    .superRefine(openOnlyOnLoopback)
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
  credentials: z
    .strictObject({
      secret: z
        .strictObject({
          name: z.string().min(1).describe('Name of the Secret.'),
          namespace: z.string().min(1).describe('Namespace of the Secret.'),
        })
        .describe('A Secret of type kubernetes.io/dockerconfigjson.'),
    })
    .describe('The credentials for policies without pullSecrets.')
    .default({ secret: { name: 'oci-registry-creds', namespace: 'operators' } }),
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
    .enum(['deny', 'consent', 'allow'])
    .default('consent')
    .describe('Whether policies may have targets in other namespaces: never, with the consent of their owners (an annotation), or always.'),
  log: z
    .strictObject({
      level: z
        .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
        .default('info')
        .describe('The least important level that is written. LOG_LEVEL overrides it.'),
    })
    .describe('The log, JSON on the standard output.')
    .prefault({}),
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
