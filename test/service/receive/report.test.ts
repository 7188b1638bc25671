/** What the receiver tells of deliveries, and what it must never tell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashId } from '../../../src/core/model/push-event.ts';
import { ProofUnavailable } from '../../../src/service/receive/authenticate.ts';
import { countOf, digest, post, push } from './post.ts';
import { limits, startApp } from './start-app.ts';

test('metrics count ignored and refused deliveries, by bounded reasons', async (t) => {
  const world = await startApp(t, { requestsPerMinute: 6 }, { limits: { ...limits, bodyLimitBytes: 2_048 } });
  const { event_data: data, ...rest } = push();
  const resources = ['1.0', undefined, 'a b', `sha256-${'a'.repeat(64)}.sig`].map((tag) => ({ ...data.resources[0], tag }));
  await post(world, { body: JSON.stringify({ ...rest, event_data: { ...data, resources } }) });
  await post(world, { body: JSON.stringify({ ...push(), type: 'PULL_ARTIFACT' }) });
  await post(world, { body: JSON.stringify({ ...push(), type: 'SCANNING_COMPLETED' }) });
  await post(world, { body: '{' });
  await post(world, { body: JSON.stringify({ ...rest, event_data: { ...data, resources: [{ digest, tag: '1' }] } }) });
  await post(world, { body: JSON.stringify({ ...rest, event_data: { resources } }) });
  await post(world);
  await post(world, { headers: { authorization: 'wrong' } });
  await post(world, { body: ' '.repeat(3_000) });
  assert.deepEqual(await countOf(world, 'ignoredPushes'), {
    NoTag: 1,
    InvalidName: 1,
    Referrer: 1,
    OtherEvent: 2,
    Malformed: 1,
    NoRegistry: 1,
    Incomplete: 1,
  });
  assert.deepEqual(await countOf(world, 'rejectedDeliveries'), { 'too-many': 1, unauthorized: 1, 'too-large': 1 });
  const text = await world.metrics.registry.metrics();
  assert.match(text, /image_watcher_delivery_seconds_count\{receiver="prod",provider="harbor"\} 9/);
});

test('an ignored push is recorded only for authenticated senders, without delaying the answer', async (t) => {
  const world = await startApp(t, { requestsPerMinute: 5 }, { refusal: () => 'Redis is full' });
  const { event_data: data, ...rest } = push();
  const pull = JSON.stringify({ ...push(), type: 'PULL_ARTIFACT' });
  const untagged = { ...rest, event_data: { ...data, resources: [...data.resources, { ...data.resources[0], tag: undefined }] } };
  const statuses: number[] = [];
  const send = async (request: Parameters<typeof post>[1]) => statuses.push((await post(world, request)).statusCode);
  await send({ body: pull, headers: { authorization: 'wrong' } });
  await send({ body: '{', headers: { authorization: 'wrong' } });
  assert.deepEqual(world.ignored, []);
  await send({ body: pull });
  await send({ body: '{' });
  // Refused as a whole: the sender has to come again, and then it is recorded.
  await send({ body: JSON.stringify(untagged) });
  for (let more = 0; more < 3; more++) await send({ body: pull });
  assert.deepEqual(statuses, [401, 401, 200, 200, 503, 200, 200, 429]);
  assert.deepEqual(
    world.ignored.map(({ code = 'OtherEvent' }) => code),
    ['OtherEvent', 'Malformed', 'OtherEvent', 'OtherEvent'],
  );
  const open = await startApp(t);
  const { statusCode, payload } = await post(open, { body: JSON.stringify(untagged) });
  assert.deepEqual([statusCode, open.stored.length], [202, 1], payload);
  assert.deepEqual(open.ignored, [
    { code: 'NoTag', reason: open.ignored[0]?.reason, registry: 'Harbor.example.com:443', repository: 'Shop/web' },
  ]);
});

test('no secret appears in the log, in metrics or in an answer', async (t) => {
  const secret = hashId(['a secret that looks like nothing else']);
  const worlds = [
    {},
    { storePushes: () => Promise.reject(new Error('away')) },
    { limits: { ...limits, bodyLimitBytes: 1_024 } },
    { requestsPerMinute: 1 },
  ];
  const proofs = [() => Promise.reject(new ProofUnavailable('the keys cannot be had'))];
  const urls = [
    '/webhooks/prod',
    `/webhooks/prod/${secret}`,
    `/webhooks/prod/${secret}?token=${secret}`,
    `/webhooks/other/${secret}`,
    `/webhooks/prod/${secret}/x`,
    `/webhooks/prod/${secret}/`,
    `/webhooks/prod%2F${secret}`,
    `/webhooks/prod/%2F${secret}`,
    `/webhooks/prod/${secret}%zz`,
    `/webhooks/prod/${secret}%00`,
    `/webhooks//prod/${secret}`,
    `//${secret}`,
    `/webhooks/prod/${secret.repeat(10)}`,
    `/${secret}`,
  ];
  for (const options of worlds) {
    for (const receiver of [{}, { proofs }]) {
      const world = await startApp(t, { secrets: () => [secret], ...receiver }, options);
      const answers: string[] = [];
      for (const url of urls) {
        for (const method of ['POST', 'OPTIONS', 'GET'] as const) {
          for (const body of [JSON.stringify(push()), '{', ' '.repeat(2_000)]) {
            const headers = { authorization: `Bearer ${secret}`, cookie: secret, 'content-type': 'text/plain' };
            const { statusCode, headers: answered, payload } = await world.app.inject({ method, url, headers, body });
            assert.notEqual(statusCode, 500);
            answers.push(JSON.stringify(answered), payload);
          }
        }
      }
      for (const text of [world.logged.join(''), await world.metrics.registry.metrics(), answers.join('')])
        assert.ok(!text.includes(secret));
    }
  }
});
