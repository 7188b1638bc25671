import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptPush, isPushEvent } from '../../../../src/core/model/push-event.ts';
import { ecr, ecrHost } from '../../../../src/service/receive/providers/ecr.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { startApp } from '../start-app.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: ecr, credentials: ['x-webhook-secret'] });

const digest = `sha256:${'a'.repeat(64)}`;
const detail = {
  result: 'SUCCESS',
  'repository-name': 'team/api',
  'image-digest': digest,
  'action-type': 'PUSH',
  'image-tag': '1.2.3',
};
const event = {
  version: '0',
  id: 'event-1',
  'detail-type': 'ECR Image Action',
  source: 'aws.ecr',
  account: '123456789012',
  time: '2026-03-01T12:00:00Z',
  region: 'eu-west-1',
  resources: [],
  detail,
};
const push = {
  registry: '123456789012.dkr.ecr.eu-west-1.amazonaws.com',
  repository: 'team/api',
  tag: '1.2.3',
  digest,
  idempotencyKey: 'event-1',
  pushedAt: '2026-03-01T12:00:00Z',
};
const topic = 'arn:aws:sns:eu-west-1:123456789012:ecr-push';

const parse = (body: unknown, headers: Record<string, string> = {}) => ecr.parse({ headers, body: Buffer.from(JSON.stringify(body)) });
const notification = (message: unknown) => ({
  Type: 'Notification',
  MessageId: 'message-1',
  TopicArn: topic,
  Message: JSON.stringify(message),
});
const reasonOf = (body: unknown) => {
  const { pushes, ignored } = parse(body);
  assert.deepEqual(pushes, []);
  return ignored[0]?.reason;
};

test('ecr: the same push is read on every delivery path', () => {
  assert.deepEqual(parse(event).pushes, [push]);
  assert.deepEqual(parse(notification(event)).pushes, [push]);
  assert.deepEqual(parse(event, { 'x-amz-sns-rawdelivery': 'true', 'x-amz-sns-message-id': 'message-1' }).pushes, [push]);
});

test('ecr: without an id of the event, that of the message is used', () => {
  const { id: _, ...anonymous } = event;
  assert.equal(parse(notification(anonymous)).pushes[0]?.idempotencyKey, 'message-1');
  assert.equal(parse(anonymous, { 'x-amz-sns-message-id': 'message-1' }).pushes[0]?.idempotencyKey, 'message-1');
  assert.equal(parse(anonymous).pushes[0]?.idempotencyKey, undefined);
});

for (const [account, region, host] of [
  ['123456789012', 'us-east-1', '123456789012.dkr.ecr.us-east-1.amazonaws.com'],
  ['012345678901', 'ap-southeast-2', '012345678901.dkr.ecr.ap-southeast-2.amazonaws.com'],
  ['123456789012', 'us-gov-west-1', '123456789012.dkr.ecr.us-gov-west-1.amazonaws.com'],
  ['123456789012', 'cn-northwest-1', '123456789012.dkr.ecr.cn-northwest-1.amazonaws.com.cn'],
  ['123456789012', 'us-iso-east-1', '123456789012.dkr.ecr.us-iso-east-1.c2s.ic.gov'],
  ['123456789012', 'eusc-de-east-1', '123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu'],
  ['12345678901', 'us-east-1', undefined],
  ['123456789012', 'evil.example.com/', undefined],
  ['123456789012', '', undefined],
] as const) {
  test(`ecr: the registry of ${account} in "${region}" is ${host ?? 'unknown'}`, () => assert.equal(ecrHost(account, region), host));
}

test('ecr: without a region or account the configuration must name the registry', () => {
  for (const changes of [{ region: null }, { account: 123_456_789_012 }, { region: 'x' }]) {
    const [claimed] = parse({ ...event, ...changes }).pushes;
    assert.ok(claimed && !('registry' in claimed));
  }
});

test('ecr: other events are not pushes', () => {
  const detailed = (changes: object) => ({ ...event, detail: { ...detail, ...changes } });
  assert.equal(reasonOf(detailed({ 'action-type': 'DELETE' })), 'not a push: ECR Image Action DELETE');
  assert.equal(reasonOf(detailed({ result: 'FAILURE' })), 'the push did not succeed: FAILURE');
  assert.equal(reasonOf(detailed({ result: undefined })), 'the push did not succeed: no result');
  assert.equal(reasonOf({ ...event, 'detail-type': 'ECR Image Scan' }), 'not a push: ECR Image Scan PUSH');
  assert.equal(reasonOf({ ...event, source: 'aws.s3' }), 'not an event of ECR: aws.s3');
  assert.equal(reasonOf({ ...event, detail: null }), 'not a push: ECR Image Action');
  assert.equal(reasonOf(detailed({ 'repository-name': '' })), 'the event names no repository');
  assert.match(reasonOf({ Type: 'UnsubscribeConfirmation', TopicArn: topic, Token: 'abc' }) ?? '', /was ended/);
});

