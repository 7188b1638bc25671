/** Each policy in both versions: sampled policies go there and back through the real API server and the real webhook. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { isObject } from '../../src/core/model/untyped.ts';
import { v1SpecArbitrary, v1alpha1SpecArbitrary, visibleV1SpecArbitrary } from '../service/resources/arbitraries.ts';
import { differences, isHidden, withoutNotes, type Policy } from '../service/resources/objects.ts';
import { nameOf, startTwoVersions, type TwoVersions } from './two-versions-world.ts';

const sampleOf = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) => fc.sample(arbitrary, { seed: 20261121, numRuns });
const newerSpecs = [...sampleOf(v1SpecArbitrary, 24), ...sampleOf(visibleV1SpecArbitrary, 12)];
const olderSpecs = sampleOf(v1alpha1SpecArbitrary, 24);
/** What a change of the pattern stands for; beside Latest it means nothing. */
const patternIn = new Map([
  ['SemVer', ['select.semver.range']],
  ['Latest', []],
  ['Regex', ['tags.allow']],
]);

for (const storage of ['v1', 'v1alpha1'] as const) {
  describe(`policies in both versions, stored as ${storage}`, () => {
    let world: TwoVersions;
    const created: string[] = [];
    before(async () => {
      world = await startTwoVersions(storage);
    });
    after(() => world.stop());

    for (const [index, spec] of newerSpecs.entries()) {
      it(`keep sample ${index} of v1 when v1alpha1 is written back or edited`, async () => {
        const first = await world.create('v1', spec);
        const name = nameOf(first);
        created.push(name);
        const view = await world.read('v1alpha1', name);
        assert.deepEqual((await world.read('v1', name)).spec, first.spec);

        await world.replace('v1alpha1', name, view);
        const untouched = await world.read('v1', name);
        assert.deepEqual(untouched.spec, first.spec, 'the view was written back as it was');
        assert.equal(untouched.metadata['generation'], 1);

        const minutes = view.spec?.['pollIntervalMinutes'] === 7 ? 8 : 7;
        await world.patch('v1alpha1', name, { spec: { pollIntervalMinutes: minutes } });
        const edited = await world.read('v1', name);
        assert.deepEqual(differences(edited.spec, first.spec), ['poll.interval']);
        assert.deepEqual([edited.spec?.['poll'], edited.metadata['generation']], [{ interval: `${minutes}m` }, 2]);

        if (isHidden(view)) return;
        await world.patch('v1alpha1', name, { spec: { tagPolicy: { pattern: '7.*' } } });
        const { tagPolicy } = (await world.read('v1alpha1', name)).spec ?? {};
        assert.ok(isObject(tagPolicy) && tagPolicy['pattern'] === '7.*');
        const standsFor = patternIn.get(String(tagPolicy['strategy']));
        assert.deepEqual(differences((await world.read('v1', name)).spec, edited.spec), standsFor);
      });
    }

    for (const [index, spec] of olderSpecs.entries()) {
      it(`keep sample ${index} of v1alpha1 when v1 is written back or edited`, async () => {
        const first = withoutNotes(await world.create('v1alpha1', spec));
        const name = nameOf(first);
        created.push(name);
        assert.deepEqual(first.spec, spec);
        const readOlder = async (): Promise<Policy> => withoutNotes(await world.read('v1alpha1', name));
        assert.deepEqual(await readOlder(), first);

        await world.replace('v1', name, await world.read('v1', name));
        const untouched = await readOlder();
        assert.deepEqual(untouched.spec, spec, 'the object was written back in v1 as it was');
        assert.equal(untouched.metadata['generation'], 1);

        await world.patch('v1', name, { spec: { minAge: '1h' } });
        const hidden = await readOlder();
        assert.ok(isHidden(hidden));
        assert.deepEqual({ ...hidden.spec, tagPolicy: spec['tagPolicy'] }, spec);
        await world.patch('v1', name, { spec: { minAge: null } });
        assert.deepEqual((await readOlder()).spec, spec);
      });
    }

    it('are all listed in both versions', async () => {
      for (const version of ['v1', 'v1alpha1'] as const) {
        assert.deepEqual((await world.list(version)).map(nameOf).sort(), created.toSorted());
      }
      assert.deepEqual(await world.storedVersions(), [`operator.technomad.dev/${storage}`]);
    });
  });
}
