/** The configuration: a YAML file and a few variables of the environment, checked as a whole, frozen. Nothing else reads process.env. */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { parseDuration } from './core/duration.ts';
import { normaliseRegistry } from './core/image-reference.ts';
import { providerIds } from './receive/providers/index.ts';

export type Config = z.output<typeof configSchema>;
export type ReceiverConfig = Config['receivers'][number];
export type RegistryConfig = Config['registries'][number];

/** One thing that is wrong: `receivers[0].provider: …`. */
export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** The configuration cannot be used; `problems` has everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[]) {
    super([`${source}: ${problems.length} problem(s)`, ...problems.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'));
    this.problems = problems;
  }
}

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
const secretReference = z.union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
  error: 'a reference to a secret: {env: NAME} or {file: PATH}',
});

/** Also where something else is wrong: all problems are told at once. */
const always = { when: () => true };

const receiver = z
  .strictObject({
    name,
    provider: z.enum(providerIds, { error: `one of ${providerIds.join(', ')}` }),
    secrets: z.array(secretReference).min(1).max(16).optional(),
    unauthenticated: z.boolean().default(false),
    registry: host.optional(),
  })
  .superRefine(authenticatesSomehow, always);

const registry = z.strictObject({
  host,
  aliases: z.array(host).max(32).default([]),
  insecure: z.boolean().default(false),
  caFile: z.string().min(1).optional(),
  requestsPerSecond: z.number().positive().max(10_000).optional(),
  concurrency: z.int().min(1).max(1_000).default(8),
});

const configSchema = z.strictObject({
  listen: z
    .strictObject({
      host: z.string().default('0.0.0.0'),
      port: port.default(8080),
      bodyLimitBytes: z.int().min(1024).max(67_108_864).default(1_048_576),
      requestsPerMinute: z.int().min(1).default(60_000),
    })
    .prefault({}),
  operations: z
    .strictObject({
      host: z.string().default('0.0.0.0'),
      port: port.default(9090),
      auth: z.enum(['kubernetes', 'proxy', 'none']).default('kubernetes'),
    })
    .superRefine(openOnlyOnLoopback)
    .prefault({}),
  redis: z
    .strictObject({
      url: z.url({ protocol: /^rediss?$/, hostname: /./, error: 'a URL such as redis://redis:6379/0' }).default('redis://redis:6379/0'),
      prefix: z.string().min(1).max(64).default('{image-watcher}'),
      durability: z.enum(['warn', 'enforce', 'ignore']).default('warn'),
      minReplicas: z.int().min(0).max(16).default(0),
    })
    .prefault({}),
  receivers: z.array(receiver).max(1_000).superRefine(namesAreUnique, always).default([]),
  registries: z.array(registry).max(1_000).superRefine(hostsAreUnambiguous, always).default([]),
  allowedRegistries: z.array(host).max(1_000).default([]),
  credentials: z
    .strictObject({ secret: z.strictObject({ name: z.string().min(1), namespace: z.string().min(1) }) })
    .default({ secret: { name: 'oci-registry-creds', namespace: 'operators' } }),
  watch: z.strictObject({ namespaces: z.array(z.string().min(1)).max(1_000).default([]) }).prefault({}),
  poll: z.strictObject({ interval: duration.default(3_600_000) }).prefault({}),
  crossNamespace: z.enum(['deny', 'consent', 'allow']).default('consent'),
  log: z.strictObject({ level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info') }).prefault({}),
});

/** What can be read of the receivers' secrets, however wrong the rest is. */
const readableReceivers = z
  .object({
    receivers: z.array(
      z.object({ name: z.string().catch(''), secrets: z.array(secretReference).catch([]) }).catch({ name: '', secrets: [] }),
    ),
  })
  .catch({ receivers: [] });

/** Where a configuration comes from; process.env and the file system outside of tests. */
export interface ConfigSource {
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Everything that the program knows from its start: configuration, and what only the environment says. */
export interface Settings {
  readonly config: Config;
  readonly kubeconfig: string | undefined;
  /** The values of each receiver's secrets, by the receiver's name; read at the start. */
  readonly secretsOf: (receiver: string) => readonly string[];
}

/** Reads, merges and checks the configuration; throws ConfigError with all problems at once. */
export function loadSettings(source: ConfigSource): Settings {
  const file = source.file ?? source.env['IMAGE_WATCHER_CONFIG'];
  const label = file ?? 'configuration';
  const raw = withEnvironment(file === undefined ? {} : readYaml(file), source.env, label);
  const parsed = configSchema.safeParse(raw);
  const { secrets, problems } = readSecrets(readableReceivers.parse(raw).receivers, source.env);
  if (!parsed.success) throw new ConfigError(label, [...parsed.error.issues.flatMap(toProblems), ...problems]);
  if (problems.length > 0) throw new ConfigError(label, problems);
  const config = deepFreeze(parsed.data);
  return { config, kubeconfig: kubeconfigOf(source), secretsOf: (receiver) => secrets.get(receiver) ?? [] };
}

/** The kubeconfig that the environment names. */
export function kubeconfigOf({ env }: ConfigSource): string | undefined {
  return env['KUBECONFIG'] || undefined;
}

/** Other names of registries, as image names are normalised with. */
export function registryAliases(config: Pick<Config, 'registries'>): Map<string, string> {
  return new Map(
    config.registries.flatMap(({ host, aliases }) => aliases.map((alias) => [normaliseRegistry(alias), normaliseRegistry(host)])),
  );
}

/** The environment of this process, as a source. */
export function processSource(file?: string): ConfigSource {
  return { file, env: process.env };
}

function readYaml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [{ path: '(file)', message: `cannot be read: ${error instanceof Error ? error.message : String(error)}` }]);
  }
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    throw new ConfigError(
      file,
      document.errors.map((error) => ({ path: '(file)', message: error.message.split('\n')[0] ?? 'not YAML' })),
    );
  }
  return document.toJS() ?? {};
}

