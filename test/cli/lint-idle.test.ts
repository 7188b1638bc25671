/** What `lint` says of fields that have no effect. With `--cluster`: lint-idle-cluster.test.ts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { tempFolder } from '../harness/temp-folder.ts';
import { runCommand } from './run-command.ts';

interface Found {
  readonly line: number;
  readonly policy: string;
  readonly field: string;
  readonly message: string;
}

/** The warnings about a manifest, and whether anything is a problem. */
async function lint(manifest: object, settings?: object) {
  const folder = tempFolder('lint-idle');
  const [file, config] = [join(folder, 'policy.yaml'), join(folder, 'config.yaml')];
  writeFileSync(file, stringify(manifest));
  writeFileSync(config, stringify(settings ?? {}));
  const { code, out } = await runCommand('lint', [file, '-o', 'json', ...(settings === undefined ? [] : ['--config', config])]);
  const { problems, warnings = [] } = JSON.parse(out) as { problems: readonly Found[]; warnings?: readonly Found[] };
  assert.deepEqual([code, problems], [0, []]);
  return warnings;
}

const policy = (spec: object, metadata: object = { namespace: 'shop' }) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'ImagePolicy',
  metadata: { name: 'web', ...metadata },
  spec: { image: 'harbor.example.com/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }], ...spec },
});
const base = (spec: object) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'BaseImagePolicy',
  metadata: { name: 'java', namespace: 'platform' },
  spec: { image: 'harbor.example.com/library/java', select: { semver: {} }, ...spec },
});
const verify = { vulnerabilities: { harbor: true } };
const fixes = { fixes: 'Critical' };
const windows = [{ from: '09:00', to: '17:00' }];
const digest = { digest: { tag: 'main' } };
const job = { name: 'smoke', job: { cronJob: 'smoke' } };
const http = { name: 'ask', http: { url: 'https://checks.example.com', secretRef: { name: 'checks', key: 'key' } } };
const analysis = { name: 'rate', analysis: { template: 'rate' } };
const old = (tagPolicy: object) => ({
  apiVersion: 'operator.technomad.dev/v1alpha1',
  kind: 'ImagePolicy',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { repository: 'nginx', tagPolicy, updateTarget: { kind: 'Deployment', name: 'web', namespace: 'shop' } },
});

describe('lint, about a field without effect beside other fields,', () => {
  const rows: readonly (readonly [name: string, manifest: object, ...fields: string[]])[] = [
    ['allowDowngrade with select.digest', policy({ select: digest, update: { allowDowngrade: true } }), 'spec.update.allowDowngrade'],
    ['allowDowngrade with select.semver', policy({ update: { allowDowngrade: true } })],
    ['allowDowngrade: false with select.digest', policy({ select: digest, update: { allowDowngrade: false } })],
    ['tags with select.digest', policy({ select: digest, tags: { ignore: ['-debug$'] } }), 'spec.tags'],
    ['tags with select.digest in a base', base({ select: digest, tags: { allow: 'main' } }), 'spec.tags'],
    [
      'extract with select.newest',
      policy({ select: { newest: {} }, tags: { allow: '^main-(?P<n>[0-9]+)$', extract: '$n' } }),
      'spec.tags.extract',
    ],
    ['extract with select.numerical', policy({ select: { numerical: {} }, tags: { allow: '^main-(?P<n>[0-9]+)$', extract: '$n' } })],
    [
      'timeout and onFailure without watch',
      policy({ rollout: { watch: false, timeout: '5m', onFailure: 'Hold' } }),
      'spec.rollout.timeout',
      'spec.rollout.onFailure',
    ],
    ['onFailure: Rollback without watch', policy({ rollout: { watch: false, onFailure: 'Rollback' } }), 'spec.rollout.onFailure'],
    ['onFailure: Ignore without watch', policy({ rollout: { watch: false, onFailure: 'Ignore' } })],
    ['onFailure: Rollback with watch', policy({ rollout: { timeout: '5m', onFailure: 'Rollback' } })],
    [
      'retries of a Job and of an AnalysisRun',
      policy({
        rollout: {
          checks: [
            { ...http, retries: 2 },
            { ...job, retries: 2 },
            { ...analysis, retries: 1 },
          ],
        },
      }),
      'spec.rollout.checks[1].retries',
      'spec.rollout.checks[2].retries',
    ],
    ['no retries of a Job', policy({ rollout: { checks: [{ ...job, retries: 0 }, http] } })],
    ['waves and windows of a base without actions', base({ waves: { maxParallel: 2 }, windows }), 'spec.waves', 'spec.windows'],
    ['waves of a base that is only reported', base({ waves: { maxParallel: 2 }, onNewBase: [{ report: {} }] }), 'spec.waves'],
    ['waves and windows of a base with actions', base({ waves: { maxParallel: 2 }, windows, onNewBase: [{ rebase: {} }] })],
    ['a pattern with the strategy Latest of v1alpha1', old({ strategy: 'Latest', pattern: '1.x' }), 'spec.tagPolicy.pattern'],
    ['a range with the strategy SemVer of v1alpha1', old({ strategy: 'SemVer', pattern: '1.x' })],
    // Fixes that wait are reported, whether or not a rule asks for evidence.
    ['evidence that no rule asks for', policy({ verify })],
  ];
  for (const [name, manifest, ...fields] of rows)
    test(`${fields.length === 0 ? 'accepts' : 'warns of'} ${name}`, async () => {
      const warnings = await lint(manifest);
      assert.deepEqual(
        warnings.map(({ field }) => field),
        fields,
      );
      for (const { message, line } of warnings) assert.ok(message.startsWith('has no effect: ') && line > 4, message);
    });

  test('accepts the defaults that the API server has written into a policy read from a cluster', async () => {
    const rollout = { watch: false, timeout: '10m', onFailure: 'Rollback', maxParallel: 10 };
    assert.deepEqual(await lint(policy({ rollout }, { namespace: 'shop', uid: 'a' })), []);
    const set = await lint(policy({ rollout: { ...rollout, onFailure: 'Hold' } }, { namespace: 'shop', uid: 'a' }));
    assert.deepEqual(
      set.map(({ field }) => field),
      ['spec.rollout.onFailure'],
    );
  });
});

