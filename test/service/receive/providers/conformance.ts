/** What every provider must do, tried on real payloads and on what resembles them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isDigest } from '../../../../src/core/model/image-reference.ts';
import { acceptPush, isPushEvent, type PushEvent } from '../../../../src/core/model/push-event.ts';
import { authenticate } from '../../../../src/service/receive/authenticate.ts';
import { MalformedBody, OversizedDelivery, type Delivery, type Provider } from '../../../../src/service/receive/providers/provider.ts';
import { cpuCost } from '../cpu-cost.ts';
import { startApp } from '../start-app.ts';
import { blownUp, hostileBodies, megabyte, type HostileBody } from './hostile-bodies.ts';
import { malformedBodies } from './malformed-bodies.ts';
import { mutationsOf, plainTextOf } from './mutations.ts';
import { readSamples, sampleSecret, type Sample } from './read-samples.ts';
import { isFull, sampled } from '../../../harness/full-tests.ts';

export interface Suite {
  readonly provider: Provider;
  /** The headers by which the sender proves itself, in lower case; none where it can be given nothing but a URL. */
  readonly credentials: readonly string[];
  /** The receiver's `registry`, for senders that name none. */
  readonly registry?: string;
}

const now = new Date('2026-03-01T12:00:00.000Z');

/** There are thousands of places where a sender's document can be blown up. A part of the size, for a part of the cost, shows all that grows too fast. */
const share = isFull ? 1 : 16;

/** Runs the whole suite against one provider. */
export function testProvider(suite: Suite): void {
  const { provider } = suite;
  // OPTIONS is answered by the route, whichever provider it leads to.
  const samples = readSamples(provider.id).filter(({ method }) => method === 'POST');
  describe(`${provider.id}: samples`, () => {
    assert.ok(samples.some(({ decision }) => decision === 'push') && samples.some(({ decision }) => decision.startsWith('ignore')));
    for (const sample of samples) {
      test(`${sample.name} is read as ${sample.decision}`, () => isReadRight(sample, suite));
      test(`${sample.name} gets the right answer`, (t) => isAnsweredRight(t, sample, suite));
      test(`${sample.name} is accepted with one of the secrets only`, (t) => isLetInRight(t, sample, suite));
    }
  });
  describe(`${provider.id}: bodies that resemble no sample`, () => {
    for (const [name, body] of malformedBodies) {
      test(`"${name}" yields no push, and throws nothing but MalformedBody and OversizedDelivery`, () =>
        assert.deepEqual(eventsOf({ headers: {}, body }, suite), []));
    }
    test('all of them are answered 200, or 413 when too large', async (t) => {
      const { app, stored } = await startApp(t, { provider, unauthenticated: true, registryOverride: suite.registry });
      for (const [name, body] of malformedBodies) {
        const { statusCode } = await app.inject({
          method: 'POST',
          url: '/webhooks/prod',
          headers: { 'content-type': 'application/json' },
          body,
        });
        assert.equal(statusCode, name === 'a hundred thousand events' ? 413 : 200, name);
      }
      assert.deepEqual(stored, []);
    });
    test('any bytes and any JSON yield no push', () => {
      fc.assert(
        fc.property(fc.oneof(fc.uint8Array(), fc.json(), fc.string()), (body) => {
          assert.deepEqual(eventsOf({ headers: {}, body: Buffer.from(body) }, suite), []);
        }),
      );
    });
    test('payloads of other senders throw nothing, and yield only the pushes that they contain', () => {
      for (const sample of readSamples().filter((other) => other.provider !== provider.id)) {
        const expectedPushes = expectedOf(sample).map((push) => JSON.stringify(push));
        for (const push of eventsOf(sample, { provider }).map(namesOf))
          assert.ok(expectedPushes.includes(JSON.stringify(push)), sample.name);
      }
    });
    test('the most expensive bodies of strangers cost less than 5 ms each', () => isCheapForStrangers(samples, suite));
    test('the most expensive bodies of a known sender cost less than 100 ms each, and get a short answer', (t) =>
      isCheapForSenders(t, samples, suite));
    for (const sample of samples.filter(({ body }) => body.length > 0)) {
      test(`${sample.name}, mutated, never yields a push that the sample does not name`, () => survivesMutation(sample, suite));
    }
  });
}

