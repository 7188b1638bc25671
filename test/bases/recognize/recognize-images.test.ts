import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BuildFacts } from '../../../src/bases/recognize/facts.ts';
import { recognizeImages } from '../../../src/bases/recognize/recognize-images.ts';
import { WaitError } from '../../../src/core/model/errors.ts';
import { base as baseOf, digestFor, image, repository } from './samples.ts';

const source = { registry: 'harbor.example.com', path: 'library/base-java' };
const app = { registry: 'harbor.example.com', path: 'shop/app' };
const amd64 = 'linux/amd64';
const known = ['2', '1'].map((tag) => ({
  ...baseOf(tag, { [amd64]: `os java${tag}` }),
  builtFrom: 'https://github.com/library/base-java',
}));

/** Recognizes images by the facts about them and the versions; an error instead of facts is thrown. */
async function recognize(facts: readonly BuildFacts[], failures: Readonly<Record<string, Error>> = {}) {
  const gone = image({ name: 'gone', layers: { [amd64]: 'os javagone' } });
  const reads: string[] = [];
  const { signal } = new AbortController();
  const reader = {
    async read(_: unknown, digest: string) {
      reads.push(digest);
      const failure = Object.entries(failures).find(([name]) => digestFor(name) === digest);
      if (failure !== undefined) throw failure[1];
      return [...facts, gone].find((one) => one.digest === digest);
    },
  };
  const images = [...facts.map(({ digest }) => digest), digestFor('missing')].map((digest) => ({ source: app, digest }));
  const { images: results, learnt } = await recognizeImages(images, { source, known }, { reader, signal });
  return { results, learnt, reads };
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

test('a version of a base without a tag is read and remembered if an image names it', async () => {
  const named = [{ by: 'Annotation' as const, repository, digest: digestFor('gone'), tag: '1.5' }];
  const layers = { [amd64]: 'os javagone app' };
  const { results, learnt, reads } = await recognize([image({ layers, named }), image({ name: 'twin', layers })]);
  const base = { repository, digest: digestFor('gone') };
  assert.deepEqual(results[0]?.recognition, { kind: 'recognized', base: { ...base, tags: ['1.5'] }, by: 'Annotation' });
  // What one image names is no tag of the version for others.
  assert.deepEqual(results[1]?.recognition, { kind: 'recognized', base: { ...base, tags: [] }, by: 'Layers' });
  assert.deepEqual(
    learnt.map(({ digest, tags }) => ({ digest, tags })),
    [{ digest: digestFor('gone'), tags: [] }],
  );
  assert.equal(reads.filter((digest) => digest === digestFor('gone')).length, 1);
});

test('an image is unknown if the version that it names cannot be read', async () => {
  const named = [{ by: 'Annotation' as const, repository, digest: digestFor('gone') }];
  const failure = new Error('reading failed');
  const { results } = await recognize([image({ layers: { [amd64]: 'os javagone app' }, named })], { gone: failure });
  assert.equal(results[0]?.recognition.kind, 'unknown');
  assert.equal(results[0].error, failure);
});

test('an aborted recognition of images has no result', async () => {
  const controller = new AbortController();
  const reader = {
    async read() {
      controller.abort(new Error('stopped'));
      return undefined;
    },
  };
  await assert.rejects(
    recognizeImages([{ source: app, digest: digestFor('a') }], { source, known: [] }, { reader, signal: controller.signal }),
    /stopped/,
  );
});

test('an image is built from the source that it names, unless it has inherited the name from its base', async () => {
  const facts = ['own', 'inherited', 'silent'].map((name) => image({ name, layers: { [amd64]: 'os java1 app' } }));
  const sources = ['https://github.com/shop/web', 'https://github.com/library/base-java', undefined];
  const { results } = await recognize(facts.map((one, index) => ({ ...one, ...(sources[index] && { builtFrom: sources[index] }) })));
  assert.deepEqual(
    results.slice(0, 3).map(({ builtFrom }) => builtFrom),
    ['https://github.com/shop/web', undefined, undefined],
  );
});

test('a rebased image is known by the image that it was made from, if it ends with the layers of that', async () => {
  const from = (name: string, repository = 'harbor.example.com/shop/app') => ({ repository, digest: digestFor(name) });
  const rebased = (name: string, layers: string, rebasedFrom: BuildFacts['rebasedFrom']): BuildFacts => ({
    ...image({ name, layers: { [amd64]: layers } }),
    ...(rebasedFrom && { rebasedFrom }),
  });
  const facts = [
    rebased('origin', 'os java1 app', undefined),
    rebased('once', 'os2 app', from('origin')),
    rebased('twice', 'os3 app', from('once')),
    rebased('other layers', 'os2 another-app', from('origin')),
    rebased('elsewhere', 'os2 app', from('origin', 'harbor.example.com/tenant/app')),
    rebased('in circles', 'os2 app', from('in circles')),
    rebased('of nothing', 'os2 app', from('never pushed')),
  ];
  const { results } = await recognize(facts);
  assert.deepEqual(
    results
      .slice(0, facts.length)
      .map(({ recognition, origin }) => [recognition.kind === 'recognized' ? recognition.by : recognition.kind, origin]),
    [
      ['Layers', undefined],
      ['Origin', digestFor('origin')],
      ['Origin', digestFor('origin')],
      ['unrelated', undefined],
      ['unrelated', undefined],
      ['unrelated', undefined],
      ['unrelated', undefined],
    ],
  );
});