test('ecr: a replication that ended is a push at its destination', () => {
  const replicated = { ...detail, 'action-type': 'REPLICATE', 'source-account': '210987654321', 'source-region': 'us-east-1' };
  const replication = { ...event, 'detail-type': 'ECR Replication Action', detail: replicated };
  assert.deepEqual(parse(replication).pushes, [push]);
  assert.equal(reasonOf({ ...replication, detail: { ...replicated, result: 'FAILURE' } }), 'the replication did not succeed: FAILURE');
  assert.equal(reasonOf({ ...replication, detail }), 'not a push: ECR Replication Action PUSH');
  assert.equal(reasonOf({ ...event, detail: replicated }), 'not a push: ECR Image Action REPLICATE');
});

test('ecr: a push without a tag, or of something other than an image or a chart, is ignored', () => {
  const isPushed = (changes: object) => {
    const [claimed] = parse({ ...event, detail: { ...detail, ...changes } }).pushes;
    return (
      claimed !== undefined && isPushEvent(acceptPush(claimed, { receiver: 'r', provider: 'ecr', aliases: new Map(), now: new Date(0) }))
    );
  };
  const [manifest, config] = ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.oci.image.config.v1+json'];
  assert.ok(isPushed({ 'manifest-media-type': manifest, 'artifact-media-type': config }));
  assert.ok(isPushed({ 'manifest-media-type': manifest, 'artifact-media-type': '' }));
  assert.ok(isPushed({ 'manifest-media-type': manifest, 'artifact-media-type': 'application/vnd.cncf.helm.config.v1+json' }));
  assert.ok(!isPushed({ 'manifest-media-type': manifest, 'artifact-media-type': 'application/vnd.dev.sigstore.bundle.v0.3+json' }));
  assert.ok(!isPushed({ 'manifest-media-type': 'application/vnd.cncf.oras.artifact.manifest.v1+json' }));
  for (const tag of ['', null, undefined, 7, []]) assert.ok(!isPushed({ 'image-tag': tag }));
});

test("ecr: reads Argo CD Image Updater's transformed events", () => {
  const cloudEvent = {
    specversion: '1.0',
    id: 'event-1',
    type: 'com.amazon.ecr.image.push',
    source: 'urn:aws:ecr:eu-west-1:123456789012:repository/team/api',
    time: '2026-03-01T12:00:00Z',
    data: { repositoryName: 'team/api', imageDigest: digest, imageTag: '1.2.3', registryId: '123456789012' },
  };
  assert.deepEqual(parse(cloudEvent).pushes, [push]);
  assert.equal(parse({ ...cloudEvent, source: '/elsewhere' }).pushes[0]?.registry, undefined);
  assert.equal(reasonOf({ ...cloudEvent, type: 'com.amazon.ecr.image.delete' }), 'not a push: com.amazon.ecr.image.delete');
  assert.equal(reasonOf({ ...cloudEvent, data: [] }), 'the event names no repository');
});

test('ecr: accepts a secret in any header, as token or as password', () => {
  const verify = (headers: Record<string, string>) => ecr.verify({ headers, body: Buffer.alloc(0) }, ['old', 's3cret']);
  const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });
  for (const headers of [
    { 'x-api-key': 's3cret' },
    { 'x-anything': 's3cret' },
    { authorization: 's3cret' },
    { authorization: 'Bearer s3cret' },
    basic('events:s3cret'),
  ]) {
    assert.ok(verify(headers));
  }
  for (const headers of [{}, { 'x-api-key': 's3cre' }, { 'x-api-key': 'Bearer s3cret' }, { s3cret: 'x' }, basic('s3cret:x')]) {
    assert.ok(!verify(headers));
  }
});

test('ecr: the token and the address in a subscription are neither used nor disclosed', async (t) => {
  const { app, stored, logged } = await startApp(t, { provider: ecr });
  const payload = {
    Type: 'SubscriptionConfirmation',
    MessageId: 'message-2',
    Token: '2336412f37',
    TopicArn: topic,
    SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
  };
  const response = await app.inject({ method: 'POST', url: '/webhooks/prod/s3cret', payload });
  const reason = `not a push: a subscription of the topic ${topic}, which is confirmed only for topics under "sns" of the receiver`;
  assert.deepEqual([response.statusCode, response.json(), stored], [200, { accepted: [], ignored: [{ reason }] }, []]);
  assert.ok(!/2336412f37|s3cret/.test(logged.join('')));
});

test('ecr: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [
    {},
    [],
    [event],
    { Type: 'Notification' },
    { Type: 'Notification', Message: 'hello' },
    notification([]),
    { ...event, source: 7 },
  ]) {
    assert.throws(() => parse(body), MalformedBody);
  }
});
