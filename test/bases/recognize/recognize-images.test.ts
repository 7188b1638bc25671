import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BuildFacts } from '../../../src/bases/recognize/facts.ts';
import { type BaseVersions, recognizeImages } from '../../../src/bases/recognize/recognize-images.ts';
import { WaitError } from '../../../src/core/model/errors.ts';
import { digestFor, image, repository } from './samples.ts';

const source = { registry: 'harbor.example.com', path: 'library/base-java' };
const app = { registry: 'harbor.example.com', path: 'shop/app' };
const amd64 = 'linux/amd64';
const versions = ['2', '1'].map((tag) => ({ tag, digest: digestFor(tag) }));

/** Recognizes images by the facts about them and the versions; an error instead of facts is thrown. */
async function recognize(
  facts: readonly BuildFacts[],
  failures: Readonly<Record<string, Error>> = {},
  base: BaseVersions = { source, versions },
) {
  const builtFrom = 'https://github.com/library/base-java';
  const bases = ['2', '1', 'gone'].map((name) => ({ ...image({ name, layers: { [amd64]: `os java${name}` } }), builtFrom }));
  const reads: string[] = [];
  const { signal } = new AbortController();
  const reader = {
    async read(_: unknown, digest: string) {
      reads.push(digest);
      const failure = Object.entries(failures).find(([name]) => digestFor(name) === digest);
      if (failure !== undefined) throw failure[1];
      return [...facts, ...bases].find((one) => one.digest === digest);
    },
  };
  const images = [...facts.map(({ digest }) => digest), digestFor('missing')].map((digest) => ({ source: app, digest }));
  const results = await recognizeImages(images, base, { reader, signal });
  return { results, reads };
}

test('an image that cannot be read is unknown, and all others are recognized', async () => {
  const facts = ['first', 'failing', 'last'].map((name) => image({ name, layers: { [amd64]: 'os java1 app' } }));
  const failure = new WaitError('RegistryThrottled', new Date(0), 'the registry asks for a pause');
  const { results } = await recognize(facts, { failing: failure });
  assert.deepEqual(
    results.map(({ recognition }) => recognition.kind),
    ['recognized', 'unknown', 'recognized', 'unknown'],
  );
  assert.deepEqual(
    results.map(({ error }) => error),
    [undefined, failure, undefined, undefined],
  );
});

test('a version of the base that cannot be read fails the whole, because its images would seem unrelated', async () => {
  await assert.rejects(recognize([], { '1': new Error('reading failed') }), /reading failed/);
});

test('a version without a tag is read if an image names it', async () => {
  const named = [{ by: 'Annotation' as const, repository, digest: digestFor('gone') }];
  const { results } = await recognize([image({ layers: { [amd64]: 'os javagone app' }, named })]);
  assert.deepEqual(results[0]?.recognition, { kind: 'recognized', base: { repository, digest: digestFor('gone') }, by: 'Annotation' });
});

test('of many versions, a hundred are read', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => ({ tag: `${index}`, digest: digestFor(`${index}`) }));
  const { reads } = await recognize([], {}, { source, versions: many });
  assert.equal(reads.length, 100 + 1);
});

test('an aborted run has no result', async () => {
  const controller = new AbortController();
  const reader = {
    async read() {
      controller.abort(new Error('stopped'));
      return undefined;
    },
  };
  await assert.rejects(
    recognizeImages([{ source: app, digest: digestFor('a') }], { source, versions: [] }, { reader, signal: controller.signal }),
    /stopped/,
  );
});

test('the source that an image names is its own, unless it has inherited that of its base', async () => {
  const facts = ['own', 'inherited', 'silent'].map((name) => image({ name, layers: { [amd64]: 'os java1 app' } }));
  const sources = ['https://github.com/shop/web', 'https://github.com/library/base-java', undefined];
  const { results } = await recognize(facts.map((one, index) => ({ ...one, ...(sources[index] && { builtFrom: sources[index] }) })));
  assert.deepEqual(
    results.slice(0, 3).map(({ builtFrom }) => builtFrom),
    ['https://github.com/shop/web', undefined, undefined],
  );
});
