import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Access } from '../../../src/service/api/access.ts';
import type { RecordChange, RecordFeed } from '../../../src/service/api/record-feed.ts';
import { createPolicyFeed, createStreams, policyStream } from '../../../src/service/api/stream.ts';
import { policyOf } from '../../core/model/samples.ts';

const accessOf = (user: string, ...namespaces: string[]): Access => ({
  user,
  credentials: { kind: 'none' },
  may: ({ namespace }) => Promise.resolve(namespaces.includes(namespace ?? '')),
});

test('simultaneous changes are sent once for each policy, and only for policies that the caller may get', async () => {
  const [feed, streams] = [createPolicyFeed(), createStreams()];
  const stream = streams.open(policyStream(feed), accessOf('ann', 'shop'), {});
  assert.match(String((await stream.next()).value), /^retry: 2000\nevent: open\n/);
  const next = stream.next();
  for (let change = 0; change < 100; change++) feed.publish({ type: 'updated', object: policyOf() });
  feed.publish({ type: 'deleted', object: policyOf({ name: 'gone' }) });
  feed.publish({ type: 'updated', object: policyOf({ namespace: 'ops' }) });
  const { value } = await next;
  const frames = String(value).trim().split('\n\n');
  assert.deepEqual(
    frames.map((frame) => frame.split('\n')[0]),
    ['event: policy', 'event: deleted'],
  );
  assert.equal(frames[1]?.split('\n')[1], 'data: {"namespace":"shop","name":"gone"}');
  await stream.return(undefined);
});

