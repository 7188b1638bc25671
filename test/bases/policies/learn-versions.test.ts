/** What a policy knows about its base, over pushes, many tags and new replicas. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { learnVersions, type LearntVersions, maxVersions } from '../../../src/bases/policies/learn-versions.ts';
import type { BaseChoice } from '../../../src/bases/policies/select-base.ts';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import type { SeenVersion } from '../../../src/bases/record/seen-version.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import { digestFor, image } from '../recognize/samples.ts';

const amd64 = 'linux/amd64';
const source = { registry: 'harbor.example.com', path: 'library/base-java' };
const start = Date.parse('2026-11-23T12:00:00Z');

/** A registry whose tags are moved by tests, and the record of one policy. */
function world({ select, from }: { readonly select: object; readonly from?: readonly string[] }) {
  const tags = new Map<string, string>();
  const names = new Map<string, string>();
  const broken = new Set<string>();
  const requests: string[] = [];
  let remembered: readonly SeenVersion[] = [];
  let now = start;
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const spec = { image: 'harbor.example.com/library/base-java', select, workloads: [{}], ...(from && { from }) };
  const read = readBasePolicy({ metadata, spec }, { aliases: new Map(), customTargets: [] });
  assert.ok(isUsableBase(read.spec));
  const policy = { ...read, spec: read.spec };
  const ports = {
    records: { read: () => Promise.resolve(remembered), add: () => assert.fail('only a reconcile remembers') },
    registry: {
      headManifest(_: unknown, tag: string) {
        requests.push(`HEAD ${tag}`);
        const name = tags.get(tag);
        if (name === undefined) return Promise.resolve(undefined);
        names.set(digestFor(name), name);
        return Promise.resolve({ digest: digestFor(name) });
      },
    },
    facts: {
      read(_: unknown, digest: string) {
        const name = names.get(digest);
        if (name !== undefined && broken.has(name)) return Promise.reject(new Error(`${name} is broken`));
        requests.push(`GET ${name ?? '404'}`);
        return Promise.resolve(name === undefined ? undefined : image({ name, layers: { [amd64]: `os ${name}` } }));
      },
    },
    cluster: { now: () => now },
  };
  const { signal } = new AbortController();
  return {
    tags,
    broken,
    requests,
    forget: () => (remembered = []),
    remembered: () => remembered,
    /** A reconcile that selects a tag. Without `unread`, the registry was asked for its tags just now. */
    async learn(tag: string, unread?: readonly string[], givenUp?: LearntVersions['givenUp']): Promise<LearntVersions> {
      requests.length = 0;
      const name = tags.get(tag) ?? '';
      const digest = digestFor(name);
      names.set(digest, name);
      now += policy.spec.base.pollIntervalMs;
      const choice: BaseChoice & { readonly selected: { tag: string; digest: string } } = {
        source,
        selected: { tag, digest },
        strategy: policy.spec.base.strategy,
        tags: unread ?? [...tags.keys()],
        ...(givenUp && { givenUp }),
        isNew: unread === undefined,
        checkedAt: now,
      };
      const learnt = await learnVersions(policy, choice, ports, signal);
      const news = new Set(learnt.news.map(({ digest }) => digest));
      remembered = [...remembered.filter(({ digest }) => !news.has(digest)), ...learnt.news];
      return learnt;
    },
  };
}

const relationOf = ({ known, line }: LearntVersions, name: string) => {
  const found = known.find(({ digest }) => digest === digestFor(name));
  return found === undefined ? 'not known' : line.relationOf(found);
};

