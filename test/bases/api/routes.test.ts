import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { digestOf } from '../../core/model/samples.ts';
import { javaDependents, sampleView } from './sample-bases.ts';
import { type Body, rights, start } from './start-bases.ts';

test('every answer of the API about bases fits its schema', async (t) => {
  const { get, routes } = start(t);
  for (const { method, path, answer, media } of routes) {
    if (method !== 'GET' || media !== undefined) continue;
    const own = path.startsWith('/policies') ? ['shop', 'web'] : ['platform', 'java'];
    const query = path.endsWith('/permitted') ? '?namespaces=platform' : '';
    const { status, body } = await get(`${path.replace('{namespace}', own[0] ?? '').replace('{name}', own[1] ?? '')}${query}`);
    const read = answer.safeParse(body);
    assert.ok(status === 200 && read.success, `${path}: ${status} ${JSON.stringify(read.error?.issues ?? body)}`);
  }
});

test('policies of bases are listed by namespace, state and text, and in pages', async (t) => {
  const { get } = start(t);
  const names = async (query: string) => (await get(`/bases?${query}`)).body.bases.map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(await names(''), ['node Unknown', 'framework ApprovalRequired', 'java Progressing']);
  assert.deepEqual(await names('namespace=platform'), ['framework ApprovalRequired', 'java Progressing']);
  assert.deepEqual(await names('state=Progressing'), ['java Progressing']);
  assert.deepEqual(await names('search=BASE-JAVA'), ['java Progressing']);
  const { body } = await get('/bases?limit=2');
  assert.deepEqual([body.next, body.counts], ['platform/framework', { Unknown: 1, ApprovalRequired: 1, Progressing: 1 }]);
  assert.deepEqual(await names(`limit=2&after=${body.next}`), ['java Progressing']);
  for (const query of ['state=Lost', 'limit=501', 'after=x', 'other=1']) assert.equal((await get(`/bases?${query}`)).status, 400, query);
});

test('the selected namespaces without consent are named, but only to those who may list namespaces', async (t) => {
  const { images } = sampleView();
  const consents: Readonly<Record<string, string>> = { data: 'platform' };
  const view = sampleView({
    images: {
      ...images,
      namespaceConsent: (namespace) => consents[namespace] ?? null,
      namespacesWith: () => ['shop', 'data', 'hr', 'platform'],
    },
  });
  const withoutConsent = async (auth: OperationsAuth, shown = view) =>
    (await start(t, auth, shown).get('/bases/platform/java')).body.withoutConsent;
  const all = { total: 2, namespaces: ['hr', 'shop'] };
  assert.deepEqual(await withoutConsent({ kind: 'none' }), all);
  assert.deepEqual(await withoutConsent(rights('get @platform', 'list namespaces *')), all);
  assert.equal(await withoutConsent(rights('get @platform', 'list @*')), undefined);
  const [web] = [...images.listWorkloads({ kind: 'Deployment' }, 'shop', {})];
  assert.ok(web);
  const annotated = { ...web, allowPoliciesFrom: 'platform' };
  const one = sampleView({
    images: { ...view.images, listWorkloads: ({ kind }, namespace) => (kind === 'Deployment' && namespace === 'shop' ? [annotated] : []) },
  });
  assert.deepEqual(await withoutConsent({ kind: 'none' }, one), { total: 1, namespaces: ['hr'] });
  const denied = sampleView({ images: { ...view.images, crossNamespace: 'deny' } });
  assert.deepEqual(await withoutConsent({ kind: 'none' }, denied), { total: 0, namespaces: [] });
});

