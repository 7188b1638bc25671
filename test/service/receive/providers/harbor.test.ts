import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { harbor } from '../../../../src/service/receive/providers/harbor.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: harbor, credentials: ['authorization'] });

const repository = { repo_full_name: 'shop/web', namespace: 'shop', name: 'web' };
const resource = { tag: '1.2.3', digest: `sha256:${'a'.repeat(64)}`, resource_url: 'harbor.example.com/shop/web:1.2.3' };
const plain = { type: 'PUSH_ARTIFACT', occur_at: 1_700_000_000, event_data: { resources: [resource], repository } };
const cloudEvent = { specversion: '1.0', id: '1', source: '/projects/2', type: 'harbor.artifact.pushed', data: plain.event_data };

const parse = (body: unknown) => harbor.parse({ headers: {}, body: Buffer.from(JSON.stringify(body)) });

test('harbor: every resource is a push', () => {
  const { pushes } = parse({ ...plain, event_data: { repository, resources: [resource, { ...resource, tag: '1.2' }] } });
  assert.deepEqual(
    pushes.map(({ repository, tag }) => `${repository}:${tag}`),
    ['shop/web:1.2.3', 'shop/web:1.2'],
  );
});

test('harbor: a resource with an unexpected structure does not hide the others', () => {
  const { pushes, ignored } = parse({ ...plain, event_data: { repository, resources: [7, resource] } });
  assert.deepEqual(
    [pushes.length, ignored],
    [1, [{ code: 'Incomplete', reason: 'a resource has an unexpected structure', repository: 'shop/web' }]],
  );
});

test('harbor: accepts the former name of the event, used by Harbor 1 and its derivatives', () =>
  assert.equal(parse({ ...plain, type: 'pushImage' }).pushes.length, 1));

test('harbor: accepts names with slashes, and payloads without a full name', () => {
  const [push] = parse({ ...plain, event_data: { resources: [resource], repository: { namespace: 'shop', name: 'team/web' } } }).pushes;
  assert.equal(push?.repository, 'shop/team/web');
});

test('harbor: without a resource URL the configuration must name the registry', () => {
  const { resource_url: _, ...bare } = resource;
  assert.equal(parse({ ...plain, event_data: { repository, resources: [bare] } }).pushes[0]?.registry, undefined);
});

test('harbor: the idempotency key is id and source of a CloudEvent, and the Default format has none', () => {
  const key = (body: unknown) => parse(body).pushes[0]?.idempotencyKey;
  assert.deepEqual([key(plain), key({ ...cloudEvent, id: '' })], [undefined, undefined]);
  assert.equal(key(cloudEvent), key({ ...cloudEvent, time: '2026-03-01T12:00:00Z' }));
  assert.notEqual(key(cloudEvent), key({ ...cloudEvent, id: '2' }));
  assert.notEqual(key(cloudEvent), key({ ...cloudEvent, source: '/projects/3' }));
});

/** A replication from another registry, as Harbor announces it where it ended. */
const replication = (artifact: object) => ({
  type: 'REPLICATION',
  occur_at: 1_700_000_000,
  event_data: {
    replication: {
      job_status: 'Success',
      src_resource: { registry_name: 'hub', registry_type: 'docker-hub', endpoint: 'https://hub.docker.com', namespace: 'library' },
      dest_resource: { registry_type: 'harbor', endpoint: 'https://harbor.example.com', namespace: 'shop' },
      successful_artifact: [{ type: 'image', status: 'Success', ...artifact }],
    },
  },
});

for (const [name, artifact, tags] of [
  ['tags in its references', { name_tag: 'web [2 item(s) in total]', references: ['1.2.3', '1.2'] }, ['1.2.3', '1.2']],
  ['a tag behind the name', { name_tag: 'web:1.2.3' }, ['1.2.3']],
  ['a chart', { type: 'chart', name_tag: 'web [1 item(s) in total]', references: ['1.2.3'] }, ['1.2.3']],
] as const) {
  test(`harbor: a replication with ${name} is a push at the destination, whether or not Harbor sends a push as well`, () => {
    const { pushes } = parse(replication(artifact));
    assert.deepEqual(
      pushes.map(({ registry, repository, tag }) => `${registry}/${repository}:${tag}`),
      tags.map((tag) => `harbor.example.com/shop/web:${tag}`),
    );
    const [pushed] = parse(plain).pushes;
    assert.deepEqual({ ...pushed, digest: undefined }, { ...pushes[0], digest: undefined });
  });
}

test('harbor: a replication to another registry is a push there, also for a receiver that names a registry', () => {
  const { event_data, ...rest } = replication({ name_tag: 'web:1.2.3' });
  const from = (harbor_hostname: string) => ({ ...rest, event_data: { replication: { ...event_data.replication, harbor_hostname } } });
  const hosts = ['harbor.example.com', 'HARBOR.example.com', 'harbor.other.example.com'].map((own) => {
    const [claimed = assert.fail()] = parse(from(own)).pushes;
    const context = { receiver: 'prod', provider: 'harbor', registryOverride: 'images.example.com', aliases: new Map(), now: new Date() };
    const event = acceptPush(claimed, context);
    return isPushEvent(event) ? event.repository.registry : event.reason;
  });
  assert.deepEqual(hosts, ['images.example.com', 'images.example.com', 'harbor.example.com']);
});

test('harbor: a replication without tags, or without artifacts, is ignored with the reason', () => {
  assert.deepEqual(parse(replication({ name_tag: 'web [1 item(s) in total]' })), {
    pushes: [],
    ignored: [{ code: 'NoTag', reason: 'the replication names no tag', repository: 'shop/web' }],
  });
  assert.equal(parse({ type: 'REPLICATION', event_data: { replication: { job_status: 'Error' } } }).ignored.length, 1);
  assert.deepEqual(parse(replication({ name_tag: 7 })).ignored[0]?.code, 'Incomplete');
});

for (const format of ['default', 'cloudevents'])
  for (const end of ['completed', 'failed', 'stopped'])
    test(`harbor: a scan that was ${end} has ended, in the format ${format}`, () => {
      const file = join(import.meta.dirname, `../../../fixtures/payloads/harbor/harbor-scan-${end}-${format}.json`);
      const { pushes, ignored, scans = [] } = harbor.parse({ headers: {}, body: readFileSync(file) });
      assert.deepEqual([pushes, ignored, scans.length], [[], [], 1]);
      const [{ registry, repository, digest, tag } = {}] = scans;
      assert.deepEqual([registry, repository, tag], ['localhost', 'harbor/alpine', undefined]);
      assert.match(digest ?? '', /^sha256:[0-9a-f]{64}$/);
    });

test('harbor: a scan has the tag that Harbor names, and one of nothing is no scan', () => {
  const scan = { ...plain, type: 'SCANNING_COMPLETED' };
  const { type, tag, digest } = parse(scan).scans?.[0] ?? {};
  assert.deepEqual([type, tag, digest], [scan.type, resource.tag, resource.digest]);
  const empty = { ...scan, event_data: { repository, resources: [7, {}] } };
  assert.deepEqual(parse(empty), {
    pushes: [],
    ignored: [{ code: 'Incomplete', reason: 'the scan names no image', repository: 'shop/web' }],
    scans: [],
  });
});

test('harbor: invalid times are omitted', () => {
  for (const occur_at of ['yesterday', 1e300, null, -1e300]) {
    const [push] = parse({ ...plain, occur_at }).pushes;
    assert.ok(push && !('pushedAt' in push));
  }
});

test('harbor: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, { events: [] }, { type: 7 }, []]) assert.throws(() => parse(body), MalformedBody);
});