/** Every push that comes of a delivery; a malformed one has none. */
function eventsOf(delivery: Delivery, { provider, registry }: Pick<Suite, 'provider' | 'registry'>): PushEvent[] {
  try {
    const override = registry === undefined ? {} : { registryOverride: registry };
    const context = { receiver: 'prod', provider: provider.id, aliases: new Map<string, string>(), now, ...override };
    return provider
      .parse(delivery)
      .pushes.map((push) => acceptPush(push, context))
      .filter(isPushEvent);
  } catch (error) {
    if (error instanceof MalformedBody || error instanceof OversizedDelivery) return [];
    throw error;
  }
}

function expectedOf({ decision, expected }: Sample, suite?: Suite) {
  if (decision !== 'push') return [];
  assert.ok(expected, 'the manifest names no extraction');
  const { repository, digest, tags } = expected;
  const registry = suite?.registry ?? expected.registry;
  // Some vendors mask the digest on their page.
  return tags.map((tag) => ({ registry, repository, tag, ...(digest !== null && isDigest(digest) && { digest }) }));
}

function namesOf({ repository: { registry, path }, tag, digest }: PushEvent) {
  return { registry, repository: path, tag, ...(digest && { digest }) };
}

function isReadRight(sample: Sample, suite: Suite): void {
  const events = eventsOf(sample, suite);
  const expected = expectedOf(sample, suite);
  assert.deepEqual(events.map(namesOf), expected);
  const marked = Buffer.concat([Buffer.from('\uFEFF'), sample.body]);
  const isJson = ['{', '['].includes(sample.body.toString('utf8', 0, 1));
  if (isJson) assert.deepEqual(eventsOf({ ...sample, body: marked }, suite).map(namesOf), expected, 'with a byte order mark');
  const { timestamp } = sample.expected ?? {};
  const pushedAt = typeof timestamp === 'number' ? new Date(timestamp * 1_000).toISOString() : timestamp;
  for (const event of events) assert.equal(event.pushedAt, pushedAt ?? undefined);
  // Delivered once more, it is the same event.
  assert.deepEqual(
    eventsOf(sample, suite).map(({ id }) => id),
    events.map(({ id }) => id),
  );
}

type Ending = Parameters<typeof startApp>[0];

async function isAnsweredRight(t: Ending, sample: Sample, suite: Suite): Promise<void> {
  const { provider, registry } = suite;
  const { app, stored } = await startApp(t, { provider, unauthenticated: true, registryOverride: registry });
  const response = await app.inject({ method: 'POST', url: '/webhooks/prod', headers: sample.headers, body: sample.body });
  const expected = expectedOf(sample, suite);
  assert.equal(response.statusCode, expected.length > 0 ? 202 : 200);
  if (sample.response?.body !== undefined) {
    assert.deepEqual([response.json<unknown>(), stored], [sample.response.body, []]);
    return;
  }
  const { accepted, ignored } = response.json<{ accepted: Record<string, string>[]; ignored: { reason: string }[] }>();
  assert.deepEqual(
    accepted.map(({ registry, repository, tag, digest }) => ({ registry, repository, tag, ...(digest && { digest }) })),
    expected,
  );
  assert.deepEqual(
    stored.map(({ id }) => id),
    accepted.map(({ id }) => id),
  );
  assert.ok(accepted.length > 0 || ignored.length > 0, 'nobody is told what became of it');
  for (const { reason } of ignored) assert.ok(reason.length > 0);
}

async function isLetInRight(t: Ending, sample: Sample, { provider, credentials, registry }: Suite): Promise<void> {
  // A placeholder (`Bearer <token of …>`) is no credential. Where a sender has none, the secret is in the URL.
  const hasCredentials = credentials.some((name) => !(sample.headers[name] ?? '<').includes('<'));
  const token = hasCredentials ? '' : `/${sampleSecret}`;
  const without = Object.fromEntries(Object.entries(sample.headers).filter(([name]) => !credentials.includes(name)));
  const rows: [name: string, secrets: string[], headers: Readonly<Record<string, string>>, path: string, letIn: boolean][] = [
    ['the right secret', [sampleSecret], sample.headers, token, true],
    ['rotated, the old one', [sampleSecret, 'next-secret'], sample.headers, token, true],
    ['rotated, the new one', ['old-secret', sampleSecret], sample.headers, token, true],
    ['another secret', ['other-secret'], sample.headers, token, false],
    ['a beginning of the secret', [sampleSecret.slice(0, -1)], sample.headers, token, false],
    ['a longer secret', [`${sampleSecret}0`], sample.headers, token, false],
    ['no secret sent', [sampleSecret], without, '', false],
    ['no secret known', [], sample.headers, token, false],
    ['a wrong secret in the URL, whatever the headers say', [sampleSecret], sample.headers, '/other-secret', false],
  ];
  for (const [name, secrets, headers, path, letIn] of rows) {
    const { app, stored } = await startApp(t, { provider, secrets: () => secrets, registryOverride: registry });
    const { statusCode, body } = await app.inject({ method: 'POST', url: `/webhooks/prod${path}`, headers, body: sample.body });
    if (letIn) assert.ok(statusCode === 200 || statusCode === 202, `${name}: ${statusCode}`);
    else {
      assert.equal(statusCode, 401, name);
      assert.equal(body, '{"error":"unauthorized"}');
      assert.deepEqual(stored, []);
    }
  }
}