test('every dependent of a base is listed once, those that need attention first, with the next step', async (t) => {
  const { body } = await start(t).get('/bases/platform/java/dependents');
  assert.equal(body.isComplete, true);
  assert.deepEqual(
    body.dependents.map(({ image, state, nextStep }) => [/shop\/([a-z-]+)/.exec(image)?.[1], state, nextStep?.id]),
    [
      ['checkout', 'Refused', 'AllowOrRebuild'],
      ['init-db', 'Behind', 'BringToInit'],
      ['pinned', 'Behind', 'UnpinOrTrigger'],
      ['web', 'Behind', 'BringBetween'],
      ['basket', 'Updating', 'WaitForRollout'],
      ['search', 'Rebased', 'WaitForWave'],
      ['reports', 'Unknown', 'NameBase'],
      ['model', 'NotExamined', 'ImageVolume'],
      ['legacy', 'OtherLine', 'NameLine'],
      ['payments', 'Updated', undefined],
      ['cart', 'Current', undefined],
    ],
  );
  const find = (name: string) => body.dependents.find(({ image }) => image.includes(`shop/${name}`));
  assert.deepEqual([find('pinned')?.isPinned, find('cart')?.isPinned], [true, false]);
  assert.match(find('pinned')?.nextStep?.text ?? '', /^pinned by digest: trigger a rebuild, or unpin/);
  assert.deepEqual([find('init-db')?.uses, find('model')?.uses, find('cart')?.uses], [['InitContainer'], ['ImageVolume'], ['Container']]);
  assert.deepEqual(find('init-db')?.runs, [{ kind: 'Deployment', namespace: 'data', name: 'database', containers: ['schema'] }]);
  assert.deepEqual(body.counts['Behind'], 3);
});

test('dependents are filtered by state, namespace and name, and pages follow each other without a gap', async (t) => {
  const { get } = start(t);
  const names = async (query: string) => (await get(`/bases/platform/java/dependents?${query}`)).body.dependents.map(({ image }) => image);
  assert.equal((await names('state=Behind')).length, 3);
  assert.deepEqual((await names('runsIn=data')).length, 2);
  assert.deepEqual(await names('search=CART'), ['harbor.example.com/shop/cart:1.9.0']);
  const whole = await names('');
  const seen: string[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const { body }: { body: Body } = await get(`/bases/platform/java/dependents?limit=3${next && `&after=${encodeURIComponent(next)}`}`);
    seen.push(...body.dependents.map(({ image }) => image));
    next = body.next;
  }
  assert.deepEqual(seen, whole);
  for (const query of ['state=Lost', 'limit=0', 'after=1', 'runsIn=A'])
    assert.equal((await get(`/bases/platform/java/dependents?${query}`)).status, 400, query);
});

test('without the list of the last reconcile, the API shows the dependents in the status, and says that more may exist', async (t) => {
  const forgotten = sampleView({ readKept: () => Promise.resolve(undefined) });
  const outdated = sampleView({ readKept: () => Promise.resolve({ base: digestOf('9'), dependents: javaDependents }) });
  for (const view of [forgotten, outdated]) {
    const { body } = await start(t, { kind: 'none' }, view).get('/bases/platform/java/dependents');
    assert.deepEqual([body.isComplete, body.dependents.length], [false, 7]);
  }
});

test('a dependent is listed without workloads that are gone or whose owners do not consent', async (t) => {
  const { images } = sampleView();
  const view = sampleView({ images: { ...images, namespaceConsent: () => null } });
  const { body } = await start(t, { kind: 'none' }, view).get('/bases/platform/java/dependents');
  assert.deepEqual(
    body.dependents.map(({ image, runs }) => [/shop\/([a-z-]+)/.exec(image)?.[1], runs.length]),
    [
      ['checkout', 0],
      ['init-db', 0],
      ['pinned', 0],
      ['web', 0],
      ['basket', 0],
      ['search', 0],
    ],
  );
});

test('the versions of a base are listed, the latest first, with the images on each', async (t) => {
  const { get } = start(t);
  const { body } = await get('/bases/platform/java/versions');
  assert.deepEqual(
    body.versions.map(({ tags: [tag], isLatest, images }) => [tag, isLatest, images]),
    [
      ['21.0.7', true, 2],
      ['21.0.6', false, 6],
      ['17.0.9', false, 1],
    ],
  );
  const first = (await get('/bases/platform/java/versions?limit=2')).body;
  assert.equal(first.total, 3);
  const second = (await get(`/bases/platform/java/versions?limit=2&after=${encodeURIComponent(first.next ?? '')}`)).body;
  assert.deepEqual([second.versions.map(({ tags }) => tags[0]), second.next], [['17.0.9'], undefined]);
});

