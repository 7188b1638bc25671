import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createObjectStore, type ObjectStore, type StoredObject } from '../../../src/service/kube/object-store.ts';
import { KubeError } from '../../../src/service/kube/kube-error.ts';
import { pauseAfter, type Reflector, type ReflectorOptions, startReflector } from '../../../src/service/kube/reflector.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type Exchange, startFakeApiServer } from './fake-api-server.ts';

const path = '/apis/example.com/v1/namespaces/shop/widgets';
const raw = (name: string, resourceVersion: string, extra: object = {}) => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion, ...extra },
});
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const bookmark = (resourceVersion: string) => event('BOOKMARK', { metadata: { resourceVersion } });
const expiredStatus = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

function project(object: unknown): StoredObject | undefined {
  const { metadata } = object as { metadata: StoredObject & { poison?: boolean; unwanted?: boolean } };
  if (metadata.poison) throw new Error('poisoned');
  if (metadata.unwanted) return undefined;
  const { namespace, name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion };
}

interface World {
  readonly store: ObjectStore<StoredObject>;
  readonly reflector: Reflector;
  readonly errors: { error: unknown; nextTryMs: number | undefined }[];
  readonly exchanges: readonly Exchange[];
  content(): string;
}

/** A reflector on a fake server; `steps` answer one request after the other, and the watch that follows stays open. */
async function world(
  context: TestContext,
  steps: ((exchange: Exchange) => void)[],
  options: Partial<ReflectorOptions<StoredObject>> = {},
): Promise<World> {
  const server = await startFakeApiServer();
  const waiting = [...steps];
  server.handle((exchange) => (waiting.shift() ?? watching())(exchange));
  const store = createObjectStore<StoredObject>();
  const errors: World['errors'] = [];
  const onError = (error: unknown, nextTryMs: number | undefined) => void errors.push({ error, nextTryMs });
  const reflector = startReflector({ client: server.client(), path, project, store, random: () => 0, onError, ...options });
  context.after(async () => {
    await reflector.stop();
    await server.stop();
  });
  const content = () => [...store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).join(' ');
  return { store, reflector, errors, exchanges: server.exchanges, content };
}

const listing =
  (resourceVersion: string, ...items: object[]) =>
  (exchange: Exchange) =>
    exchange.json(200, { metadata: { resourceVersion }, items });
/** Opens a watch, sends these lines, and leaves it open. */
const watching =
  (...lines: string[]) =>
  ({ response }: Exchange) => {
    response.writeHead(200).flushHeaders();
    for (const line of lines) response.write(line);
  };
/** The same, and then the server ends it. */
const watchingUntilEnd =
  (...lines: string[]) =>
  ({ response }: Exchange) => {
    response.end(lines.join(''));
  };
const failing = (status: number, headers?: Record<string, string>) => (exchange: Exchange) =>
  exchange.json(status, { kind: 'Status', message: 'no' }, headers);

test('a watch requests bookmarks, resumes from the last version, and has a random timeout', async (context) => {
  const steps = [
    listing('5', raw('a', '3')),
    watchingUntilEnd(event('ADDED', raw('b', '6')), bookmark('9')),
    watching(event('MODIFIED', raw('a', '10'))),
  ];
  const { content, exchanges, reflector } = await world(context, steps, { random: () => 0.5 });
  await waitFor('the second watch', () => content() === 'a@10 b@6');
  const queries = exchanges.map(({ query }) => query.toString());
  assert.deepEqual(queries, [
    'limit=500',
    'watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300',
    'watch=true&allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=300',
  ]);
  const { synced, connected, lastError, quietMs, objects } = reflector.state();
  assert.deepEqual({ synced, connected, lastError, objects }, { synced: true, connected: true, lastError: undefined, objects: 2 });
  assert.ok(quietMs !== undefined);
});

test('a watch that is outdated at once counts as a first failure, however many lists failed before', async (context) => {
  const steps = [...Array.from({ length: 5 }, () => failing(429)), listing('5'), failing(410), listing('9', raw('web', '8'))];
  const { content, errors } = await world(context, steps);
  await waitFor('the second list', () => content() === 'web@8');
  // Without luck (random 0) half of the pause.
  assert.deepEqual(
    errors.map(({ nextTryMs }) => nextTryMs),
    [50, 100, 200, 400, 800, 50],
  );
});

test('a watch that is outdated each time is requested less and less often', async (context) => {
  const steps = Array.from({ length: 4 }, () => [listing('5'), failing(410)]).flat();
  const { errors } = await world(context, [...steps, listing('9')]);
  await waitFor('four failures', () => errors.length === 4);
  assert.deepEqual(
    errors.map(({ nextTryMs }) => nextTryMs),
    [50, 100, 200, 400],
  );
});

