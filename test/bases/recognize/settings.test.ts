/** Versions of a base with the same layers: the settings that an image has inherited show which one it is built on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { indexBases } from '../../../src/bases/recognize/base-index.ts';
import { knownSettings } from '../../../src/bases/recognize/contested-versions.ts';
import type { BuildFacts } from '../../../src/bases/recognize/facts.ts';
import { knownBase } from '../../../src/bases/recognize/layers.ts';
import { recognizeBase } from '../../../src/bases/recognize/recognize-base.ts';
import { recognizeImages } from '../../../src/bases/recognize/recognize-images.ts';
import { closestBase, fingerprintOf, inheritsOther, settingsOf } from '../../../src/bases/recognize/settings.ts';
import { digestFor, image, repository } from './samples.ts';

const amd64 = 'linux/amd64';
const source = { registry: 'harbor.example.com', path: 'library/base-java' };
const { signal } = new AbortController();

function facts(name: string, layers: string, Env: readonly string[], named: BuildFacts['platforms'][number]['named'] = []): BuildFacts {
  const plain = image({ name, layers: { [amd64]: layers }, named });
  return { ...plain, platforms: plain.platforms.map((one) => ({ ...one, settings: settingsOf({ Env }) })) };
}

/** The tag of the base on which an image is found to be built. The versions have the same layers; the first one is the selected one. */
async function baseOf(app: BuildFacts, versions: Readonly<Record<string, readonly string[]>>, gone: readonly string[] = []) {
  const bases = Object.entries(versions).map(([tag, env]) => facts(tag, 'os java', env));
  const known = bases.map((one, place) => knownBase(one, { repository, tags: [Object.keys(versions)[place] ?? ''] }));
  const all = [app, ...bases.filter((_, place) => !gone.includes(Object.keys(versions)[place] ?? ''))];
  const reader = { read: (_: unknown, digest: string) => Promise.resolve(all.find((one) => one.digest === digest)) };
  const { images } = await recognizeImages([{ source, digest: app.digest }], { source, known }, { reader, signal });
  const [{ recognition } = {}] = images;
  return recognition?.kind === 'recognized' ? recognition.base.tags[0] : recognition?.kind;
}

const versions = { '21.0.2': ['PATH=/usr/bin', 'LOOKUPS=off'], '21.0.1': ['PATH=/usr/bin', 'LOOKUPS=on'] };
const cases: Record<string, readonly [env: readonly string[], versions: Readonly<Record<string, readonly string[]>>, expected: string]> = {
  'it has the value of the new version': [['PATH=/usr/bin', 'LOOKUPS=off'], versions, '21.0.2'],
  'it has the value of the old version': [['PATH=/usr/bin', 'LOOKUPS=on', 'OWN=1'], versions, '21.0.1'],
  'it replaces what differs: nothing would change': [['PATH=/usr/bin', 'LOOKUPS=never'], versions, '21.0.2'],
  'it has no such variable, as the old version': [
    ['PATH=/usr/bin'],
    { '21.0.2': ['PATH=/usr/bin', 'LOOKUPS=off'], '21.0.1': ['PATH=/usr/bin'] },
    '21.0.1',
  ],
  'the versions have the same settings': [['A=1'], { '21.0.2': ['A=1'], '21.0.1': ['A=1'] }, '21.0.2'],
  'it agrees most with a third one': [['A=1', 'B=1'], { '3': ['A=3', 'B=3'], '2': ['A=2', 'B=1'], '1': ['A=1', 'B=1'] }, '1'],
};