test('the chain of an application begins with its nearest base', async (t) => {
  const { body } = await start(t).get('/policies/shop/web/bases');
  assert.deepEqual(
    body.bases.map(({ name, layers, dependents }) => [name, layers, dependents?.map(({ nextStep }) => nextStep?.id)]),
    [
      ['framework', 8, ['Approve']],
      ['java', 5, ['BringBetween']],
    ],
  );
});

const one = '/bases/platform/java';
for (const [name, path, given, status] of [
  ['a caller without permissions sees no policy', one, ['list *', 'get shop'], 403],
  ['the permissions on ImagePolicies show no base', one, ['list *', 'get *'], 403],
  ['a caller who may get the policy of a base sees it', one, ['get @platform'], 200],
  ['a caller who may get policies of bases only in another namespace does not see the policy', one, ['get @other'], 403],
  ['a caller who may get the policy of a base sees its dependents', `${one}/dependents`, ['get @platform'], 200],
  ['a caller who may not get the policy of a base does not see its dependents', `${one}/dependents`, ['list @platform'], 403],
  [
    'a caller who may get the policy of a base but not list the records does not see its versions',
    `${one}/versions`,
    ['get @platform'],
    403,
  ],
  [
    'a caller who may get the policy of a base and list the records sees its versions',
    `${one}/versions`,
    ['get @platform', 'list baseimagerecords platform'],
    200,
  ],
  [
    'a caller who may list the records but not get the policy of a base does not see its versions',
    `${one}/versions`,
    ['list baseimagerecords platform'],
    403,
  ],
  ['a caller without permission in a namespace is refused the list of its bases', '/bases?namespace=other', ['list @platform'], 403],
  [
    'a caller who may get policies of bases in the namespace learns that one does not exist',
    '/bases/platform/nobody',
    ['get @platform'],
    404,
  ],
  [
    'a caller who may not get the policy of an application does not see its chain of bases',
    '/policies/shop/web/bases',
    ['get @platform'],
    403,
  ],
] as const)
  test(name, async (t) => {
    assert.equal((await start(t, rights(...given)).get(path)).status, status);
  });

test('the list and the chain of bases contain only what the caller may see', async (t) => {
  const listed = await start(t, rights('list @platform')).get('/bases');
  assert.deepEqual(
    listed.body.bases.map(({ name }) => name),
    ['framework', 'java'],
  );
  const own = await start(t, rights('get shop')).get('/policies/shop/web/bases');
  assert.deepEqual(own.body.bases, []);
  const { body } = await start(t, rights('get shop', 'get @platform')).get('/policies/shop/web/bases');
  assert.deepEqual(
    body.bases.map(({ name, layers }) => [name, layers]),
    [
      ['framework', undefined],
      ['java', undefined],
    ],
  );
});

test('a process without the role work, or before its list of bases is complete, answers 503', async (t) => {
  for (const view of ['none' as const, sampleView({ areKnown: () => false })]) {
    const { get } = start(t, { kind: 'none' }, view);
    for (const path of ['/bases', one, `${one}/dependents`, `${one}/versions`, '/policies/shop/web/bases'])
      assert.equal((await get(path)).status, 503, path);
  }
});

test('a caller whose token the API server does not know gets nothing', async (t) => {
  const nobody: OperationsAuth = {
    kind: 'kubernetes',
    reviewToken: () => Promise.resolve(undefined),
    reviewAccess: () => Promise.resolve(true),
  };
  const { get, post } = start(t, nobody);
  for (const path of ['/bases', one, `${one}/dependents`, `${one}/versions`, '/policies/shop/web/bases', '/bases/stream'])
    assert.equal((await get(path)).status, 401, path);
  assert.equal((await post(`${one}/check`)).status, 401);
});