/** With a header in the right form of every kind that the sender has: what is compared with the secrets is computed. */
async function isCheapForStrangers(samples: readonly Sample[], { provider, credentials }: Suite): Promise<void> {
  const digits = (length: number) => '0'.repeat(length);
  const proofs = [digits(64), `sha256=${digits(64)}`, digits(40), `Bearer ${'a'.repeat(15_000)}`, `Basic ${'a'.repeat(15_000)}`];
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x${index}`, 'a']));
  const types = ['application/json', 'application/x-www-form-urlencoded', 'application/cloudevents-batch+json'];
  const headerSets = [
    many,
    ...types.flatMap((type) =>
      proofs.map((proof) => ({ ...Object.fromEntries(credentials.map((name) => [name, proof])), 'content-type': type })),
    ),
  ];
  const receiver = { provider, unauthenticated: false, secrets: () => ['one-secret', 'and-the-next'] };
  for (const [name, body] of [...hostileBodies(), ...samples.map((sample) => [sample.name, sample.body] as const)]) {
    for (const headers of headerSets) {
      const cost = await cpuCost(5, async () => {
        assert.equal((await authenticate({ headers, body }, undefined, receiver)).kind, 'refused');
      });
      assert.ok(cost < 5, `${name} as ${JSON.stringify(headers).slice(0, 200)}: ${cost} ms`);
    }
  }
}

async function isCheapForSenders(t: Ending, samples: readonly Sample[], { provider, registry }: Suite): Promise<void> {
  const { app } = await startApp(t, { provider, unauthenticated: true, registryOverride: registry });
  const headers = new Map(samples.map((sample) => [sample.name, sample.headers]));
  const costOf = async ([name, body]: HostileBody, limitMs: number, runs?: number) => {
    assert.ok(body.length <= megabyte, name);
    let answered = { statusCode: 0, body: '' };
    const send = async () => {
      answered = await app.inject({
        method: 'POST',
        url: '/webhooks/prod',
        headers: headers.get(name.split(': ')[0] ?? '') ?? samples[0]?.headers ?? {},
        body,
      });
    };
    const cost = await cpuCost(limitMs, send, runs);
    assert.ok([200, 202, 413].includes(answered.statusCode), `${name}: ${answered.statusCode}`);
    const { ignored = [] } = JSON.parse(answered.body) as { ignored?: readonly unknown[] };
    assert.ok(ignored.length <= 20 && JSON.stringify(ignored).length < 32_768, name);
    return cost;
  };
  const whole = async (hostile: HostileBody) => {
    const cost = await costOf(hostile, 100);
    assert.ok(cost < 100, `${hostile[0]}: ${cost} ms`);
  };
  for (const hostile of hostileBodies()) await whole(hostile);
  const costly = new Set<string>();
  const limitMs = 100 / share;
  for (const hostile of sampled(blownUp(samples, megabyte / share), 8))
    if ((await costOf(hostile, limitMs, 2)) >= limitMs) costly.add(hostile[0]);
  // Some cost the same at any size, because a delivery has as many entries as are read in a quarter of it.
  if (costly.size > 0) for (const hostile of blownUp(samples)) if (costly.has(hostile[0])) await whole(hostile);
}

function survivesMutation(sample: Sample, suite: Suite): void {
  const text = plainTextOf(sample.body).toLowerCase();
  const allowed = new Set(expectedOf(sample, suite).map(({ repository, tag }) => `${repository}:${tag}`));
  fc.assert(
    fc.property(mutationsOf(sample.body), (body) => {
      for (const { repository, tag } of eventsOf({ headers: sample.headers, body }, suite)) {
        // Some senders tell the parts of a name one by one.
        const parts = [...repository.path.split('/'), tag.toLowerCase()];
        assert.ok(
          parts.every((part) => text.includes(part)),
          `${repository.path}:${tag} is not named`,
        );
        if (sample.decision === 'push') assert.ok(allowed.has(`${repository.path}:${tag}`), `${repository.path}:${tag} was not pushed`);
      }
    }),
    { numRuns: 150 },
  );
}
