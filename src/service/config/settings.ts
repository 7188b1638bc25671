/** The configuration: a YAML file and a few environment variables, checked as a whole, frozen. */
import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { formatKeys, type Keys } from '../resources/validation/problem.ts';
import { ConfigError, type WrittenSettings } from './config-error.ts';
import { kubeconfigOf, podOf, type ConfigSource } from './environment.ts';
import { readFiles } from './read-files.ts';
import { describeIssues, type SettingProblem } from './schema-problems.ts';
import { configSchema, readableReceivers } from './schema.ts';
import { minSecretLength, openSecret, openSecrets, type SecretStore } from './secrets.ts';
import { openProxies } from './proxies.ts';
import type { PrometheusServer } from '../../core/model/rollout-check.ts';
import { openServers } from './checks.ts';
import type { SecretReference } from './scalars.ts';
import { openRecordSettings, type RecordSettings } from './record.ts';
import { openTraceSettings, type TraceSettings } from './traces.ts';
import { defaultPerMinute, publicUrls } from '../../core/model/notification-target.ts';
import { eventsOf } from '../../core/model/severity.ts';
import type { ConfiguredTarget } from '../../core/model/configured-target.ts';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import type { Proxies } from '../../core/model/proxy.ts';
import { providers } from '../receive/providers/index.ts';
import { provesNothing } from '../receive/providers/headers.ts';
import type { AzureIdentity } from '../registry/credentials/azure.ts';
import { fieldsOf, isObject } from '../../core/model/untyped.ts';

export type Config = z.output<typeof configSchema>;
export type ReceiverConfig = Config['receivers'][number];
export type RegistryConfig = Config['registries'][number];

/** The configuration, and the settings and secrets that come from the environment or files. */
export interface Settings extends WrittenSettings {
  readonly config: Config;
  readonly kubeconfig: string | undefined;
  /** The address at which a pod finds the API server. */
  readonly pod: ReturnType<typeof podOf>;
  /** The Azure workload identity of the pod; undefined outside of Azure. */
  readonly azure: AzureIdentity | undefined;
  /** The password of Redis if it is not in the URL (redis.password). */
  readonly redisPassword: string | undefined;
  /** The password of the Redis Sentinels, if they have one. */
  readonly sentinelPassword: string | undefined;
  /** The namespace that this process runs in. */
  readonly namespace: string;
  /** The current secrets of a receiver by its name. Secrets in files are read again when they change. */
  readonly secretsOf: (receiver: string) => readonly string[];
  readonly secrets: Pick<SecretStore, 'reread' | 'guessable'>;
  /** The current secret of the proxy in front of the API (operations.proxy.secret). */
  readonly proxySecret: () => string | undefined;
  /** The current secrets of the dashboard (dashboard.sessionSecret, dashboard.oidc.clientSecret). */
  readonly dashboardSecrets: { readonly session: () => string | undefined; readonly oidcClient: () => string | undefined };
  /** The targets of notifications, with their current secrets. */
  readonly notificationTargets: readonly ConfiguredTarget[];
  /** The servers of Prometheus that checks may ask, with their current tokens. */
  readonly checkServers: readonly PrometheusServer[];
  /** The settings of traces; undefined if they are off. */
  readonly traces: TraceSettings | undefined;
  /** Where the record of activity is kept for good; undefined if it is in Redis alone. */
  readonly record: RecordSettings | undefined;
  /** The proxies of outgoing requests. */
  readonly proxies: Proxies;
}

/** Reads, merges and checks the configuration; throws ConfigError with all problems together. */
export function loadSettings(source: ConfigSource): Settings {
  const written = readWritten(source);
  const parsed = configSchema.safeParse(written.value);
  const secrets = openSecrets(readableReceivers.parse(written.value).receivers.map(toSecretHolder), source.env);
  const traces = openTraceSettings(parsed.data?.traces, source.env);
  const record = openRecordSettings(parsed.data?.record, source.env);
  const checkServers = openServers(parsed.data?.checks ?? {}, source.env);
  const proxySecret = openLong(['operations', 'proxy', 'secret'], parsed.data?.operations.proxy.secret, source.env);
  const redisPassword = openOptional(['redis', 'password'], parsed.data?.redis.password, source.env);
  const proxies = openProxies(parsed.data?.registries ?? [], source.env);
  const notified = parsed.success ? openTargets(parsed.data.notifications, source.env) : [];
  const session = openLong(['dashboard', 'sessionSecret'], parsed.data?.dashboard.sessionSecret, source.env);
  const oidcClient = openOptional(['dashboard', 'oidc', 'clientSecret'], parsed.data?.dashboard.oidc?.clientSecret, source.env);
  const unread = [secrets, traces, record, checkServers, proxySecret, redisPassword, session, oidcClient, proxies, ...notified].flatMap(
    (one) => one.problems,
  );
  if (!parsed.success) throw toConfigError(written, [...describeIssues(configSchema, parsed.error, written.value), ...unread]);
  if (unread.length > 0) throw toConfigError(written, unread);
  const config = deepFreeze(parsed.data);
  return {
    config,
    placeOf: written.placeOf,
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
    checkServers: checkServers.servers,
    traces: traces.settings,
    record: record.settings,
    proxies: proxies.proxies,
  };
}

interface OpenSecret {
  readonly read: () => string | undefined;
  readonly problems: readonly SettingProblem[];
}

function openOptional(keys: Keys, reference: SecretReference | undefined, env: ConfigSource['env']): OpenSecret {
  if (reference === undefined) return { read: () => undefined, problems: [] };
  const { read, problem } = openSecret(reference, env);
  return { read, problems: problem === undefined ? [] : [{ keys, message: problem }] };
}