const faults: { name: string; steps: ((exchange: Exchange) => void)[]; requests: string[] }[] = [
  ...[401, 403, 404, 429, 500, 503].map((status) => ({
    name: `a list is answered ${status}`,
    // 401 is tried once more with fresh credentials by the client.
    steps: [failing(status), ...(status === 401 ? [failing(401)] : []), listing('9', raw('web', '8'))],
    requests: ['list', ...(status === 401 ? ['list'] : []), 'list', 'watch 9'],
  })),
  ...[403, 429, 500].map((status) => ({
    name: `a watch is answered ${status}`,
    steps: [listing('5', raw('web', '4')), failing(status), watching(event('MODIFIED', raw('web', '8')))],
    requests: ['list', 'watch 5', 'watch 5'],
  })),
  ...[400, 404, 410, 504].map((status) => ({
    name: `a watch is answered ${status}: lists again`,
    steps: [listing('5'), failing(status), listing('9', raw('web', '8'))],
    requests: ['list', 'watch 5', 'list', 'watch 9'],
  })),
  {
    name: 'the version is forgotten during a watch: lists again',
    steps: [listing('5'), watching(event('ERROR', expiredStatus)), listing('9', raw('web', '8'))],
    requests: ['list', 'watch 5', 'list', 'watch 9'],
  },
  {
    name: 'another error during a watch: resumes',
    steps: [
      listing('5'),
      watching(event('ADDED', raw('web', '7')), event('ERROR', { code: 500, message: 'etcd is away' })),
      watching(event('MODIFIED', raw('web', '8'))),
    ],
    requests: ['list', 'watch 5', 'watch 7'],
  },
  {
    name: 'the list is forgotten between two pages: starts over',
    steps: [
      (exchange) => exchange.json(200, { metadata: { resourceVersion: '5', continue: 'next' }, items: [raw('gone', '3')] }),
      (exchange) => exchange.json(410, expiredStatus),
      listing('9', raw('web', '8')),
    ],
    requests: ['list', 'list next', 'list', 'watch 9'],
  },
  {
    name: 'a connection is reset during the list',
    // A read is sent again at once by the client.
    steps: [(exchange) => exchange.reset(), (exchange) => exchange.reset(), listing('9', raw('web', '8'))],
    requests: ['list', 'list', 'list', 'watch 9'],
  },
  {
    name: 'a connection is reset in the middle of an event: the event comes again',
    steps: [
      listing('5'),
      (exchange) => {
        exchange.response.write(event('ADDED', raw('web', '7')));
        exchange.response.write(event('MODIFIED', raw('web', '8')).slice(0, 30), () => exchange.reset());
      },
      watching(event('MODIFIED', raw('web', '8'))),
    ],
    requests: ['list', 'watch 5', 'watch 7'],
  },
  {
    name: 'a line is garbage: what it said is lost, so lists again',
    steps: [listing('5'), watching('<html>\n'), listing('9', raw('web', '8'))],
    requests: ['list', 'watch 5', 'list', 'watch 9'],
  },
  {
    name: 'a line is JSON, but no event',
    steps: [listing('5'), watching('{"type":"ADDED","object":{}}\n'), listing('9', raw('web', '8'))],
    requests: ['list', 'watch 5', 'list', 'watch 9'],
  },
  {
    name: 'a list is none',
    steps: [(exchange) => exchange.json(200, 'hello'), (exchange) => exchange.json(200, {}), listing('9', raw('web', '8'))],
    requests: ['list', 'list', 'list', 'watch 9'],
  },
];

for (const { name, steps, requests } of faults) {
  test(`the objects are known again after "${name}"`, async (context) => {
    const { content, exchanges, reflector, errors } = await world(context, steps);
    await waitFor('the right state in the end', () => content() === 'web@8' && reflector.state().connected);
    const seen = exchanges.map(({ query }) => {
      const what = query.has('watch') ? ['watch', query.get('resourceVersion')] : ['list', query.get('continue')];
      return what.filter(Boolean).join(' ');
    });
    assert.deepEqual(seen, requests);
    assert.ok(errors.length > 0);
    assert.ok(errors.every(({ error, nextTryMs }) => error instanceof Error && nextTryMs !== undefined));
    assert.equal(reflector.state().lastError, undefined);
  });
}

test('while a kind is not served the state of its reflector says so, and nothing is synced', async (context) => {
  const { reflector } = await world(
    context,
    Array.from({ length: 1000 }, () => failing(404)),
  );
  await waitFor('the error', () => reflector.state().lastError);
  const { lastError, synced, connected } = reflector.state();
  assert.match(lastError ?? '', /widgets: 404: no \(the API server does not know this kind: is its CustomResourceDefinition installed\?\)/);
  assert.deepEqual({ synced, connected }, { synced: false, connected: false });
});

