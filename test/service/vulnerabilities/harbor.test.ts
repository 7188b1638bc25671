/** Evidence from Harbor's scanner, by the registry client and a Harbor that answers as its source does. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createRegistryClient, type RegistryClientOptions } from '../../../src/service/registry/client.ts';
import type { Credential } from '../../../src/service/registry/credential.ts';
import { createHarborSource } from '../../../src/service/vulnerabilities/harbor.ts';
import { createEvidenceReader } from '../../../src/service/vulnerabilities/read-evidence.ts';
import { startFakeHarbor, type HarborUsers } from '../../harness/fake-harbor.ts';
import { startFakeRegistry, type FakeRegistry } from '../../harness/fake-registry.ts';

const reader = { user: 'robot$shop', password: 'secret' };
const puller = { user: 'robot$puller', password: 'other' };
const at = '2026-08-01T10:00:00.123456789Z';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const manifest = (name: string) => JSON.stringify({ schemaVersion: 2, mediaType: manifestType, annotations: { name } });

/** Reads through a client with these credentials; none unless given. */
function openReader(t: TestContext, registry: FakeRegistry, given: readonly Credential[], more: Partial<RegistryClientOptions> = {}) {
  const client = createRegistryClient({
    registries: [{ host: registry.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => given.map((one, index) => ({ source: `Secret shop/${index}`, isOwn: true, read: async () => one })),
    random: () => 0,
    ...more,
  });
  t.after(() => client.close());
  const read = createEvidenceReader([createHarborSource({ registry: client })]);
  return (digest: string, path = 'shop/apps/web') =>
    read(
      {
        source: { registry: registry.host, path },
        digest,
        rules: { harbor: true, trivyOperator: false, maxAgeMs: 1 },
        namespace: 'shop',
        targetNamespaces: ['shop'],
      },
      t.signal,
    );
}

const credential = ({ user, password }: typeof reader): Credential => ({ username: user, password });

/** A Harbor with one image, and a reader with the credentials of its first user. */
async function start(t: TestContext, users: HarborUsers = { reader }) {
  const harbor = await startFakeHarbor(users);
  t.after(() => harbor.stop());
  const user = users.reader ?? users.puller;
  const read = openReader(t, harbor, user ? [credential(user)] : []);
  const add = (name: string, repository = 'shop/apps/web') => {
    const digest = harbor.setBlob(repository, manifest(name));
    harbor.setArtifact(repository, digest);
    return digest;
  };
  const addIndex = (...platforms: readonly { digest: string; os?: string; annotations?: object }[]) => {
    const manifests = platforms.map(({ digest, os = 'linux', annotations }, index) => ({
      mediaType: manifestType,
      digest,
      size: 1,
      platform: { os, architecture: index === 0 ? 'amd64' : 'arm64' },
      annotations,
    }));
    const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
    const digest = harbor.setBlob('shop/apps/web', JSON.stringify(index));
    harbor.setArtifact(
      'shop/apps/web',
      digest,
      platforms.map(({ digest: one }) => one),
    );
    return digest;
  };
  const api = () => harbor.requests.filter(({ path }) => path.startsWith('/api/'));
  return { harbor, read, add, addIndex, api, digest: add('web') };
}

test('a report of Harbor is evidence, with each vulnerability once and its highest severity', async (t) => {
  const { harbor, read, digest, api } = await start(t);
  const found = [
    { id: 'CVE-2026-1', severity: 'High' },
    { id: 'CVE-2026-1', severity: 'Critical', package: 'libssl3' },
    { id: 'GHSA-abcd-efgh', severity: 'None', package: 'zero\u200bwidth' },
    { id: 'RHSA-2026:1', severity: 'Dreadful' },
  ];
  harbor.setScan(digest, { at, found });
  const { reports, problems } = await read(digest);
  assert.deepEqual(problems, []);
  const advisories = [
    { id: 'CVE-2026-1', severity: 'Critical', package: 'libssl3' },
    { id: 'GHSA-abcd-efgh', severity: 'Negligible' },
    { id: 'RHSA-2026:1', severity: 'Unknown', package: 'openssl' },
  ];
  assert.deepEqual(reports, [
    { scanner: 'trivy', by: `Harbor at ${harbor.host}`, scannedMs: Date.parse('2026-08-01T10:00:00.123Z'), advisories },
  ]);
  assert.equal(api()[0]?.path, `/api/v2.0/projects/shop/repositories/apps%252Fweb/artifacts/${digest}/additions/vulnerabilities`);
  assert.match(api()[0]?.authorization ?? '', /^Basic /);
});

test('an image without vulnerabilities has a report, and a report of an old scanner is read as well', async (t) => {
  const { harbor, read, digest } = await start(t);
  harbor.setScan(digest, { at, found: [], type: 'native', scanner: 'Clair' });
  const { reports, problems } = await read(digest);
  assert.deepEqual([reports.map(({ scanner, advisories }) => [scanner, advisories]), problems], [[['clair', []]], []]);
});

test('an image that was not scanned, is being scanned, failed or is unknown to Harbor is a problem that says so', async (t) => {
  const { harbor, read, digest } = await start(t);
  const problemOf = async (asked: string) => {
    const { reports, problems } = await read(asked);
    assert.deepEqual([reports.length, problems.length], [0, 1]);
    return problems[0] ?? '';
  };
  for (const state of [undefined, 'running', 'failed'] as const) {
    if (state !== undefined) harbor.setScan(digest, state);
    assert.equal(await problemOf(digest), `Harbor has no report of ${digest}: it was not scanned, its scan has not ended, or has failed`);
  }
  assert.match(
    await problemOf(harbor.setBlob('shop/apps/web', manifest('unknown'))),
    /^Harbor has no report of sha256:\w+ \(NOT_FOUND: artifact shop/,
  );
  assert.match(await problemOf(`sha256:${'0'.repeat(64)}`), /does not have an image sha256:0+$/);
  harbor.removeScanner();
  assert.match(await problemOf(digest), /\(NOT_FOUND: no scanner registration configured for project: 1\)$/);
});

test('each image of an index must have a report, because Harbor itself omits those whose scan is missing', async (t) => {
  const { harbor, read, add, addIndex, api } = await start(t);
  const [amd64, arm64, provenance] = [add('amd64'), add('arm64'), add('provenance')];
  const index = addIndex({ digest: amd64 }, { digest: arm64 }, { digest: provenance, os: 'unknown' });
  harbor.setScan(amd64, { at, found: [{ id: 'CVE-2026-1' }] });
  harbor.setScan(arm64, 'running');
  const missing = await read(index);
  assert.deepEqual(missing.problems, [
    `Harbor has no report of ${arm64}: it was not scanned, its scan has not ended, or has failed (linux/arm64)`,
  ]);
  harbor.setScan(arm64, {
    at: '2026-08-01T09:00:00Z',
    found: [
      { id: 'CVE-2026-2', severity: 'Low' },
      { id: 'CVE-2026-1', severity: 'Low' },
    ],
  });
  const { reports, problems } = await read(index);
  const [report] = reports;
  assert.deepEqual(problems, []);
  assert.deepEqual(
    report?.advisories.map(({ id, severity }) => [id, severity]),
    [
      ['CVE-2026-1', 'High'],
      ['CVE-2026-2', 'Low'],
    ],
  );
  assert.equal(report?.scannedMs, Date.parse('2026-08-01T09:00:00Z'), 'the joined report knows what the earlier scan knew');
  assert.ok(api().every(({ path }) => !path.includes(index) && !path.includes(provenance)));
});

test('an annotation does not hide an image of an index, and scans that cannot be joined do not count', async (t) => {
  const { harbor, read, add, addIndex } = await start(t);
  const [amd64, arm64] = [add('amd64'), add('arm64')];
  harbor.setScan(amd64, { at, found: [] });
  const hiding = addIndex({ digest: amd64 }, { digest: arm64, annotations: { 'vnd.docker.reference.type': 'attestation-manifest' } });
  assert.match((await read(hiding)).problems[0] ?? '', /no report of .*\(linux\/arm64\)$/);
  harbor.setScan(arm64, { at, scanner: 'Clair', found: [] });
  assert.match((await read(hiding)).problems[0] ?? '', /different scanners$/);
  harbor.setScan(arm64, { at: '2026-07-01T10:00:00Z', found: [] });
  assert.match((await read(hiding)).problems[0] ?? '', /more than 24h apart/);
  const many = addIndex(...Array.from({ length: 9 }, (_, nr) => ({ digest: add(`platform ${nr}`) })));
  assert.match((await read(many)).problems[0] ?? '', /an index of 9 images, of which at most 8 are asked about$/);
  assert.match((await read(addIndex())).problems[0] ?? '', /does not have an image/);
});

const broken: Readonly<Record<string, [body: string, problem: RegExp]>> = {
  'an id with hidden characters': [report([{ id: 'CVE-\u202e1', severity: 'High' }]), /the id of a vulnerability cannot be read$/],
  'an id that is no text': [report([{ id: { $ne: 1 }, severity: 'High' }]), /the id of a vulnerability cannot be read$/],
  'a severity that is no text': [report([{ id: 'CVE-1', severity: 9 }]), /the severity of a vulnerability cannot be read$/],
  'a list of texts': [report(['CVE-1']), /the report cannot be read$/],
  'a number instead of a list': [report(0), /the report cannot be read$/],
  'a name written with escapes': [report([]).replace('"vulnerabilities"', '"vulnerabilitie\\u0073"'), /the report cannot be read$/],
  'a time that is none': [report([], { generated_at: 'yesterday' }), /the time of its scan cannot be read$/],
  'a scanner with a line break': [report([], { scanner: { name: 'tri\nvy' } }), /the name of its scanner cannot be read$/],
  'no scanner': [report([], { scanner: null }), /the report cannot be read$/],
  'two reports': [`{"a":${report([]).slice(5, -1)},"b":${report([]).slice(5, -1)}}`, /the report cannot be read$/],
  'a list that does not end': [report([]).slice(0, -3), /the JSON ends within a list$/],
  'something deep': [report([]).replace('[]', '['.repeat(100_000)), /ends within a list$/],
  'nested objects': ['{"a":'.repeat(100_000), /nested deeper than 64 levels$/],
  'more vulnerabilities than any image has': [
    report(Array.from({ length: 20_001 }, () => ({ id: 'CVE-1', severity: 'Low' }))),
    /more than 20000 vulnerabilities$/,
  ],
  'more than 8 MiB': [`{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`, /larger than 8388608 bytes$/],
  'a page': ['<html>', /the answer is not that of Harbor$/],
};

function report(vulnerabilities: unknown, more: object = {}): string {
  return JSON.stringify({ a: { generated_at: at, scanner: { name: 'Trivy' }, ...more, vulnerabilities } });
}

for (const [name, [body, problem]] of Object.entries(broken)) {
  test(`a report of Harbor does not count in the case "${name}"`, async (t) => {
    const registry = await startFakeRegistry();
    t.after(() => registry.stop());
    const digest = registry.setBlob('shop/apps/web', manifest('web'));
    registry.answerNext({ body, ...(body === '<html>' && { headers: { 'content-type': 'text/html' } }) }, { path: '/api/' });
    const { reports, problems } = await openReader(t, registry, [])(digest);
    assert.deepEqual([reports.length, problems.length], [0, 1]);
    assert.match(problems[0] ?? '', problem);
  });
}

test('credentials that may only pull are a problem that names the missing permission, and the right ones are found', async (t) => {
  const { harbor, read, digest } = await start(t, { puller });
  harbor.setScan(digest, { at, found: [] });
  const permission =
    /may read the scans of .*; a robot account of Harbor needs the permission to read additions of artifacts \(artifact-addition: read\)$/;
  const [problem = ''] = (await read(digest)).problems;
  assert.match(problem, /\(user robot\$puller\) was refused with 403 \(FORBIDDEN: forbidden\)/);
  assert.match(problem, permission);
  const both = await start(t, { reader, puller });
  both.harbor.setScan(both.digest, { at, found: [] });
  const readBoth = openReader(t, both.harbor, [credential(puller), credential(reader)]);
  assert.deepEqual((await readBoth(both.digest)).problems, []);
});

test('scans of a public project are read without credentials', async (t) => {
  const { harbor, read, digest, api } = await start(t, { isPublic: true });
  harbor.setScan(digest, { at, found: [] });
  assert.deepEqual([(await read(digest)).reports.length, api().map(({ authorization }) => authorization)], [1, [undefined]]);
});

test('a registry that has not identified itself as Harbor gets no password, and is named in the problem', async (t) => {
  const registry = await startFakeRegistry();
  t.after(() => registry.stop());
  registry.requireBearer({ ...reader, service: 'another' });
  const digest = registry.setBlob('shop/apps/web', manifest('web'));
  const { problems } = await openReader(t, registry, [credential(reader)])(digest);
  assert.match(problems[0] ?? '', /^Harbor's scanner could not be asked: .* has not said that it is Harbor .*, so it gets no password$/);
  assert.deepEqual(
    registry.requests.filter(({ path }) => path.startsWith('/api/')),
    [],
  );
});

test('credentials for Harbor do not follow a redirect', async (t) => {
  const [registry, other] = [await startFakeRegistry(), await startFakeRegistry()];
  t.after(async () => void (await Promise.all([registry.stop(), other.stop()])));
  registry.requireBearer({ ...reader, service: 'harbor-registry' });
  registry.answerNext({ status: 307, headers: { location: `http://${other.host}/api/v2.0/steal` } }, { path: '/api/' });
  const digest = registry.setBlob('shop/apps/web', manifest('web'));
  assert.match((await openReader(t, registry, [credential(reader)])(digest)).problems[0] ?? '', /registry answered 307$/);
  assert.deepEqual(other.requests, []);
});

test('a refusal by the API of Harbor does not change the login to its registry', async (t) => {
  const { harbor, read, digest } = await start(t, { reader });
  const basic = { 'www-authenticate': 'Basic realm="harbor"' };
  harbor.setScan(digest, { at, found: [] });
  const refusing = await startFakeRegistry();
  t.after(() => refusing.stop());
  refusing.requireBearer({ ...reader, service: 'harbor-registry' });
  refusing.answerNext({ status: 401, headers: basic, body: '{}' }, { path: '/api/', times: Infinity });
  const readRefused = openReader(t, refusing, [credential(reader)]);
  const refused = refusing.setBlob('shop/apps/web', manifest('web'));
  for (const _ of [1, 2]) assert.match((await readRefused(refused)).problems[0] ?? '', /was refused with 401/);
  assert.deepEqual((await read(digest)).problems, []);
  const asked = [...harbor.requests, ...refusing.requests].filter(({ path }) => path.startsWith('/v2/shop'));
  assert.ok(asked.length > 2 && asked.every(({ authorization = '' }) => !authorization.startsWith('Basic ')));
});

test('a registry without Harbor, and a repository without a project, are problems that say so', async (t) => {
  const registry = await startFakeRegistry();
  t.after(() => registry.stop());
  const read = openReader(t, registry, []);
  const digest = registry.setBlob('shop/apps/web', manifest('web'));
  assert.match((await read(digest)).problems[0] ?? '', /: \S+ has no API of Harbor$/);
  assert.match(
    (await read(registry.setBlob('web', manifest('web')), 'web')).problems[0] ?? '',
    /Harbor has its repositories in projects, and web names none$/,
  );
  registry.answerNext({ status: 500, body: '{}' }, { path: '/api/' });
  assert.match((await read(digest)).problems[0] ?? '', /registry answered 500$/);
});

test('the answer of Harbor at a private address is concealed', async (t) => {
  const registry = await startFakeRegistry();
  t.after(() => registry.stop());
  const lookup: NonNullable<RegistryClientOptions['lookup']> = (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
  const client = createRegistryClient({ registries: [], allowedRegistries: [], credentials: () => [], random: () => 0, lookup });
  t.after(() => client.close());
  const read = createEvidenceReader([createHarborSource({ registry: client })]);
  const source = { registry: `harbor.example.com:${registry.host.split(':')[1]}`, path: 'shop/web' };
  const rules = { harbor: true, trivyOperator: false, maxAgeMs: 1 };
  const { problems } = await read({ source, digest: `sha256:${'0'.repeat(64)}`, rules, namespace: 'shop', targetNamespaces: [] }, t.signal);
  assert.match(problems[0] ?? '', /leads to a private address, for which no details are shown here/);
});
