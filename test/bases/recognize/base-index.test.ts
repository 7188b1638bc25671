/** A base with thousands of versions, whose number and form its owner chooses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexBases } from '../../../src/bases/recognize/base-index.ts';
import type { KnownBase, KnownPlatform } from '../../../src/bases/recognize/layers.ts';
import { recognizeBase } from '../../../src/bases/recognize/recognize-base.ts';
import { base, digestFor, image, repository } from './samples.ts';

const amd64 = 'linux/amd64';
const { signal } = new AbortController();

/** Thousands of versions that are alike, each of which counts how often it is compared. */
function alike(count: number, change: (platform: KnownPlatform, index: number) => KnownPlatform = (platform) => platform) {
  let comparisons = 0;
  const [plain] = base('21', { [amd64]: 'os java' }).platforms;
  assert.ok(plain);
  const versions = Array.from({ length: count }, (_, index): KnownBase => {
    const own = [change({ ...plain, digest: digestFor(`manifest ${index}`) }, index)];
    return {
      repository,
      tags: [`${index}`],
      digest: digestFor(`version ${index}`),
      get platforms() {
        comparisons++;
        return own;
      },
    };
  });
  return { versions, comparisons: () => comparisons };
}

test('an image is compared with few of the thousands of versions that have the same layers', async () => {
  const named = Array.from({ length: 16 }, () => ({ by: 'Buildpacks' as const, topLayer: digestFor('java') }));
  const app = image({ name: 'app', layers: { [amd64]: 'os java app' }, named });
  const changes: Record<string, Parameters<typeof alike>[1]> = {
    'the same settings': undefined,
    'other settings each': (platform, index) => ({ ...platform, settings: index.toString(16).padStart(16, '0') }),
    'another platform each': (platform, index) => ({ ...platform, platform: `linux/p${index}` }),
    'the same manifest': (platform) => ({ ...platform, digest: digestFor('one manifest') }),
  };
  for (const [name, change] of Object.entries(changes)) {
    const { versions, comparisons } = alike(5_000, change);
    const index = await indexBases(versions, signal);
    const before = comparisons();
    const recognition = recognizeBase(app, index);
    assert.equal(recognition.kind === 'recognized' && recognition.base.digest, versions[0]?.digest, name);
    assert.ok(comparisons() - before <= 1_000, `${name}: ${comparisons() - before} comparisons`);
  }
});

test('the event loop continues while thousands of versions are indexed', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  const names = Array.from({ length: 16 }, (_, index) => `linux/p${index}`);
  const { versions } = alike(5_000);
  const wide = versions.map((version) => ({
    ...version,
    platforms: names.flatMap((platform) => version.platforms.map((one) => ({ ...one, platform }))),
  }));
  await indexBases(wide, signal);
  clearImmediate(pending);
  assert.ok(turns >= 3, `${turns} turns`);
});
