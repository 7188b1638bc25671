/** The configuration: a YAML file and a few variables of the environment, checked as a whole, frozen. Nothing else reads process.env. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { configSchema, readableReceivers } from './config/schema.ts';
import { minSecretLength, openSecret, openSecrets, type SecretStore } from './config/secrets.ts';
import type { SecretReference } from './config/scalars.ts';
import { openTraceSettings, type TraceSettings } from './config/traces.ts';
import { defaultPerMinute, publicGithub } from './model/notification-target.ts';
import type { ConfiguredTarget } from './notify/deliver.ts';
import { normaliseRegistry } from './model/image-reference.ts';
import { providers } from './receive/providers/index.ts';
import { provesNothing } from './receive/providers/headers.ts';
import type { AzureIdentity } from './registry/credentials/azure.ts';
import { isObject } from './model/untyped.ts';

export type Config = z.output<typeof configSchema>;
export type ReceiverConfig = Config['receivers'][number];
export type RegistryConfig = Config['registries'][number];

/** An error in the configuration, with its path: `receivers[0].provider`. */
export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** The configuration is invalid; `problems` lists all errors. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[]) {
    super([`${source}: ${problems.length} problem(s)`, ...problems.map(({ path, message }) => `  ${path}: ${message}`)].join('\n'));
    this.problems = problems;
  }
}

/** The source of a configuration: a file and environment variables. */
export interface ConfigSource {
  /** A file, or a folder whose `*.yaml` files are merged. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file with the namespace of the pod; that of its service account unless given. */
  readonly namespaceFile?: string;
}

/** The configuration, and the settings and secrets that come from the environment or files. */
export interface Settings {
  readonly config: Config;
  readonly kubeconfig: string | undefined;
  /** Where a pod finds the API server. */
  readonly pod: ReturnType<typeof podOf>;
  /** The Azure workload identity of the pod; undefined outside of Azure. */
  readonly azure: AzureIdentity | undefined;
  /** The password of Redis if it is not in the URL (redis.password). */
  readonly redisPassword: string | undefined;
  /** The password of the Redis Sentinels, if they have one. */
  readonly sentinelPassword: string | undefined;
  /** The namespace that this process runs in. */
  readonly namespace: string;
  /** The current secrets of a receiver by its name; those in files are read again when they change. */
  readonly secretsOf: (receiver: string) => readonly string[];
  readonly secrets: Pick<SecretStore, 'reread' | 'guessable'>;
  /** The current secret of the proxy in front of the API (operations.proxy.secret). */
  readonly proxySecret: () => string | undefined;
  /** The current secrets of the dashboard (dashboard.sessionSecret, dashboard.oidc.clientSecret). */
  readonly dashboardSecrets: { readonly session: () => string | undefined; readonly oidcClient: () => string | undefined };
  /** The targets of notifications, with their current secrets. */
  readonly notificationTargets: readonly ConfiguredTarget[];
  /** The settings of traces; undefined if they are off. */
  readonly traces: TraceSettings | undefined;
}

/** Reads, merges and checks the configuration; throws ConfigError with all problems at once. */
export function loadSettings(source: ConfigSource): Settings {
  const file = source.file ?? source.env['IMAGE_WATCHER_CONFIG'];
  const label = file ?? 'configuration';
  const raw = withEnvironment(file === undefined ? {} : readFiles(file), source.env, label);
  const parsed = configSchema.safeParse(raw);
  const secrets = openSecrets(readableReceivers.parse(raw).receivers.map(toSecretHolder), source.env);
  const traces = openTraceSettings(parsed.data?.traces, source.env);
  const proxySecret = openLong('operations.proxy.secret', parsed.data?.operations.proxy.secret, source.env);
  const redisPassword = openOptional('redis.password', parsed.data?.redis.password, source.env);
  const notified = parsed.success ? openTargets(parsed.data.notifications, source.env) : [];
  const session = openLong('dashboard.sessionSecret', parsed.data?.dashboard.sessionSecret, source.env);
  const oidcClient = openOptional('dashboard.oidc.clientSecret', parsed.data?.dashboard.oidc?.clientSecret, source.env);
  const problems = [secrets, traces, proxySecret, redisPassword, session, oidcClient, ...notified].flatMap((one) => one.problems);
  if (!parsed.success) throw new ConfigError(label, [...parsed.error.issues.flatMap(toProblems), ...problems]);
  if (problems.length > 0) throw new ConfigError(label, problems);
  const config = deepFreeze(parsed.data);
  return {
    config,
    kubeconfig: kubeconfigOf(source),
    pod: podOf(source),
    azure: azureIdentityOf(source.env),
    redisPassword: redisPassword.read(),
    sentinelPassword: source.env['REDIS_SENTINEL_PASSWORD'] || undefined,
    namespace: config.namespace ?? readNamespace(source) ?? 'image-watcher',
    secretsOf: secrets.of,
    secrets,
    proxySecret: proxySecret.read,
    dashboardSecrets: { session: session.read, oidcClient: oidcClient.read },
    notificationTargets: notified.map(({ target }) => target),
    traces: traces.settings,
  };
}

interface OpenSecret {
  readonly read: () => string | undefined;
  readonly problems: readonly ConfigProblem[];
}

function openOptional(path: string, reference: SecretReference | undefined, env: ConfigSource['env']): OpenSecret {
  if (reference === undefined) return { read: () => undefined, problems: [] };
  const { read, problem } = openSecret(reference, env);
  return { read, problems: problem === undefined ? [] : [{ path, message: problem }] };
}