/** A target of notifications, and the reason if its secrets cannot be read. */
interface OpenTarget {
  readonly target: ConfiguredTarget;
  readonly problems: readonly SettingProblem[];
}

function openTargets({ targets }: Config['notifications'], env: ConfigSource['env']): OpenTarget[] {
  return targets.map(({ url, secret, events, policies, perMinute, github, commitStatus, ...target }, index) => {
    const at = (key: string) => ['notifications', 'targets', index, key];
    const [address, key] = [openOptional(at('url'), url, env), openOptional(at('secret'), secret, env)];
    const problems = [...address.problems, ...key.problems];
    return {
      problems,
      target: {
        ...target,
        events: eventsOf(target.kind, events),
        forge: github ?? commitStatus,
        policies: policies?.matchLabels,
        perMinute: perMinute ?? defaultPerMinute(target.kind),
        url: () => address.read() ?? publicUrls[target.kind] ?? '',
        secret: () => key.read() ?? '',
      },
    };
  });
}

/** Reads only the targets of notifications, for a command that needs no other secrets; throws ConfigError if the configuration is invalid. */
export function readNotificationTargets(source: ConfigSource): readonly OpenTarget[] {
  return openTargets(readConfig(source).notifications, source.env);
}

/** Reads only the settings of the record, for a command that needs no other secrets; throws ConfigError if the configuration is invalid. */
export function readRecordSettings(source: ConfigSource): RecordSettings | undefined {
  const { settings, problems } = openRecordSettings(readConfig(source).record, source.env);
  if (problems.length > 0) throw toConfigError(readWritten(source), problems);
  return settings;
}

/** Reads only the proxies, for commands that need no other secrets; throws ConfigError if one of them is invalid. */
export function readProxies({ registries }: Pick<Config, 'registries'>, source: ConfigSource): Proxies {
  const { proxies, problems } = openProxies(registries, source.env);
  if (problems.length > 0) throw toConfigError(readWritten(source), problems);
  return proxies;
}

/** Opens a secret that must be too long to be guessed. */
function openLong(keys: Keys, reference: SecretReference | undefined, env: ConfigSource['env']): OpenSecret {
  const { read, problems } = openOptional(keys, reference, env);
  if (problems.length > 0 || (read()?.length ?? minSecretLength) >= minSecretLength) return { read, problems };
  return { read, problems: [{ keys, message: `has fewer than ${minSecretLength} characters; create one with: openssl rand -hex 24` }] };
}

/** Reads the configuration without the values of its secrets, for commands that need none; throws ConfigError with all problems together. */
export function readConfig(source: ConfigSource): Config {
  const written = readWritten(source);
  const parsed = configSchema.safeParse(written.value);
  if (!parsed.success) throw toConfigError(written, describeIssues(configSchema, parsed.error, written.value));
  return deepFreeze(parsed.data);
}

function azureIdentityOf(env: ConfigSource['env']): AzureIdentity | undefined {
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile, AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId, AZURE_AUTHORITY_HOST } = env;
  if (!tokenFile || !tenantId || !clientId) return undefined;
  return { tokenFile, tenantId, clientId, authorityHost: AZURE_AUTHORITY_HOST || 'https://login.microsoftonline.com/' };
}

/** The aliases of registries, to normalise image names: alias → registry. */
export function registryAliases(config: Config): Map<string, string> {
  return new Map(
    config.registries.flatMap(({ host, aliases }) => aliases.map((alias) => [normaliseRegistry(alias), normaliseRegistry(host)])),
  );
}

function readNamespace({ namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace' }: ConfigSource): string | undefined {
  return existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() || undefined : undefined;
}

function toSecretHolder({ name, provider, secrets }: z.output<typeof readableReceivers>['receivers'][number]) {
  return { name, secrets, isUrlOnly: providers.some(({ id, verify }) => id === provider && verify === provesNothing) };
}

/** The unchecked settings from files and the environment, with their places. */
function readWritten({ file: named, env }: ConfigSource): WrittenSettings & { readonly value: unknown } {
  const file = named ?? env['IMAGE_WATCHER_CONFIG'];
  const { value, placeOf } = file === undefined ? { value: {}, placeOf: () => 'configuration' } : readFiles(file);
  const variables = environment.filter(({ variable }) => env[variable]);
  return {
    value: variables.reduce((below, { variable, section, key, read = String }) => {
      const present = below[section] ?? {};
      return isObject(present) ? { ...below, [section]: { ...present, [key]: read(env[variable]) } } : below;
    }, fieldsOf(value)),
    placeOf(keys) {
      const overriding = variables.find(({ section, key }) => keys[0] === section && keys[1] === key);
      return overriding === undefined ? placeOf(keys) : variableNamed(overriding.variable);
    },
  };
}

function variableNamed(name: string): string {
  return `the environment variable ${name}`;
}

/** The environment variables that override a setting. */
const environment: readonly {
  readonly variable: string;
  readonly section: string;
  readonly key: string;
  readonly read?: (text: string | undefined) => unknown;
}[] = [
  { variable: 'REDIS_URL', section: 'redis', key: 'url' },
  { variable: 'LOG_LEVEL', section: 'log', key: 'level' },
  { variable: 'PORT', section: 'listen', key: 'port', read: (text) => (Number.isNaN(Number(text)) ? text : Number(text)) },
  { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', section: 'traces', key: 'endpoint' },
];

function toConfigError({ placeOf }: WrittenSettings, problems: readonly SettingProblem[]): ConfigError {
  const placed = problems.map(({ keys, variable, message }) => ({
    where: variable === undefined ? placeOf(keys) : variableNamed(variable),
    path: formatKeys(keys),
    message,
  }));
  return new ConfigError(placed.sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true })));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
