import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cdevents, readOciPurl } from '../../../../src/service/receive/providers/cdevents.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: cdevents, credentials: ['authorization'] });

const purl = 'pkg:oci/app?repository_url=r.example.com/team/app&tag=v1';
const data = { context: { id: 'c-1', source: '/ci', timestamp: '2026-03-01T12:00:00Z' }, subject: { id: purl } };
const event = { specversion: '1.0', id: 'e-1', source: '/bus', type: 'dev.cdevents.artifact.published.0.2.0', data };

const parse = (body: unknown, headers: Record<string, string> = {}) => cdevents.parse({ headers, body: Buffer.from(JSON.stringify(body)) });

for (const version of ['0.1.0', '0.2.0', '0.3.0-draft', '1.0.0']) {
  test(`cdevents: reads version ${version} of the event`, () =>
    assert.equal(parse({ ...event, type: `dev.cdevents.artifact.published.${version}` }).pushes.length, 1));
}

test('cdevents: other events and other artifacts are ignored, each with its reason', () => {
  const reasonOf = (body: unknown) => parse(body).ignored[0]?.reason;
  for (const type of ['dev.cdevents.artifact.packaged.0.2.0', 'dev.cdevents.artifact.deleted.0.1.0', 'dev.cdevents.artifact.publishedx']) {
    assert.equal(reasonOf({ ...event, type }), `not a push: ${type}`);
  }
  assert.equal(reasonOf({ ...event, data: { subject: { id: 'pkg:npm/app@1' } } }), 'not an image: pkg:npm/app@1');
  for (const none of [null, [], 'x', {}, { subject: { id: 7 } }]) {
    assert.equal(reasonOf({ ...event, data: none }), 'not an image: the event names no artifact');
  }
});

test('cdevents: idempotency key and time are those of the context, else those of the envelope', () => {
  const [push] = parse(event).pushes;
  assert.deepEqual([push?.idempotencyKey, push?.pushedAt], ['/ci c-1', '2026-03-01T12:00:00Z']);
  const [laterPush] = parse({ ...event, time: '2026-03-01T13:00:00Z', data: { subject: { id: purl } } }).pushes;
  assert.deepEqual([laterPush?.idempotencyKey, laterPush?.pushedAt], ['/bus e-1', '2026-03-01T13:00:00Z']);
});

test('cdevents: reads each event of a batch by itself', () => {
  const { pushes, ignored } = parse([event, null, { ...event, type: 'dev.cdevents.build.finished.0.2.0' }, event]);
  assert.deepEqual(
    [pushes.length, ignored.map(({ reason }) => reason)],
    [2, ['the event has an unexpected structure', 'not a push: dev.cdevents.build.finished.0.2.0']],
  );
});

test('cdevents: reads data in base64', () => {
  const { data: _, ...rest } = event;
  const encoded = Buffer.from(JSON.stringify(data)).toString('base64');
  assert.equal(parse({ ...rest, data_base64: encoded }).pushes[0]?.repository, 'team/app');
});

test('cdevents: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, data, [], [null]]) assert.throws(() => parse(body), MalformedBody);
});

const digest = `sha256:${'a'.repeat(64)}`;

for (const [purl, expected] of [
  ['pkg:oci/app?tag=v1', { repository: 'app', tag: 'v1' }],
  ['pkg:oci/app', { repository: 'app' }],
  ['pkg:oci/app?repository_url=r.example.com/team/app&tag=v1', { registry: 'r.example.com', repository: 'team/app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com/team&tag=v1', { registry: 'r.example.com', repository: 'team/app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com&tag=v1', { registry: 'r.example.com', repository: 'app', tag: 'v1' }],
  ['pkg:oci/app?repository_url=r.example.com%3A5000%2Fteam%2Fapp', { registry: 'r.example.com:5000', repository: 'team/app' }],
  ['pkg:oci/app?repository_url=https://r.example.com/team/app/', { registry: 'r.example.com', repository: 'team/app' }],
  ['pkg:oci/app?tag=v1&arch=amd64&repository_url=r.example.com/Team/App', { registry: 'r.example.com', repository: 'Team/App', tag: 'v1' }],
  [`pkg:oci/app@${digest}?tag=v1`, { repository: 'app', tag: 'v1', digest }],
  [`pkg:oci/app@${encodeURIComponent(digest)}?tag=v1#sub/path`, { repository: 'app', tag: 'v1', digest }],
  ['PKG:OCI/App?tag=V1', { repository: 'app', tag: 'V1' }],
  ['pkg://oci/app?tag=1%2B2', { repository: 'app', tag: '1+2' }],
  ['pkg:oci/app?tag', { repository: 'app' }],
  ['pkg:oci/app?tag=%', { repository: 'app' }],
  ['pkg:oci/%?tag=v1', undefined],
  ['pkg:oci/?tag=v1', undefined],
  ['pkg:oci/a/b?tag=v1', undefined],
  ['pkg:docker/app?tag=v1', undefined],
  ['pkg:golang/mygit.com/myorg/myapp@234fd47e07d1004f0aed9c', undefined],
  ['oci/app?tag=v1', undefined],
  ['', undefined],
] as const) {
  test(`cdevents: "${purl}" is ${expected === undefined ? 'not the package URL of an image' : 'read as an image'}`, () =>
    assert.deepEqual(readOciPurl(purl), expected));
}