function withEnvironment(raw: unknown, env: ConfigSource['env'], label: string): unknown {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    throw new ConfigError(label, [{ path: '(file)', message: 'must hold settings as keys and values' }]);
  }
  const merged: Record<string, unknown> = { ...raw };
  const override = (section: string, key: string, value: unknown) => {
    const present = merged[section];
    merged[section] = { ...(typeof present === 'object' ? present : {}), [key]: value };
  };
  if (env['REDIS_URL']) override('redis', 'url', env['REDIS_URL']);
  if (env['LOG_LEVEL']) override('log', 'level', env['LOG_LEVEL']);
  if (env['PORT']) override('listen', 'port', Number(env['PORT']));
  return merged;
}

function readSecrets(
  receivers: z.output<typeof readableReceivers>['receivers'],
  env: ConfigSource['env'],
): { secrets: Map<string, string[]>; problems: ConfigProblem[] } {
  const secrets = new Map<string, string[]>();
  const problems: ConfigProblem[] = [];
  for (const [index, receiver] of receivers.entries()) {
    const values = receiver.secrets.map((reference, position) => {
      try {
        return readSecret(reference, env);
      } catch (error) {
        problems.push({
          path: `receivers[${index}].secrets[${position}]`,
          message: error instanceof Error ? error.message : String(error),
        });
        return '';
      }
    });
    secrets.set(receiver.name, values);
  }
  return { secrets, problems };
}

function readSecret(reference: z.output<typeof secretReference>, env: ConfigSource['env']): string {
  const value = 'env' in reference ? env[reference.env] : readFileSync(reference.file, 'utf8').replace(/\r?\n$/, '');
  const where = 'env' in reference ? `the environment variable ${reference.env}` : reference.file;
  if (value === undefined) throw new Error(`${where} is not set`);
  if (value === '') throw new Error(`${where} is empty`);
  return value;
}

// The checks below see values that may be wrong in other ways.
interface Draft {
  readonly [key: string]: unknown;
}

function authenticatesSomehow(receiver: Draft | null, context: z.RefinementCtx): void {
  if (typeof receiver !== 'object' || receiver === null || Array.isArray(receiver)) return;
  const report = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  if (receiver['secrets'] === undefined && receiver['unauthenticated'] !== true) {
    report('secrets', 'missing: name at least one secret, or say unauthenticated: true');
  }
  if (receiver['secrets'] !== undefined && receiver['unauthenticated'] === true) {
    report('unauthenticated', 'contradicts secrets: remove one of them');
  }
}

function openOnlyOnLoopback({ host, auth }: { host: string; auth: string }, context: z.RefinementCtx): void {
  if (auth !== 'none' || isLoopback(host)) return;
  const message = `none is only for a listener on loopback, and this one is on ${host}: set operations.host to 127.0.0.1, or auth to kubernetes`;
  context.addIssue({ code: 'custom', path: ['auth'], message });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function namesAreUnique(receivers: readonly (Draft | null)[], context: z.RefinementCtx): void {
  if (!Array.isArray(receivers)) return;
  const seen = new Set<unknown>();
  for (const [index, receiver] of receivers.entries()) {
    const name = receiver?.['name'];
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${String(name)}" is used twice` });
    if (typeof name === 'string') seen.add(name);
  }
}

function hostsAreUnambiguous(registries: readonly (Draft | null)[], context: z.RefinementCtx): void {
  if (!Array.isArray(registries)) return;
  const seen = new Map<string, string>();
  for (const [index, registry] of registries.entries()) {
    const aliases: readonly unknown[] = Array.isArray(registry?.['aliases']) ? registry['aliases'] : [];
    const names = [['host', registry?.['host']] as const, ...aliases.map((alias, position) => [position, alias] as const)];
    for (const [key, text] of names) {
      if (typeof text !== 'string') continue;
      const other = seen.get(normaliseRegistry(text));
      seen.set(normaliseRegistry(text), String(registry?.['host']));
      if (other === undefined) continue;
      const path = key === 'host' ? [index, key] : [index, 'aliases', key];
      context.addIssue({ code: 'custom', path, message: `"${text}" is already a name of ${other}` });
    }
  }
}

/** zod tells unknown keys of one object as one issue; a user wants each with its own path. */
function toProblems(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: formatPath([...issue.path, key]), message: 'is not a setting' }));
  }
  return [{ path: formatPath(issue.path), message: issue.message }];
}

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text.replace(/^\./, '') || '(file)';
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