describe('learnVersions', () => {
  it('remembers every image that a mutable tag had', async () => {
    const { tags, learn } = world({ select: { digest: { tag: '21' } } });
    let learnt: LearntVersions | undefined;
    for (let push = 0; push < 25; push++) {
      tags.set('21', `push-${push}`);
      learnt = await learn('21');
    }
    assert.ok(learnt);
    assert.equal(learnt.known[0]?.digest, digestFor('push-24'));
    for (let push = 0; push < 24; push++) assert.equal(relationOf(learnt, `push-${push}`), 'older');
  });

  it('compares all of 1,300 tags, some in each reconcile, those of the line first', async () => {
    const { tags, learn } = world({ select: { semver: { range: '21.x' } } });
    for (let patch = 0; patch < 650; patch++) {
      tags.set(`17.0.${patch}`, `seventeen-${patch}`);
      tags.set(`21.0.${patch}`, `twenty-one-${patch}`);
    }
    let learnt = await learn('21.0.649');
    assert.equal(learnt.rest.length, 1_300 - learnt.known.length);
    assert.equal(relationOf(learnt, 'twenty-one-500'), 'older');
    assert.equal(relationOf(learnt, 'twenty-one-1'), 'not known');
    for (let rounds = 0; learnt.rest.length > 0 && rounds < 20; rounds++) learnt = await learn('21.0.649', learnt.rest);
    assert.deepEqual([learnt.givenUp, learnt.known.length], [0, 1_300]);
    assert.equal(relationOf(learnt, 'twenty-one-1'), 'older');
    assert.equal(relationOf(learnt, 'seventeen-1'), 'other');
  });

  it('sends no request for known versions, except for tags that may have been moved', async () => {
    const { tags, requests, learn } = world({ select: { semver: {} } });
    for (let patch = 0; patch < 400; patch++) tags.set(`1.0.${patch}`, `version-${patch}`);
    let learnt = await learn('1.0.399');
    while (learnt.rest.length > 0) learnt = await learn('1.0.399', learnt.rest);
    await learn('1.0.399', []);
    assert.deepEqual(requests, []);
    const asked = new Set<string>();
    for (let poll = 0; poll < 6; poll++) {
      await learn('1.0.399');
      assert.ok(requests.length <= 150, `${requests.length} requests`);
      for (const request of requests) asked.add(request);
    }
    assert.equal(asked.size, 399, 'each tag in its turn');
  });

  it('learns the image of a tag that was moved, and keeps the one before', async () => {
    const { tags, learn, remembered } = world({ select: { semver: {} } });
    tags.set('1.0.0', 'first').set('1.0.1', 'newest');
    await learn('1.0.1');
    tags.set('1.0.0', 'patched');
    const learnt = await learn('1.0.1');
    assert.deepEqual(
      ['first', 'patched'].map((name) => relationOf(learnt, name)),
      ['older', 'older'],
    );
    assert.equal(remembered().length, 3);
  });

  it('adds a tag to the image that gets it', async () => {
    const { tags, learn, remembered } = world({ select: { digest: { tag: '21' } } });
    tags.set('21', 'a').set('21.0.1', 'a');
    await learn('21');
    tags.set('21', 'b').set('21.0.2', 'b');
    await learn('21');
    tags.set('21', 'a');
    await learn('21');
    const tagsOf = Object.fromEntries(remembered().map(({ digest, tags }) => [digest, tags.toSorted()]));
    assert.deepEqual(tagsOf, { [digestFor('a')]: ['21', '21.0.1'], [digestFor('b')]: ['21', '21.0.2'] });
  });

  it('reports which tags cannot be read, and why, and reads these again without requesting all tags', async () => {
    const { tags, broken, requests, learn } = world({ select: { semver: {} } });
    tags.set('1.0.0', 'a').set('1.0.1', 'b').set('1.0.2', 'c');
    broken.add('a');
    const learnt = await learn('1.0.2');
    assert.deepEqual([learnt.failed, learnt.known.length], [[{ tag: '1.0.0', why: 'a is broken' }], 2]);
    const unread = learnt.failed.map(({ tag }) => tag);
    assert.deepEqual((await learn('1.0.2', unread)).failed, learnt.failed);
    broken.clear();
    const mended = await learn('1.0.2', unread);
    assert.deepEqual([mended.failed, mended.known.length], [[], 3]);
    assert.deepEqual(requests, ['HEAD 1.0.0', 'GET a']);
  });

  it('fails if the selected version cannot be read, because all images would be reported wrongly', async () => {
    const { tags, broken, learn } = world({ select: { semver: {} } });
    tags.set('1.0.0', 'a');
    broken.add('a');
    await assert.rejects(learn('1.0.0'), /a is broken/);
  });

  it('counts the tags for which there is no room', async () => {
    const { tags, learn } = world({ select: { semver: {} } });
    for (let patch = 0; patch < maxVersions + 30; patch++) tags.set(`1.0.${patch}`, `version-${patch}`);
    let learnt = await learn(`1.0.${maxVersions + 29}`);
    while (learnt.rest.length > 0) learnt = await learn(`1.0.${maxVersions + 29}`, learnt.rest);
    assert.equal(learnt.known.length, maxVersions);
    const again = await learn(`1.0.${maxVersions + 29}`);
    assert.deepEqual([again.givenUp, again.rest], [30, []]);
    assert.deepEqual((await learn(`1.0.${maxVersions + 29}`, again.rest, again.givenUp)).givenUp, 30);
  });
});