test('Retry-After is a lower bound for the delay of the next list', async (context) => {
  const { errors, reflector } = await world(context, [failing(429, { 'retry-after': '20' })]);
  await waitFor('the error', () => errors.length === 1);
  assert.equal(errors[0]?.nextTryMs, 20_000);
  // Nothing has to be waited for to stop.
  await reflector.stop();
});

test('a server that sends Retry-After is asked at most a little later than that, however long the outage lasts', () => {
  const busy = new KubeError('list', 429, { retryAfterMs: 1_000 });
  assert.deepEqual(
    [100, 1_600, 30_000].map((backoffMs) => pauseAfter(busy, backoffMs)),
    [1_000, 1_600, 5_000],
  );
  assert.equal(pauseAfter(new KubeError('list', 429, { retryAfterMs: 3_600_000 }), 100), 60_000);
  assert.equal(pauseAfter(new KubeError('list', 500, {}), 30_000), 30_000);
});

test('an expired version counts as a first failure, even after other failures of the watch', async (context) => {
  const steps = [listing('5'), ...Array.from({ length: 5 }, () => failing(429)), failing(410), listing('9', raw('web', '8'))];
  const { content, errors } = await world(context, steps);
  await waitFor('the second list', () => content() === 'web@8');
  assert.deepEqual(
    errors.map(({ nextTryMs }) => nextTryMs),
    [50, 100, 200, 400, 800, 50],
  );
});

test('a malformed object is reported and hides no other one', async (context) => {
  const poison = raw('bad', '4', { poison: true });
  const steps = [
    listing('5', poison, raw('a', '3')),
    watching(event('ADDED', raw('worse', '6', { poison: true })), event('ADDED', raw('b', '7'))),
  ];
  const { content, errors, exchanges } = await world(context, steps);
  await waitFor('the others', () => content() === 'a@3 b@7');
  assert.deepEqual(
    errors.map(({ error, nextTryMs }) => [(error as Error).message, nextTryMs]),
    [
      [`${path}: shop/bad is skipped: poisoned`, undefined],
      [`${path}: shop/worse is skipped: poisoned`, undefined],
    ],
  );
  assert.equal(exchanges.length, 2);
});

test('an object that becomes malformed is not taken for deleted, and its deletion is still noticed', async (context) => {
  const steps = [
    listing('5', raw('a', '3')),
    watching(event('MODIFIED', raw('a', '6', { poison: true })), event('ERROR', expiredStatus)),
    listing('8', raw('a', '6', { poison: true })),
    watching(event('ADDED', raw('b', '9'))),
  ];
  const { content, exchanges, reflector } = await world(context, steps);
  await waitFor('the second watch', () => content() === 'a@3 b@9');
  assert.equal(exchanges.length, 4);
  await reflector.stop();
  const deleted = await world(context, [listing('5', raw('a', '3')), watching(event('DELETED', raw('a', '6', { poison: true })))]);
  await waitFor('the deletion', () => deleted.reflector.state().quietMs !== undefined && deleted.content() === '');
});

test('an object that is no longer wanted leaves the store', async (context) => {
  const { content } = await world(context, [
    listing('5', raw('a', '3'), raw('b', '4')),
    watching(event('MODIFIED', raw('a', '6', { unwanted: true }))),
  ]);
  await waitFor('a to go', () => content() === 'b@4');
});

test('a listener that throws is reported and does not stop the reflector', async (context) => {
  const store = createObjectStore<StoredObject>();
  store.subscribe(() => {
    throw new Error('bug');
  });
  const { errors, exchanges } = await world(context, [listing('5', raw('a', '3')), watching(event('ADDED', raw('b', '6')))], { store });
  await waitFor('both objects', () => store.size === 2);
  assert.equal(errors.length, 2);
  assert.equal(exchanges.length, 2);
});

test('a server that was restored to an older state is followed', async (context) => {
  const steps = [listing('50', raw('a', '48'), raw('b', '49')), watching(event('ERROR', expiredStatus)), listing('20', raw('a', '18'))];
  const { content } = await world(context, steps);
  await waitFor('the old state', () => content() === 'a@18');
});

test('a watch that ends immediately is not resumed immediately', async (context) => {
  const { exchanges, reflector } = await world(context, [listing('5'), ...Array.from({ length: 1000 }, () => watchingUntilEnd())], {
    random: () => 1,
  });
  await waitFor('some watches', () => exchanges.length >= 4);
  const before = exchanges.length;
  await reflector.stop();
  // The pause may have been over just then.
  assert.ok(exchanges.length <= before + 1, `${exchanges.length - before} more`);
});