describe('lint, about an exception from a wait that the policy does not have,', () => {
  const age = (spec: object = {}, metadata?: object) => policy({ minAgeUnless: fixes, verify, ...spec }, metadata);
  const times = (update: object = {}, metadata?: object) => policy({ update: { windowsUnless: fixes, ...update }, verify }, metadata);
  const hint =
    / \(known here is only the policy: name the configuration of the service with --config where policyDefaults has (minAge|windows)\)$/;

  test('warns, and says that the defaults of the configuration are not known', async () => {
    const [first, ...others] = await lint(age());
    assert.deepEqual([first?.policy, first?.field, others], ['shop/web', 'spec.minAgeUnless', []]);
    assert.match(first?.message ?? '', /^has no effect without minAge: no image waits for its age \(/);
    assert.match(first?.message ?? '', hint);
    const [second] = await lint(times());
    assert.deepEqual([second?.field, hint.exec(second?.message ?? '')?.[1]], ['spec.update.windowsUnless', 'windows']);
    assert.match(second?.message ?? '', /^has no effect without update\.windows: no image waits for a window \(/);
  });

  test('accepts the exception if the policy has the wait', async () => {
    assert.deepEqual([await lint(age({ minAge: '1h' })), await lint(times({ windows }))], [[], []]);
  });

  test('warns with certainty if no default can apply', async () => {
    const replace = { select: { replace: { from: '1', to: '2' } } };
    for (const manifest of [times({ windows: [] }), age(replace)])
      for (const settings of [undefined, { policyDefaults: { minAge: '1h', windows } }]) {
        const [found, ...others] = await lint(manifest, settings);
        assert.deepEqual(
          [found?.message.endsWith(' waits for its age') || found?.message.endsWith(' waits for a window'), others],
          [true, []],
        );
      }
  });

  const defaults: readonly (readonly [name: string, settings: object, isWarned: boolean, metadata?: object])[] = [
    ['no default', {}, true],
    ['a default of the cluster', { minAge: '1h', windows }, false],
    ['no windows as the default', { windows: [] }, true],
    ['defaults of its namespace', { namespaces: [{ names: ['shop'], minAge: '1h', windows }] }, false],
    ['defaults of another namespace', { namespaces: [{ names: ['other'], minAge: '1h', windows }] }, true],
    ['defaults of another namespace, and none of its own', { namespaces: [{ names: ['other'], minAge: '1h', windows }] }, false, {}],
    ['defaults of namespaces by label', { namespaces: [{ selector: { matchLabels: { a: 'b' } }, minAge: '1h', windows }] }, false],
    ['other defaults of namespaces by label', { namespaces: [{ selector: { matchLabels: { a: 'b' } }, poll: { interval: '1h' } }] }, true],
  ];
  for (const [name, policyDefaults, isWarned, metadata] of defaults)
    test(`${isWarned ? 'warns' : 'accepts the exception'} with a configuration that has ${name}`, async () => {
      const found = [...(await lint(age({}, metadata), { policyDefaults })), ...(await lint(times({}, metadata), { policyDefaults }))];
      const messages = found.map(({ message }) => message);
      const both = [
        'has no effect without minAge: no image waits for its age',
        'has no effect without update.windows: no image waits for a window',
      ];
      assert.deepEqual(messages, isWarned ? both : []);
    });
});