describe('an image on one of several versions with the same layers', () => {
  for (const [name, [env, known, expected]] of Object.entries(cases))
    test(`is found to be on ${expected}: ${name}`, async () =>
      assert.equal(await baseOf(facts('app', 'os java app', env), known), expected));

  test('is on the version whose digest it names, unless a newer version would change nothing', async () => {
    const named = [{ by: 'Annotation' as const, repository, digest: digestFor('21.0.1') }];
    const own = (env: readonly string[]) => facts('app', 'os java app', env, named);
    assert.equal(await baseOf(own(['PATH=/usr/bin', 'LOOKUPS=on']), versions), '21.0.1');
    assert.equal(await baseOf(own(['PATH=/usr/bin', 'LOOKUPS=never']), versions), '21.0.2');
    assert.equal(await baseOf(own([]), { '21.0.2': ['A=1'], '21.0.1': ['A=1'] }), '21.0.2');
  });

  test('is not compared with a version that the registry does not have any more', async () => {
    const app = facts('app', 'os java app', ['PATH=/usr/bin', 'LOOKUPS=on']);
    assert.equal(await baseOf(app, versions, ['21.0.1']), '21.0.2');
  });

  test('causes no request if all versions have other layers or the same settings', async () => {
    const known = ['1', '2'].map((tag) => knownBase(facts(tag, `os java${tag}`, [tag]), { repository, tags: [tag] }));
    const same = ['3', '4'].map((tag) => knownBase(facts(tag, 'os java', ['A=1']), { repository, tags: [tag] }));
    const reader = { read: () => assert.fail('nothing is to be read') };
    const { learn } = knownSettings(source, { reader, signal });
    await learn([facts('app', 'os java app', [])], await indexBases([...known, ...same], signal));
  });

  test('is unknown while a version cannot be read', async () => {
    const [newer, older] = Object.entries(versions).map(([tag, env]) => facts(tag, 'os java', env));
    const app = facts('app', 'os java app', []);
    assert.ok(newer && older);
    const known = [newer, older].map((one) => knownBase(one, { repository, tags: [] }));
    const failure = new Error('the registry does not answer');
    const reader = {
      read: (_: unknown, digest: string) =>
        digest === older.digest ? Promise.reject(failure) : Promise.resolve(digest === app.digest ? app : newer),
    };
    const { images } = await recognizeImages([{ source, digest: app.digest }], { source, known }, { reader, signal });
    assert.deepEqual([images[0]?.recognition.kind, images[0]?.error], ['unknown', failure]);
  });
});

describe('the settings of an image', () => {
  test('have no value for a field that is missing, null, empty or the root folder', () => {
    const none = [{}, { User: '', WorkingDir: '/', Env: [], Cmd: null, ExposedPorts: {}, Volumes: undefined }];
    for (const config of none) assert.deepEqual(settingsOf(config), {});
  });

  test('differ by each field, variable, port and volume in any order, but not by labels', () => {
    const config = { User: 'a', Cmd: ['b'], Env: ['A=1', 'B=2'], ExposedPorts: { '80/tcp': {} }, Volumes: { '/data': {} } };
    const same = { ...config, Env: ['B=2', 'A=1'], Labels: { version: '2' } };
    const [one, other] = [settingsOf(config), settingsOf(same)];
    assert.ok(one && other);
    assert.equal(Object.keys(one).length, 6);
    assert.equal(fingerprintOf(one), fingerprintOf(other));
    for (const change of [{ User: 'b' }, { Cmd: ['c'] }, { Env: ['A=1', 'B=3'] }, { ExposedPorts: { '81/tcp': {} } }, { Volumes: {} }])
      assert.notEqual(fingerprintOf(settingsOf({ ...config, ...change }) ?? {}), fingerprintOf(one));
  });

  test('are read only from valid fields, and are unknown if there are too many', () => {
    assert.deepEqual(settingsOf({ Env: [1, null, 'A=1'] }), settingsOf({ Env: ['A=1'] }));
    assert.deepEqual(settingsOf({ Env: 'A=1', ExposedPorts: null }), {});
    assert.equal(settingsOf({ Env: Array.from({ length: 257 }, (_, index) => `V${index}=1`) }), undefined);
  });

  test('select no base as the closest if no settings are known', () => {
    assert.equal(
      closestBase({}, ['a', 'b'], () => undefined),
      undefined,
    );
    assert.equal(inheritsOther({}, { a: '1' }, { a: '2' }), false);
    assert.equal(inheritsOther({ a: '1' }, { a: '1' }, {}), true);
  });

  test('decide for the old version if one of two platforms is on it', async () => {
    const two = (name: string, amd: string, arm: string) => {
      const plain = image({ name, layers: { [amd64]: 'os java', 'linux/arm64': 'os-arm java-arm' } });
      const env = [amd, arm];
      return { ...plain, platforms: plain.platforms.map((one, place) => ({ ...one, settings: settingsOf({ Env: [`A=${env[place]}`] }) })) };
    };
    const [newer, older, app] = [two('new', '2', '2'), two('old', '1', '1'), two('app', '2', '1')];
    const settings = new Map([newer, older].flatMap(({ platforms }) => platforms.map(({ digest, settings }) => [digest, settings ?? {}])));
    const known = [newer, older].map((one) => knownBase(one, { repository, tags: [] }));
    const recognition = recognizeBase(app, await indexBases(known, signal, settings));
    assert.equal(recognition.kind === 'recognized' && recognition.base.digest, older.digest);
  });
});
