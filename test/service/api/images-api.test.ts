/** Where images run, as callers of the API see it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import type { PlaceView, RepositoryView, VersionView } from '../../../src/service/api/image-view.ts';
import { routes } from '../../../src/service/api/routes/index.ts';
import type { WorkloadRef } from '../../../src/core/model/workload.ts';
import { digestOf, policyOf, specOf, workloadOf } from '../../core/model/samples.ts';
import { rolledOut, viewOf } from '../../core/rollout/rollout-samples.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

const selectedAt = '2026-03-01T11:00:00Z';
const [current, old] = [digestOf('b'), digestOf('a')];

/** A policy in a namespace, and the Deployment that it selects. */
function app(namespace: string, name: string, running: string, path = 'shop/web') {
  const target: WorkloadRef = { kind: 'Deployment', namespace, name };
  const repository = { registry: 'registry.example.com', path };
  const status = { latest: { tag: '1.3.0', digest: current, selectedAt } };
  return {
    policy: policyOf({ namespace, name, spec: specOf({ repository, targets: [target] }), status }),
    workload: workloadOf(
      { app: `registry.example.com/${path}:${running}` },
      { ...target, uid: `${namespace}-${name}`, rollout: rolledOut },
    ),
  };
}

const createApps = () => [
  app('ops', 'tool', `1.2.0@${old}`),
  app('shop', 'web', '1.3.0'),
  app('shop', 'api', '1.2.0', 'shop/api'),
  app('test', 'web', '1.4.0'),
];

interface Answer {
  readonly images: readonly PlaceView[];
  readonly repositories: readonly RepositoryView[];
  readonly versions: readonly VersionView[];
  readonly counts: Record<string, number>;
  readonly total: number;
  readonly more: number;
  readonly isComplete: boolean;
  readonly next?: string;
  readonly detail?: string;
}

function start(t: TestContext, auth: OperationsAuth = { kind: 'none' }, isStarting = false) {
  const apps = createApps();
  const policies = apps.map((one) => one.policy);
  const cluster = { ...samplePorts([]).cluster, ...viewOf(...apps.map((one) => one.workload)) };
  const targetState = () => (isStarting ? 'starting' : { since: 0 }) as ReturnType<typeof cluster.targetState>;
  const { app: server } = startApi(t, auth, [], {
    policies: samplePorts([], { all: () => policies, cluster: { ...cluster, targetState } }),
  });
  return async (path: string) => {
    const { statusCode, body } = await server.inject({
      url: `/api/v1${path}`,
      headers: { host: 'localhost', authorization: 'Bearer anns-token' },
    });
    const answer = JSON.parse(body) as Answer;
    const route = routes.find((one) => one.path === path.split('?')[0]);
    if (statusCode === 200) assert.ok(route?.answer.safeParse(answer).success, body);
    return { status: statusCode, ...answer };
  };
}

const namesOf = ({ images }: Pick<Answer, 'images'>) => images.map(({ namespace, name, state }) => `${namespace}/${name} ${state}`);

test('each container is listed with its image and its policy, those that are behind first', async (t) => {
  const { images, counts, isComplete } = await start(t)('/images');
  assert.deepEqual(namesOf({ images }), ['shop/api Behind', 'ops/tool Behind', 'test/web Kept', 'shop/web Current']);
  assert.deepEqual([counts, isComplete], [{ Behind: 2, Kept: 1, Current: 1 }, true]);
  assert.deepEqual(images[1], {
    repository: 'registry.example.com/shop/web',
    tag: '1.2.0',
    digest: old,
    digestFrom: 'Image',
    image: `registry.example.com/shop/web:1.2.0@${old}`,
    kind: 'Deployment',
    namespace: 'ops',
    name: 'tool',
    container: 'app',
    pods: 1,
    policy: { namespace: 'ops', name: 'tool', state: 'Unknown' },
    wants: { tag: '1.3.0', digest: current },
    state: 'Behind',
    behindSince: selectedAt,
  });
});

