/** The plan of a rebase: what becomes of layers and fields, and what cannot be rebased. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HistoryEntry, RunConfig } from '../../../src/bases/rebase/content.ts';
import { planRebase, type RebaseRequest } from '../../../src/bases/rebase/plan-rebase.ts';
import { all, configOf, manifestOf, plan } from './planned.ts';
import { digestFor, image, request, type RequestSample } from './samples.ts';

const both = ['linux/amd64', 'linux/arm64'];
const runConfig = (oldBase: RunConfig, newBase: RunConfig, application: RunConfig) =>
  configOf(plan({ application: { config: application }, oldBase: { config: oldBase }, newBase: { config: newBase } })).config;

test('a rebased image has the layers of the new base first, then those of the application', () => {
  const planned = plan({ application: { platforms: both }, oldBase: { platforms: both }, newBase: { platforms: both } });
  assert.deepEqual(planned.platforms, both);
  for (const [index, platform] of both.entries()) {
    const names = ['os', 'java2', 'patch', 'app'].map((name) => `${name} ${platform}`);
    assert.deepEqual(configOf(planned, index).rootfs.diff_ids, names.map(digestFor));
    const { layers, config } = manifestOf(planned, index);
    assert.deepEqual(
      layers.map(({ digest }) => digest),
      names.map((name) => digestFor(`${name} gzip`)),
    );
    assert.deepEqual([config.digest, config.size], [digestFor(String(planned.configs[index])), planned.configs[index]?.length]);
  }
  assert.equal(planned.manifests.length, 3);
  assert.equal(planned.layers.length, 6);
});

test('the layers of the base may be compressed in another way in the application', () => {
  assert.deepEqual(plan({ oldBase: { compression: 'zstd' } }).manifests, plan({}).manifests);
});

test('the same rebase has the same result, byte by byte', () => {
  const sample = {
    application: { platforms: both, config: { Env: ['A=1'], Labels: { a: 'b' } } },
    oldBase: { platforms: both },
    newBase: { platforms: both },
  };
  assert.deepEqual(plan(sample), plan(sample));
});

describe('fields of the configuration of a rebased image', () => {
  test('get the value of the new base if they are inherited, and stay if the application sets them', () => {
    const inherited = { User: 'a', WorkingDir: '/a', StopSignal: 'SIGA', Entrypoint: ['a'], Cmd: ['a'], Healthcheck: { Test: ['a'] } };
    const next = { User: 'b', WorkingDir: '/b', StopSignal: 'SIGB', Entrypoint: ['b'], Cmd: ['b'], Healthcheck: { Test: ['b'] } };
    const own = { User: 'c', WorkingDir: '/c', StopSignal: 'SIGC', Entrypoint: ['c'], Cmd: ['c'], Healthcheck: { Test: ['c'] } };
    assert.deepEqual(runConfig(inherited, next, inherited), next);
    assert.deepEqual(runConfig(inherited, next, own), own);
    assert.deepEqual(runConfig({}, next, {}), next);
    assert.deepEqual(runConfig(inherited, {}, inherited), {});
  });

  test('do not combine an entrypoint of the application with the command of the base', () => {
    assert.deepEqual(runConfig({}, { Cmd: ['shell'] }, { Entrypoint: ['own'] }), { Entrypoint: ['own'] });
    assert.deepEqual(runConfig({ Cmd: ['sh'] }, { Cmd: ['bash'] }, { Entrypoint: ['own'], Cmd: null }), { Entrypoint: ['own'], Cmd: null });
  });

  test('are merged name by name in environment, labels, ports and volumes', () => {
    const config = runConfig(
      {
        Env: ['SAME=1', 'CHANGED=1', 'OVERRIDDEN=1', 'GONE=1', 'REMOVED=1'],
        Labels: { base: '1', own: '1' },
        ExposedPorts: { '1/tcp': {} },
      },
      {
        Env: ['NEW=2', 'SAME=1', 'CHANGED=2', 'OVERRIDDEN=2', 'REMOVED=2'],
        Labels: { base: '2', own: '2' },
        ExposedPorts: { '2/tcp': {} },
      },
      {
        Env: ['SAME=1', 'CHANGED=1', 'OVERRIDDEN=own=value', 'GONE=1', 'OWN=3'],
        Labels: { base: '1', own: 'mine', more: 'x' },
        ExposedPorts: { '1/tcp': {}, '3/tcp': {} },
        Volumes: { '/own': {} },
      },
    );
    assert.deepEqual(config, {
      Env: ['NEW=2', 'SAME=1', 'CHANGED=2', 'OVERRIDDEN=own=value', 'OWN=3'],
      Labels: { base: '2', own: 'mine', more: 'x' },
      ExposedPorts: { '2/tcp': {}, '3/tcp': {} },
      Volumes: { '/own': {} },
    });
  });

  test('content that a descriptor embeds does not stay with another digest', () => {
    const platforms = { platforms: ['linux/amd64'] };
    const { application, ...others } = request({ application: platforms, oldBase: platforms, newBase: platforms });
    const embed = <D extends object>(descriptor: D) => ({ ...descriptor, data: 'dGhlIGZvcm1lciBjb250ZW50' });
    const embedded = application.platforms.map(({ entry, manifest, ...one }) => {
      return { ...one, ...(entry && { entry: embed(entry) }), manifest: { ...manifest, config: embed(manifest.config) } };
    });
    const planned = planRebase({ application: { ...application, platforms: embedded }, ...others });
    assert.ok(planned.kind === 'plan');
    for (const { bytes } of planned.manifests) assert.doesNotMatch(bytes.toString(), /"data"/);
  });

  test('may have names like __proto__', () => {
    const labels = JSON.parse('{"__proto__": "x", "constructor": "y"}') as Record<string, string>;
    const config = runConfig({}, { Env: ['__proto__=2'] }, { Labels: labels });
    assert.deepEqual(config?.Env, ['__proto__=2']);
    assert.equal(config?.Labels?.['constructor'], 'y');
  });

  test('are left out if they concern the build, and kept otherwise', () => {
    const fields = { author: 'me', container: 'abc', container_config: { Cmd: ['x'] }, 'moby.buildkit.cache.v0': 'x', variant: 'v2' };
    const config = configOf(plan({ application: { fields } }));
    assert.deepEqual(Object.keys(config).toSorted(), ['architecture', 'author', 'config', 'os', 'rootfs', 'variant']);
  });

  for (const [application, base, expected] of [
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00.5Z', '2026-02-01T00:00:00.5Z'],
    ['2026-03-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    [undefined, '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['nonsense', undefined, 'nonsense'],
    [undefined, undefined, undefined],
  ] as const) {
    test(`give the date ${expected} to an application of ${application} on a base of ${base}`, () => {
      const created = (time: string | undefined) => ({ fields: { ...(time !== undefined && { created: time }) } });
      assert.equal(configOf(plan({ application: created(application), newBase: created(base) })).created, expected);
    });
  }
});

describe('the history of a rebased image', () => {
  const step = (by: string) => ({ created_by: by });
  const empty = (by: string) => ({ created_by: by, empty_layer: true });
  const historyOf = (application: HistoryEntry[] | undefined, oldBase: HistoryEntry[] | undefined, newBase: HistoryEntry[] | undefined) => {
    const fields = (history: HistoryEntry[] | undefined) => ({ fields: { ...(history && { history }) } });
    const planned = plan({ application: fields(application), oldBase: fields(oldBase), newBase: fields(newBase) });
    return { history: configOf(planned).history?.map(({ created_by: by }) => by), notes: planned.notes };
  };
  const old = [step('os'), empty('ENV a'), step('java1'), empty('CMD a')];
  const next = [step('os'), step('java2'), empty('ENV b'), step('patch')];

  test('has the entries of the new base instead of the old base, and those of the application', () => {
    const { history, notes } = historyOf([...old, empty('ENV own'), step('app'), empty('CMD own')], old, next);
    assert.deepEqual([history, notes], [['os', 'java2', 'ENV b', 'patch', 'ENV own', 'app', 'CMD own'], []]);
  });

  test('is cut after the layers of the old base if it does not begin with the history of that base', () => {
    const { history } = historyOf([step('x'), step('y'), empty('ENV own'), step('app')], undefined, next);
    assert.deepEqual(history, ['os', 'java2', 'ENV b', 'patch', 'ENV own', 'app']);
  });

  test('has an entry for each layer of a new base without a history', () => {
    const { history } = historyOf([...old, step('app')], old, undefined);
    assert.deepEqual(history, ['a layer of the base', 'a layer of the base', 'a layer of the base', 'app']);
  });

  test('is left out with a note if it does not fit the layers', () => {
    const { history, notes } = historyOf([step('only one')], old, next);
    assert.equal(history, undefined);
    assert.match(notes.join(), /^the history is left out for 1 of 1 platforms/);
  });
});

describe('a rebase that knows several versions of the old base', () => {
  const versions = (names: readonly string[]): RebaseRequest => ({
    ...request({ allow: all }),
    oldBases: names.map((layers, index) => image('library/java', { tag: `21.0.${index}`, layers })),
  });

  test('takes the version with the most matching layers', () => {
    const planned = planRebase(versions(['os', 'os java1', 'os java0']));
    assert.ok(planned.kind === 'plan');
    assert.equal(planned.oldBase.tag, '21.0.1');
  });

  test('leaves an image alone that begins with the layers of the new base', () => {
    assert.deepEqual(planRebase(request({ application: { layers: 'os java2 patch app' } })), { kind: 'current' });
    // The old base has more layers: the new one is an older version of it.
    assert.equal(planRebase(request({ allow: all, newBase: { layers: 'os' } })).kind, 'plan');
  });

  test('replaces inherited settings if the new base has the same layers and other settings', () => {
    const [before, after] = [{ Env: ['A=1', 'B=1'] }, { Env: ['A=2', 'B=2'] }];
    const same = (application: RunConfig) =>
      planRebase(
        request({
          allow: all,
          oldBase: { config: before },
          newBase: { layers: 'os java1', config: after },
          application: { config: application },
        }),
      );
    const planned = same({ Env: ['A=1', 'B=own'] });
    assert.ok(planned.kind === 'plan');
    assert.deepEqual(configOf(planned).config?.Env, ['A=2', 'B=own']);
    assert.deepEqual(manifestOf(planned).layers.length, 3);
    assert.deepEqual(same({ Env: ['A=2', 'B=2'] }), { kind: 'current' });
    assert.deepEqual(same({ Env: ['A=own', 'B=own'] }), { kind: 'current' });
  });

  test('takes the version whose settings are inherited if several have the same layers', () => {
    const versions = ['1', '2', '3'].map((value) =>
      image('library/java', { tag: `21.0.${value}`, layers: 'os java1', config: { Env: [`A=${value}`] } }),
    );
    const planned = planRebase({ ...request({ allow: all, application: { config: { Env: ['A=2'] } } }), oldBases: versions });
    assert.ok(planned.kind === 'plan');
    assert.equal(planned.oldBase.tag, '21.0.2');
  });

  test('refuses an image that is built on none of them', () => {
    const result = planRebase(versions(['a', 'b', 'c', 'd']));
    assert.ok(result.kind === 'refused');
    assert.match(result.message, /is built on none of 4 versions of the base \(.*:21\.0\.0, .*:21\.0\.2 and 1 others\)/);
  });
});

const refusals: Record<string, readonly (readonly [name: string, sample: RequestSample, message: RegExp])[]> = {
  LayersDiffer: [
    ['another layer', { application: { layers: 'os java0 app' } }, /do not begin with those of .*:21\.0\.1: they have other files/],
    ['fewer layers', { application: { layers: 'os' } }, /other files/],
    [
      'the same layers, but a configuration that lists others',
      { application: { fields: { rootfs: { type: 'layers', diff_ids: ['os', 'other', 'app'].map(digestFor) } } } },
      /they have other files/,
    ],
    ['a base without layers', { oldBase: { layers: '' } }, /do not begin/],
    [
      'on one of two platforms',
      {
        application: { platforms: both },
        oldBase: { platforms: both, fields: { rootfs: { type: 'layers', diff_ids: [digestFor('os linux/arm64')] } } },
      },
      /linux\/amd64/,
    ],
  ],
  PlatformMissing: [
    [
      'in the new base',
      { application: { platforms: both }, oldBase: { platforms: both } },
      /library\/java:21\.0\.2 has no image for linux\/arm64/,
    ],
    ['in the old base', { application: { platforms: both } }, /library\/java:21\.0\.1 has no image for linux\/arm64/],
    ['another variant', { application: { platforms: ['linux/arm/v6'] }, oldBase: { platforms: ['linux/arm/v7'] } }, /linux\/arm\/v6/],
  ],
  ForeignLayers: [
    [
      'in the new base',
      { newBase: { layer: { mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip' } } },
      /:21\.0\.2 are not/,
    ],
    ['in the old base', { oldBase: { layer: { urls: ['https://example.com'] } } }, /:21\.0\.1 are not/],
    [
      'in the application',
      { application: { layer: { mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar' } } },
      /web:1\.2\.3/,
    ],
  ],
  LayerFormat: [
    ['an unknown type in the other format', { newBase: { isDocker: true, layer: { mediaType: 'application/x' } } }, /type application\/x/],
  ],
  TooLarge: [
    ['too many layers', { newBase: { layers: Array.from({ length: 127 }, (_, index) => `l${index}`).join(' ') } }, /would have 128 layers/],
    [
      'a configuration that becomes too large',
      {
        application: { config: { Labels: { a: 'x'.repeat(3_000_000) } } },
        newBase: { config: { Labels: { b: 'x'.repeat(3_000_000) } } },
      },
      /more than 2097152 bytes/,
    ],
  ],
};

for (const [reason, samples] of Object.entries(refusals)) {
  for (const [name, sample, message] of samples) {
    test(`a rebase is refused as ${reason}, whatever is allowed: ${name}`, () => {
      const result = planRebase(request({ allow: all, ...sample }));
      assert.ok(result.kind === 'refused', result.kind);
      assert.deepEqual([result.reason, result.rules], [reason, []]);
      assert.match(result.message, message);
    });
  }
}

test('a rebase is refused as LayersElsewhere, whatever is allowed: a base in another registry', () => {
  const one = request({ allow: all });
  const newBase = { ...one.newBase, repository: { ...one.newBase.repository, registry: 'other.example.com' } };
  const result = planRebase({ ...one, newBase });
  assert.deepEqual([result.kind, 'reason' in result && result.reason], ['refused', 'LayersElsewhere']);
});
