import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNewer } from '../../../src/core/model/workload.ts';
import { createObjectStore, type ObjectStore, type Replacement, type StoredObject } from '../../../src/service/kube/object-store.ts';

const object = (name: string, resourceVersion: string, { namespace = 'shop', uid = `uid-${name}` } = {}): StoredObject => ({
  namespace,
  name,
  uid,
  resourceVersion,
});

function storeOf(...objects: StoredObject[]): { store: ObjectStore<StoredObject>; changes: string[]; content: () => string[] } {
  const store = createObjectStore<StoredObject>();
  for (const each of objects) store.put(each);
  const changes: string[] = [];
  store.subscribe(({ type, object, previous }) => {
    const from = previous ? ` from ${previous.resourceVersion}` : '';
    changes.push(`${type} ${object.name}@${object.resourceVersion}${from}`);
  });
  return { store, changes, content: () => [...store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`) };
}

/** All steps at once. */
function replace(store: ObjectStore<StoredObject>, replacement: Replacement<StoredObject>): void {
  for (const _ of store.replaceInSteps(replacement));
}

type Case = { name: string; stored: StoredObject[]; act: (store: ObjectStore<StoredObject>) => void; changes: string[]; content: string[] };

const web = object('web', '10');
const cases: Case[] = [
  { name: 'put: new', stored: [], act: (store) => store.put(web), changes: ['added web@10'], content: ['web@10'] },
  {
    name: 'put: newer, compared as numbers',
    stored: [object('web', '9')],
    act: (store) => store.put(web),
    changes: ['updated web@10 from 9'],
    content: ['web@10'],
  },
  { name: 'put: older than an own write', stored: [web], act: (store) => store.put(object('web', '9')), changes: [], content: ['web@10'] },
  {
    name: 'put: the echo of an own write',
    stored: [web],
    act: (store) => store.put(object('web', '10')),
    changes: [],
    content: ['web@10'],
  },
  {
    name: 'put: created again under its name',
    stored: [web],
    act: (store) => store.put(object('web', '12', { uid: 'other' })),
    changes: ['deleted web@10', 'added web@12'],
    content: ['web@12'],
  },
  {
    name: 'observe: newer',
    stored: [web],
    act: (store) => store.observe(object('web', '11')),
    changes: ['updated web@11 from 10'],
    content: ['web@11'],
  },
  { name: 'observe: older', stored: [web], act: (store) => store.observe(object('web', '9')), changes: [], content: ['web@10'] },
  { name: 'observe: deleted meanwhile', stored: [], act: (store) => store.observe(web), changes: [], content: [] },
  {
    name: 'observe: another object has its name now',
    stored: [object('web', '10', { uid: 'other' })],
    act: (store) => store.observe(object('web', '11')),
    changes: [],
    content: ['web@10'],
  },
  { name: 'remove: newer', stored: [web], act: (store) => store.remove(object('web', '11')), changes: ['deleted web@10'], content: [] },
  {
    name: 'remove: older than what is stored',
    stored: [web],
    act: (store) => store.remove(object('web', '9')),
    changes: [],
    content: ['web@10'],
  },
  { name: 'remove: unknown', stored: [], act: (store) => store.remove(web), changes: [], content: [] },
  {
    name: 'replace: reports only what differs',
    stored: [object('same', '1'), object('changed', '2'), object('gone', '3')],
    act: (store) => replace(store, { objects: [object('same', '1'), object('changed', '5'), object('new', '6')], resourceVersion: '7' }),
    changes: ['deleted gone@3', 'updated changed@5 from 2', 'added new@6'],
    content: ['same@1', 'changed@5', 'new@6'],
  },
  {
    name: 'replace: leaves what is newer than the list',
    stored: [object('written', '9'), object('created', '8')],
    act: (store) => replace(store, { objects: [object('written', '5')], resourceVersion: '7' }),
    changes: [],
    content: ['written@9', 'created@8'],
  },
  {
    name: 'replace: concerns its own namespace only',
    stored: [object('mine', '1'), object('other', '2', { namespace: 'ops' })],
    act: (store) => replace(store, { objects: [], resourceVersion: '7', namespace: 'shop' }),
    changes: ['deleted mine@1'],
    content: ['other@2'],
  },
  {
    name: 'replace: keeps what exists but cannot be read',
    stored: [web],
    act: (store) => replace(store, { objects: [], unreadable: [{ namespace: 'shop', name: 'web' }], resourceVersion: '17' }),
    changes: [],
    content: ['web@10'],
  },
  {
    name: 'replace: a restored backup is right, although older',
    stored: [web, object('later', '9')],
    act: (store) => replace(store, { objects: [object('web', '4')], resourceVersion: '7', force: true }),
    changes: ['deleted later@9', 'updated web@4 from 10'],
    content: ['web@4'],
  },
];

for (const { name, stored, act, changes, content } of cases) {
  test(`the store has the right content after "${name}"`, () => {
    const world = storeOf(...stored);
    act(world.store);
    assert.deepEqual(world.changes, changes);
    assert.deepEqual(world.content(), content);
    assert.equal(world.store.size, content.length);
  });
}

test('a replacement of the store makes one change at a time, and keeps what is observed in between', () => {
  const { store, changes } = storeOf(object('gone', '1'), object('own', '2'));
  const steps = store.replaceInSteps({ objects: [object('own', '3'), object('a', '4'), object('b', '5')], resourceVersion: '5' });
  let before = 0;
  for (const _ of steps) {
    assert.ok(changes.length - before <= 1, String(changes));
    // The answer to a write of our own.
    if (changes.at(-1) === 'deleted gone@1') store.observe(object('own', '6'));
    before = changes.length;
  }
  assert.deepEqual(changes, ['deleted gone@1', 'updated own@6 from 2', 'added a@4', 'added b@5']);
});

test('a listener that throws does not hide the change from others, and is reported', () => {
  const store = createObjectStore<StoredObject>();
  store.subscribe(() => {
    throw new Error('bug');
  });
  const seen: string[] = [];
  store.subscribe(({ object }) => seen.push(object.name));
  assert.throws(
    () => replace(store, { objects: [object('a', '1'), object('b', '2')], resourceVersion: '2' }),
    /a listener of the object store failed/,
  );
  assert.deepEqual(seen, ['a', 'b']);
});

test('an unsubscribed listener of the store is not called', () => {
  const store = createObjectStore<StoredObject>();
  const unsubscribe = store.subscribe(() => assert.fail('called'));
  unsubscribe();
  store.put(web);
  assert.equal(store.get('shop', 'web'), web);
  assert.equal(store.get('shop', 'other'), undefined);
});

test('resourceVersions are compared as numbers of any length, and others only for equality', () => {
  assert.ok(isNewer('90071992547409930', '90071992547409929'));
  assert.ok(!isNewer('9', '10'));
  assert.ok(isNewer('abc', 'abd'));
  assert.ok(!isNewer('abc', 'abc'));
});