test('a stream of one namespace sends nothing of another namespace', async () => {
  const feed = createPolicyFeed();
  const stream = createStreams().open(policyStream(feed), accessOf('ann', 'shop', 'ops'), { namespace: 'ops' });
  await stream.next();
  const next = stream.next();
  feed.publish({ type: 'updated', object: policyOf() });
  feed.publish({ type: 'updated', object: policyOf({ namespace: 'ops', name: 'other' }) });
  assert.match(String((await next).value), /^event: policy\ndata: \{"namespace":"ops","name":"other"/);
  await stream.return(undefined);
});

test('a client that missed more changes than a stream can send is told to read the list again', async () => {
  const feed = createPolicyFeed();
  const stream = createStreams().open(policyStream(feed), accessOf('ann', 'shop'), {});
  await stream.next();
  const next = stream.next();
  for (let index = 0; index < 12_000; index++) feed.publish({ type: 'updated', object: policyOf({ name: `p${index}` }) });
  assert.equal((await next).value, 'event: open\ndata: {}\n\n');
  await stream.return(undefined);
});

test('a user has at most twenty streams, and a stream that ends makes room for another', async () => {
  const [feed, streams] = [createPolicyFeed(), createStreams()];
  const open = Array.from({ length: 20 }, () => streams.open(policyStream(feed), accessOf('ann'), {}));
  for (const stream of open) await stream.next();
  assert.throws(() => streams.open(policyStream(feed), accessOf('ann'), {}), /too many streams/);
  await open[0]?.return(undefined);
  for (const stream of [streams.open(policyStream(feed), accessOf('ann'), {}), streams.open(policyStream(feed), accessOf('bob'), {})]) {
    await stream.next();
    open.push(stream);
  }
  await Promise.all(open.map((stream) => stream.return(undefined)));
});

test('users with many streams lose one for a user with none', async () => {
  const [feed, streams] = [createPolicyFeed(), createStreams()];
  const openFor = (user: string) => streams.open(policyStream(feed), accessOf(user), {});
  const crowd = Array.from({ length: 500 }, (_, index) => openFor(`user-${index % 25}`));
  for (const stream of crowd) await stream.next();
  const bobs = openFor('bob');
  assert.match(String((await bobs.next()).value), /^retry/);
  assert.equal((await crowd[0]?.next())?.done, true);
  // Who has lost one takes none from others that have as many.
  assert.throws(() => openFor('user-0'), /too many streams/);
  await Promise.all([bobs, ...crowd].map((stream) => stream.return(undefined)));
  assert.equal((await openFor('user-0').return(undefined)).done, true);
});

test('a brief stream sends a change of a policy, but not a mere check of a policy', async () => {
  const feed = createPolicyFeed();
  const access = accessOf('ann', 'shop');
  const [all, one] = [{ isBrief: true }, { isBrief: true, namespace: 'shop', name: 'web' }].map((filter) =>
    createStreams().open(policyStream(feed), access, filter),
  );
  assert.ok(all !== undefined && one !== undefined);
  await Promise.all([all.next(), one.next()]);
  const [ofAll, ofOne] = [all.next(), one.next()];
  let isTold = false;
  void ofAll.then(() => (isTold = true));
  const before = policyOf({ status: { running: '1.0.0', lastCheckTime: '2026-03-01T11:00:00Z' } });
  const checked = { ...before, resourceVersion: '2', status: { ...before.status, lastCheckTime: '2026-03-01T12:00:00Z' } };
  feed.publish({ type: 'updated', object: checked, previous: before });
  // The page of the policy shows when it was checked.
  assert.equal((await ofOne).value, 'event: changed\ndata: {}\n\n');
  assert.equal(isTold, false);
  feed.publish({ type: 'updated', object: policyOf({ namespace: 'ops' }) });
  feed.publish({ type: 'updated', object: { ...checked, status: { ...checked.status, running: '1.1.0' } }, previous: checked });
  assert.equal((await ofAll).value, 'event: changed\ndata: {}\n\n');
  await Promise.all([all.return(undefined), one.return(undefined)]);
});

test('a change of pods is announced only to the page of their policy, which shows how many there are', async () => {
  const feed = createPolicyFeed();
  const filters = [{}, { isBrief: true }, { namespace: 'shop', name: 'web' }, { isBrief: true, namespace: 'shop', name: 'web' }];
  const streams = filters.map((filter) => createStreams().open(policyStream(feed), accessOf('ann', 'shop'), filter));
  await Promise.all(streams.map((stream) => stream.next()));
  const parts = streams.map((stream) => stream.next());
  const told = new Set<number>();
  parts.forEach((part, index) => void part.then(() => told.add(index)));
  const object = policyOf();
  feed.publish({ type: 'updated', object, previous: object, isOfPods: true });
  assert.equal((await parts[3])?.value, 'event: changed\ndata: {}\n\n');
  assert.deepEqual([...told], [3]);
  // What was said to the others is the next change of the policy itself.
  feed.publish({ type: 'updated', object: { ...object, status: { running: '1.1.0' } }, previous: object });
  for (const part of parts.slice(0, 3)) assert.match(String((await part).value), /^event: (?:policy|changed)\n(?!.*event:)/s);
  await Promise.all(streams.map((stream) => stream.return(undefined)));
});

test('an announcement makes every client of a stream read everything again', async () => {
  const streams = createStreams();
  const stream = streams.open(policyStream(createPolicyFeed()), accessOf('ann'), {});
  await stream.next();
  const next = stream.next();
  streams.announce();
  assert.equal((await next).value, 'event: open\ndata: {}\n\n');
  await stream.return(undefined);
});

test('a recorded change is sent to the callers who may see it, by what they follow', async () => {
  const listeners = new Set<(change: RecordChange) => void>();
  const feed: RecordFeed = {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const publish = (change: RecordChange) => listeners.forEach((listener) => listener(change));
  const policies = createPolicyFeed();
  const streams = createStreams();
  const open = (access: Access, isBrief: boolean) =>
    streams.open(policyStream(policies), access, { isBrief, records: { feed, kinds: new Set(['pushes'] as const) } });
  const [ann, bob] = [open(accessOf('ann', 'shop'), true), open(accessOf('bob', 'ops'), false)];
  for (const stream of [ann, bob]) assert.match(String((await stream.next()).value), /event: open/);
  const [toAnn, toBob] = [ann.next(), bob.next()];
  const all = { verb: 'list' } as const;
  publish({ kind: 'refusals', seenBy: [all, { verb: 'get', namespace: 'ops' }] });
  publish({ kind: 'pushes', seenBy: [all, { verb: 'get', namespace: 'shop' }] });
  policies.publish({ type: 'updated', object: policyOf({ namespace: 'ops' }) });
  assert.equal((await toAnn).value, 'event: changed\ndata: {}\n\n');
  assert.match(String((await toBob).value), /^event: policy\ndata: .*\n\n$/);
  const more = bob.next();
  publish({ kind: 'pushes', seenBy: [all, { verb: 'get', namespace: 'ops' }] });
  assert.equal((await more).value, 'event: changed\ndata: {}\n\n');
  for (const stream of [ann, bob]) await stream.return(undefined);
  assert.equal(listeners.size, 0);
});