/** A target of notifications, and why its secrets cannot be read. */
interface OpenTarget {
  readonly target: ConfiguredTarget;
  readonly problems: readonly ConfigProblem[];
}

function openTargets({ targets }: Config['notifications'], env: ConfigSource['env']): OpenTarget[] {
  return targets.map(({ url, secret, policies, perMinute, ...target }, index) => {
    const path = `notifications.targets[${index}]`;
    const [address, key] = [openOptional(`${path}.url`, url, env), openOptional(`${path}.secret`, secret, env)];
    const problems = [...address.problems, ...key.problems];
    return {
      problems,
      target: {
        ...target,
        policies: policies?.matchLabels,
        perMinute: perMinute ?? defaultPerMinute(target.kind),
        url: () => address.read() ?? (target.kind === 'githubDeployment' ? publicGithub : ''),
        secret: () => key.read() ?? '',
      },
    };
  });
}

/** The targets of notifications alone, for a command that needs no other secrets; throws ConfigError if the configuration is invalid. */
export function readNotificationTargets(source: ConfigSource): readonly OpenTarget[] {
  return openTargets(readConfig(source).notifications, source.env);
}

/** A secret that must be too long to be guessed. */
function openLong(path: string, reference: SecretReference | undefined, env: ConfigSource['env']): OpenSecret {
  const { read, problems } = openOptional(path, reference, env);
  if (problems.length > 0 || (read()?.length ?? minSecretLength) >= minSecretLength) return { read, problems };
  return { read, problems: [{ path, message: `has fewer than ${minSecretLength} characters; create one with: openssl rand -hex 24` }] };
}

/** The configuration without the values of its secrets, for commands that need none; throws ConfigError with all problems at once. */
export function readConfig(source: ConfigSource): Config {
  const file = source.file ?? source.env['IMAGE_WATCHER_CONFIG'];
  const label = file ?? 'configuration';
  const parsed = configSchema.safeParse(withEnvironment(file === undefined ? {} : readFiles(file), source.env, label));
  if (!parsed.success) throw new ConfigError(label, parsed.error.issues.flatMap(toProblems));
  return deepFreeze(parsed.data);
}

/** Where a pod finds the API server. */
export function podOf({ env }: ConfigSource): { readonly host: string | undefined; readonly port: string | undefined } {
  return { host: env['KUBERNETES_SERVICE_HOST'] || undefined, port: env['KUBERNETES_SERVICE_PORT'] || undefined };
}

/** The environment variable KUBECONFIG. */
export function kubeconfigOf({ env }: ConfigSource): string | undefined {
  return env['KUBECONFIG'] || undefined;
}

function azureIdentityOf(env: ConfigSource['env']): AzureIdentity | undefined {
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile, AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId, AZURE_AUTHORITY_HOST } = env;
  if (!tokenFile || !tenantId || !clientId) return undefined;
  return { tokenFile, tenantId, clientId, authorityHost: AZURE_AUTHORITY_HOST || 'https://login.microsoftonline.com/' };
}

/** The aliases of registries, for normalising image names: alias → registry. */
export function registryAliases(config: Pick<Config, 'registries'>): Map<string, string> {
  return new Map(
    config.registries.flatMap(({ host, aliases }) => aliases.map((alias) => [normaliseRegistry(alias), normaliseRegistry(host)])),
  );
}

/** The source of this process: process.env, and a file or folder. */
export function processSource(file?: string): ConfigSource {
  return { file, env: process.env };
}

function readNamespace({ namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace' }: ConfigSource): string | undefined {
  return existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() || undefined : undefined;
}

function toSecretHolder({ name, provider, secrets }: z.output<typeof readableReceivers>['receivers'][number]) {
  return { name, secrets, isUrlOnly: providers.some(({ id, verify }) => id === provider && verify === provesNothing) };
}

/** A file, or the `*.yaml` files of a folder in the order of their names: later mappings are merged over earlier ones, everything else replaces them. */
function readFiles(path: string): unknown {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) return readYaml(path);
  const names = reading(path, () => readdirSync(path)).filter((name) => /^[^.].*\.yaml$/.test(name));
  return names
    .sort()
    .map((name) => readYaml(join(path, name)))
    .reduce(mergeOver, {});
}

function mergeOver(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above;
  const merged = Object.entries(above).map(([key, value]) => [key, Object.hasOwn(below, key) ? mergeOver(below[key], value) : value]);
  return { ...below, ...Object.fromEntries(merged) };
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(path, [{ path: '(file)', message: `cannot be read: ${error instanceof Error ? error.message : String(error)}` }]);
  }
}

function readYaml(file: string): unknown {
  const document = parseDocument(reading(file, () => readFileSync(file, 'utf8')));
  if (document.errors.length > 0) {
    throw new ConfigError(
      file,
      document.errors.map((error) => ({ path: '(file)', message: error.message.split('\n')[0] ?? 'not YAML' })),
    );
  }
  return document.toJS() ?? {};
}

function withEnvironment(raw: unknown, env: ConfigSource['env'], label: string): unknown {
  if (!isObject(raw)) {
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
  if (env['OTEL_EXPORTER_OTLP_ENDPOINT']) override('traces', 'endpoint', env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  return merged;
}

/** zod reports the unknown keys of an object as one issue; a user wants each with its own path. */
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