for (const [query, expected] of [
  ['repository=registry.example.com/shop/api', ['shop/api']],
  ['tag=1.3.0', ['shop/web']],
  [`digest=${old}`, ['ops/tool']],
  ['digest=aaaaaaaa', ['ops/tool']],
  [`digest=sha256:bbbbbbb`, ['shop/web']],
  ['digest=ccccccc', []],
  ['runsIn=test', ['test/web']],
  ['namespace=ops', ['ops/tool']],
  ['workload=SHOP/a', ['shop/api']],
  ['search=shop/web:1.4', ['test/web']],
  ['search=tool', ['ops/tool']],
  ['state=Kept', ['test/web']],
] as const)
  test(`the API finds images by ${query}`, async (t) => {
    const { images } = await start(t)(`/images?${query}`);
    assert.deepEqual(
      images.map(({ namespace, name }) => `${namespace}/${name}`),
      expected,
    );
  });

test('the list of images has pages, and an invalid query is answered 400', async (t) => {
  const get = start(t);
  const names: string[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const page: Answer = await get(`/images?limit=1${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`);
    names.push(...namesOf(page));
    ({ next } = page);
  }
  assert.deepEqual(names, namesOf(await get('/images')));
  for (const query of ['digest=xyz', 'repository=HTTP://x', 'after=2', 'state=Lost', 'limit=0', 'nothing=1'])
    assert.equal((await get(`/images?${query}`)).status, 400, query);
});

test('repositories and versions are counted, by namespace', async (t) => {
  const get = start(t);
  const { repositories, total } = await get('/images/repositories');
  assert.deepEqual(
    repositories.map(({ repository, places, behind, versions, namespaces }) => [repository, places, behind, versions, namespaces]),
    [
      ['registry.example.com/shop/api', 1, 1, 1, 1],
      ['registry.example.com/shop/web', 3, 1, 3, 3],
    ],
  );
  assert.equal(total, 2);
  const found = await get('/images/repositories?search=ops/tool&limit=1');
  assert.deepEqual(
    found.repositories.map(({ places }) => places),
    [3],
  );
  assert.deepEqual(
    (await get('/images/repositories?name=shop/API')).repositories.map(({ repository }) => repository),
    ['registry.example.com/shop/api'],
  );
  const first = await get('/images/repositories?limit=1');
  const second = await get(`/images/repositories?limit=1&after=${encodeURIComponent(first.next ?? assert.fail())}`);
  assert.deepEqual([second.repositories[0]?.repository, second.next], ['registry.example.com/shop/web', undefined]);
  const { versions } = await get('/images/versions?repository=registry.example.com/shop/web');
  assert.deepEqual(
    versions.map(({ tag, places, namespaces }) => [
      tag,
      places,
      namespaces.filter(({ isWanted }) => isWanted).map(({ namespace }) => namespace),
    ]),
    [
      ['1.4.0', 1, []],
      ['1.3.0', 1, ['ops', 'shop', 'test']],
      ['1.2.0', 1, []],
    ],
  );
});

for (const [version, expected] of [
  ['1.4', ['shop/web:1.4.0']],
  ['aaaaaaaa', ['shop/web:1.2.0']],
  ['web:1.3', ['shop/web:1.3.0']],
  [`registry.example.com/shop/web@${old}`, ['shop/web:1.2.0']],
  ['shop/web', []],
  ['a', []],
] as const)
  test(`the API finds versions of images by ${version}`, async (t) => {
    const { versions } = await start(t)(`/images/versions?version=${encodeURIComponent(version)}`);
    assert.deepEqual(
      versions.map(({ repository, tag }) => `${repository.replace('registry.example.com/', '')}:${tag}`),
      expected,
    );
  });

test('a caller sees only images of the policies that the caller may list', async (t) => {
  const get = start(t, ann('list shop', 'get shop'));
  for (const [path, key] of [
    ['/images', 'images'],
    ['/images/repositories', 'repositories'],
    ['/images/versions', 'versions'],
  ] as const) {
    const text = JSON.stringify((await get(path))[key]);
    assert.match(text, /registry\.example\.com\/shop\/api/, path);
    assert.doesNotMatch(text, /"ops"|"test"|1\.4\.0/, path);
    assert.equal((await get(`${path}?namespace=ops`)).status, 403, path);
  }
  assert.deepEqual(namesOf(await get('/images?runsIn=ops')), []);
  assert.deepEqual(namesOf(await get(`/images?digest=${old}`)), []);
});

test('an answer about images says if not all workloads are known yet', async (t) => {
  const { images, isComplete } = await start(t, { kind: 'none' }, true)('/images');
  assert.deepEqual([images, isComplete], [[], false]);
});
