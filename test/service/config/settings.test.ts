import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings, registryAliases } from '../../../src/service/config/settings.ts';
import { processSource, type ConfigSource } from '../../../src/service/config/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-watcher-config-'));
after(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const load = (text: string, env: ConfigSource['env'] = {}) => loadSettings({ file: write('config.yaml', text), env });

/** What is wrong, by path; sorted. */
function problems(text: string, env: ConfigSource['env'] = {}): string[] {
  try {
    load(text, env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const { where, path, message } of error.problems)
      assert.ok(error.message.includes([where, path, message].filter(Boolean).join(': ')));
    return error.problems.map(({ path }) => path).sort();
  }
  return [];
}

const harbor = 'provider: harbor';

test('an empty configuration has the documented defaults', () => {
  const { config, kubeconfig } = loadSettings({ env: {} });
  assert.deepEqual(config, {
    listen: {
      host: '0.0.0.0',
      port: 8080,
      bodyLimitBytes: 1_048_576,
      maxHeaderBytes: 16_384,
      requestsPerMinute: 60_000,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      confirmWithin: 2_000,
      keepAliveTimeout: 72_000,
      maxConnections: 10_000,
    },
    operations: {
      host: '0.0.0.0',
      port: 9090,
      auth: 'kubernetes',
      proxy: { userHeader: 'X-Forwarded-User', secretHeader: 'X-Proxy-Secret', trustedPeers: ['127.0.0.0/8', '::1'] },
      trustedProxies: [],
      actions: false,
    },
    dashboard: { sessionLifetime: 28_800_000, requestsPerMinute: 6_000, teamLabel: 'team' },
    cluster: {},
    conversion: {
      host: '0.0.0.0',
      port: 9443,
      bodyLimitBytes: 4_194_304,
      service: { name: 'image-watcher-conversion' },
      names: [],
      clientNames: [],
      secret: { name: 'image-watcher-conversion' },
    },
    redis: { url: 'redis://redis:6379/0', sentinels: [], cluster: false, prefix: '{image-watcher}', durability: 'warn', minReplicas: 0 },
    receivers: [],
    registries: [],
    allowedRegistries: [],
    triggers: { hosts: [] },
    notifications: { hosts: [], targets: [] },
    checks: { hosts: [], prometheus: [], jobs: false, analysis: false },
    credentials: { secret: { name: 'oci-registry-creds', namespace: 'operators' }, cloud: ['ecr', 'google', 'azure'] },
    verification: {},
    watch: { namespaces: [] },
    poll: { interval: 3_600_000 },
    policyDefaults: { namespaces: [] },
    crossNamespace: 'consent',
    consents: [],
    admissionPolicy: false,
    customTargets: [],
    guards: { repeatsPerHour: 5 },
    metrics: { policies: 0 },
    log: { level: 'info' },
  });
  assert.equal(kubeconfig, undefined);
  for (const text of ['', '# nothing', '{}']) assert.deepEqual(load(text).config, config);
});

test('the namespace is the configured one, that of the service account, or image-watcher', () => {
  const namespaceFile = write('namespace', 'operators\n');
  const namespaceOf = (text: string, namespaceFile: string) =>
    loadSettings({ file: write('config.yaml', text), env: {}, namespaceFile }).namespace;
  assert.equal(namespaceOf('namespace: shop', namespaceFile), 'shop');
  assert.equal(namespaceOf('', namespaceFile), 'operators');
  for (const file of [write('empty', ''), join(folder, 'nowhere')]) assert.equal(namespaceOf('', file), 'image-watcher');
});

test('the settings of the conversion listener are read', () => {
  const { conversion } = load(
    'conversion: {port: 8443, certFile: /tls/tls.crt, keyFile: /tls/tls.key, caFile: /tls/ca.crt, names: [127.0.0.1, "::1", a.example.com]}',
  ).config;
  assert.deepEqual([conversion.port, conversion.certFile, conversion.names.length], [8443, '/tls/tls.crt', 3]);
  assert.deepEqual(load('conversion: {service: {namespace: ops}}').config.conversion.service, {
    name: 'image-watcher-conversion',
    namespace: 'ops',
  });
});

test('operations without authentication is allowed on loopback only', () => {
  const withHost = (host: string) => problems(`operations: {host: "${host}", auth: none}`);
  for (const host of ['127.0.0.1', '127.0.1.9', 'localhost', '::1']) assert.deepEqual(withHost(host), []);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com']) assert.deepEqual(withHost(host), ['operations.auth']);
  assert.deepEqual(problems('operations: {auth: none}'), ['operations.auth']);
});

test('the documented example is valid', () => {
  const secret = write('harbor-next', 'next-secret\n');
  const { config, secretsOf } = load(
    `
listen: {host: 0.0.0.0, port: 8080}
operations: {host: 0.0.0.0, port: 9090, auth: kubernetes}
redis:
  url: redis://redis:6379/0
  prefix: "{image-watcher}"        # braces: one Cluster slot
  durability: warn
  minReplicas: 0
receivers:
  - name: harbor-prod
    provider: harbor
    secrets: [{env: HARBOR_SECRET}, {file: ${secret}}]
    registry: harbor.example.com
registries:
  - host: registry.local:5000
    aliases: [registry.internal:5000]
    insecure: true
    caFile: /etc/ca.crt
    requestsPerSecond: 20
    concurrency: 8
allowedRegistries: []
credentials: {secret: {name: oci-registry-creds, namespace: operators}}
watch: {namespaces: []}
poll: {interval: 60m}
crossNamespace: consent
`,
    { HARBOR_SECRET: 'first-secret' },
  );
  assert.deepEqual(config.receivers[0], {
    name: 'harbor-prod',
    provider: 'harbor',
    secrets: [{ env: 'HARBOR_SECRET' }, { file: secret }],
    unauthenticated: false,
    waitForScan: false,
    showResults: false,
    registry: 'harbor.example.com',
  });
  assert.deepEqual([secretsOf('harbor-prod'), secretsOf('unknown')], [['first-secret', 'next-secret'], []]);
  assert.equal(config.registries[0]?.requestsPerSecond, 20);
  assert.equal(config.poll.interval, 3_600_000);
});

test('the configuration is frozen', () => {
  const { config } = load('watch: {namespaces: [shop]}');
  assert.throws(() => Object.assign(config.listen, { port: 1 }), TypeError);
  assert.throws(() => config.watch.namespaces.push('ops'), TypeError);
});

test('the environment overrides the configuration file, and names it', () => {
  const env = { REDIS_URL: 'rediss://cache:6380/1', LOG_LEVEL: 'debug', PORT: '8888', KUBECONFIG: '/home/me/.kube/config' };
  const { config, kubeconfig } = load('redis: {url: "redis://other:6379", prefix: p}\nlisten: {host: 127.0.0.1, port: 1}', env);
  assert.deepEqual([config.redis.url, config.redis.prefix], ['rediss://cache:6380/1', 'p']);
  assert.deepEqual([config.log.level, config.listen.host, config.listen.port], ['debug', '127.0.0.1', 8888]);
  assert.equal(kubeconfig, '/home/me/.kube/config');
  const file = write('named.yaml', 'crossNamespace: deny');
  assert.equal(loadSettings({ env: { IMAGE_WATCHER_CONFIG: file } }).config.crossNamespace, 'deny');
});

test('an empty variable counts as unset', () => {
  const { config, kubeconfig } = loadSettings({ env: { REDIS_URL: '', LOG_LEVEL: '', PORT: '', KUBECONFIG: '' } });
  assert.deepEqual([config.redis.url, config.listen.port, kubeconfig], ['redis://redis:6379/0', 8080, undefined]);
});

test('the environment of this process is the default source of settings', () => {
  assert.deepEqual(processSource('a.yaml'), { file: 'a.yaml', env: process.env });
});

test('all problems of a configuration are reported at once, each with its path', () => {
  const text = `
listne: {}
listen: {port: 70000, hots: a}
redis: {url: "http://redis", durability: maybe}
receivers:
  - {name: Prod, provider: dockerhub, secret: x}
  - {name: test, ${harbor}, secrets: [{env: MISSING}]}
  - {name: test, ${harbor}, secrets: [{env: EMPTY}], unauthenticated: true}
  - {name: open, ${harbor}}
  - {name: odd, ${harbor}, secrets: [plain-text]}
  - {name: none, ${harbor}, secrets: []}
registries:
  - {host: "https://registry.example.com"}
  - {host: a.example.com, aliases: [b.example.com], concurrency: 0}
  - {host: B.example.com:443}
poll: {interval: soon}
crossNamespace: perhaps
log: {level: loud}
`;
  assert.deepEqual(problems(text, { EMPTY: '' }), [
    'crossNamespace',
    'listen.hots',
    'listen.port',
    'listne',
    'log.level',
    'poll.interval',
    'receivers[0].name',
    'receivers[0].provider',
    'receivers[0].secret',
    'receivers[1].secrets[0]',
    'receivers[2].name',
    'receivers[2].secrets[0]',
    'receivers[2].unauthenticated',
    'receivers[3].secrets',
    'receivers[4].secrets[0]',
    'receivers[5].secrets',
    'redis.durability',
    'redis.url',
    'registries[0].host',
    'registries[1].concurrency',
    'registries[2].host',
  ]);
});

const rows: [name: string, text: string, paths: string[], env?: ConfigSource['env']][] = [
  ['a number for the port only', 'listen: {port: "8080"}', ['listen.port']],
  ['a port of the environment that is none', '', ['listen.port'], { PORT: 'http' }],
  ['a level of the environment that is none', '', ['log.level'], { LOG_LEVEL: 'loud' }],
  ['a URL of the environment that is none', '', ['redis.url'], { REDIS_URL: 'redis:6379' }],
  ['a list instead of settings', '- a\n- b', ['']],
  ['text instead of settings', 'hello', ['']],
  ['not YAML', 'a: [1, 2', ['']],
  ['a key twice', 'poll: {interval: 1m}\npoll: {interval: 2m}', ['']],
  ['receivers that are no list', 'receivers: {name: a}', ['receivers']],
  ['receivers that are none', 'receivers: [1, null, [], text]', ['receivers[0]', 'receivers[1]', 'receivers[2]', 'receivers[3]']],
  [
    'registries that are none',
    'registries: [null, {host: 1, aliases: b}]',
    ['registries[0]', 'registries[1].aliases', 'registries[1].host'],
  ],
  ['an interval of nothing', 'poll: {interval: 0s}', ['poll.interval']],
  ['a secret in plain text', `receivers: [{name: a, ${harbor}, secrets: [hunter2]}]`, ['receivers[0].secrets[0]']],
  ['a secret from two places', `receivers: [{name: a, ${harbor}, secrets: [{env: A, file: b}]}]`, ['receivers[0].secrets[0]']],
  ['a secret that is not set', `receivers: [{name: a, ${harbor}, secrets: [{env: A}]}]`, ['receivers[0].secrets[0]']],
  ['a secret that is empty', `receivers: [{name: a, ${harbor}, secrets: [{env: A}]}]`, ['receivers[0].secrets[0]'], { A: '' }],
  [
    'a secret whose file is missing',
    `receivers: [{name: a, ${harbor}, secrets: [{file: ${join(folder, 'missing')}}]}]`,
    ['receivers[0].secrets[0]'],
  ],
  ['a secret whose file is a folder', `receivers: [{name: a, ${harbor}, secrets: [{file: ${folder}}]}]`, ['receivers[0].secrets[0]']],
  [
    'a secret whose file is empty',
    `receivers: [{name: a, ${harbor}, secrets: [{file: ${write('empty', '\n')}}]}]`,
    ['receivers[0].secrets[0]'],
  ],
  [
    'one of two secrets missing',
    `receivers: [{name: a, ${harbor}, secrets: [{env: A}, {env: B}]}]`,
    ['receivers[0].secrets[1]'],
    { A: 'a' },
  ],
  ['no authentication', `receivers: [{name: a, ${harbor}}]`, ['receivers[0].secrets']],
  ['no authentication, and no word of it', `receivers: [{name: a, ${harbor}, unauthenticated: false}]`, ['receivers[0].secrets']],
  [
    'two minds about authentication',
    `receivers: [{name: a, ${harbor}, unauthenticated: true, secrets: [{env: A}]}]`,
    ['receivers[0].unauthenticated'],
    { A: 'a' },
  ],
  [
    'a receiver twice',
    `receivers: [{name: a, ${harbor}, unauthenticated: true}, {name: a, provider: distribution, unauthenticated: true}]`,
    ['receivers[1].name'],
  ],
  ['an alias twice', 'registries: [{host: a, aliases: [m, n]}, {host: b, aliases: [o, N]}]', ['registries[1].aliases[1]']],
  ['an alias that is a host', 'registries: [{host: a}, {host: b, aliases: [a]}]', ['registries[1].aliases[0]']],
  ['two names of one registry', 'registries: [{host: docker.io}, {host: index.docker.io}]', ['registries[1].host']],
  ['a host with a path', 'allowedRegistries: [registry.example.com/shop]', ['allowedRegistries[0]']],
  ['a certificate without its key', 'conversion: {certFile: /tls/tls.crt}', ['conversion.keyFile']],
  ['a key without its certificate', 'conversion: {keyFile: /tls/tls.key, port: 99999}', ['conversion.certFile', 'conversion.port']],
  ['authorities that belong to nothing', 'conversion: {caFile: a.crt, clientNames: [a]}', ['conversion.caFile', 'conversion.clientCaFile']],
  ['names that no certificate can have', 'conversion: {names: ["https://x", "Up.org"]}', ['conversion.names[0]', 'conversion.names[1]']],
  ['a name of a cluster that is markup', 'cluster: {name: "<b>"}', ['cluster.name']],
  ['a conversion that is nothing', 'conversion: [1]', ['conversion']],
];

for (const [name, text, paths, env] of rows) test(`the configuration refuses ${name}`, () => assert.deepEqual(problems(text, env), paths));

test('a configuration file that cannot be read is reported as one problem', () => {
  const file = join(folder, 'nowhere.yaml');
  assert.throws(() => loadSettings({ file, env: {} }), {
    name: 'ConfigError',
    message: `${file}: does not exist: create it, or name another one`,
  });
});

test('no message about the configuration contains a secret', () => {
  const text = `receivers: [{name: a, ${harbor}, secrets: [{env: A}, {env: B}], unauthenticated: true}]`;
  assert.throws(
    () => load(text, { A: 'hunter2' }),
    (error) => error instanceof ConfigError && !error.message.includes('hunter2'),
  );
});

test('registry aliases are normalised like image names', () => {
  const hub = '{host: index.docker.io, aliases: ["hub.local:5000"]}';
  const { config } = load(`registries: [{host: "Registry.local:443", aliases: ["Mirror.Internal:443"]}, ${hub}]`);
  assert.deepEqual(Object.fromEntries(registryAliases(config)), { 'mirror.internal': 'registry.local', 'hub.local:5000': 'docker.io' });
});
