/** What controllers report of the charts that they install, as their documentation describes it, and what is no such report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectInstallation } from '../../../src/service/kube/project-installation.ts';

const release = { apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease' };
const repository = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository' };
const application = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application' };

const condition = (type: string, status: string, message: string, observedGeneration = 2, reason = 'Progressing') => ({
  type,
  status,
  reason,
  message,
  observedGeneration,
});
const flux = (conditions: unknown, status: object = {}, spec: object = {}) => ({
  metadata: { generation: 2 },
  spec,
  status: { observedGeneration: 2, conditions, ...status },
});
const stalled = condition('Stalled', 'True', 'Failed to upgrade after 1 attempt(s)');
const failing = (message: string) => [
  stalled,
  condition('Ready', 'False', 'Helm rollback succeeded'),
  condition('Released', 'False', message),
];

const fluxCases: readonly (readonly [name: string, raw: object, expected: string])[] = [
  ['nothing', flux([], { observedGeneration: -1 }), 'unseen'],
  ['a success of the generation before', flux([condition('Ready', 'True', 'ok', 1)], { observedGeneration: 1 }), 'unseen'],
  ['a failure of the generation before', flux([{ ...stalled, observedGeneration: 1 }], { observedGeneration: 1 }), 'unseen'],
  ['an upgrade that runs', flux([condition('Reconciling', 'True', "Running 'upgrade'")], { observedGeneration: 1 }), 'underway'],
  ['a new attempt after a failure', flux([...failing('it fails').slice(1), condition('Reconciling', 'True', 'again')]), 'underway'],
  ['a source that is not ready', flux([condition('Ready', 'False', 'no artifact')], { observedGeneration: 1 }), 'underway'],
  ['success', flux([condition('Ready', 'True', 'Helm upgrade succeeded')]), 'installed'],
  ['success that is not final', flux([condition('Ready', 'True', 'ok')], { observedGeneration: 1 }), 'underway'],
  ['an upgrade that failed', flux(failing('template: no such field')), 'failed image'],
  ['tests that failed', flux([stalled, condition('TestSuccess', 'False', 'pod test failed')]), 'failed image'],
  ['a webhook that does not answer', flux(failing('failed calling webhook "x": connection refused')), 'failed cluster'],
  ['missing permissions', flux(failing('deployments.apps is forbidden: cannot patch resource')), 'failed configuration'],
  ['a spec that cannot work', flux([condition('Stalled', 'True', 'invalid URL')]), 'failed configuration'],
  ['a failure without an attempt', flux(failing('of before'), { lastAttemptedGeneration: 1 }), 'failed configuration'],
  ['a suspended one', flux([stalled], {}, { suspend: true }), 'halted'],
  ['no conditions', flux('none'), 'unseen'],
  ['conditions of nothing', flux([null, 3, 'Ready', [], { type: 7 }, { type: 'Ready', status: true, observedGeneration: 2 }]), 'underway'],
  ['a status of text', { metadata: { generation: 2 }, spec: 'x', status: 'Ready' }, 'unseen'],
  ['no generation', { metadata: null, status: { conditions: [condition('Ready', 'True', 'ok')] } }, 'unseen'],
];

for (const [name, raw, expected] of fluxCases)
  test(`a HelmRelease with ${name} is ${expected}`, () => {
    const { state, against } = projectInstallation(release, raw) ?? {};
    assert.equal([state, against].filter(Boolean).join(' '), expected);
  });

test('a failed installation has the message of what failed, not of its remediation, cut to fit the status', () => {
  assert.equal(projectInstallation(release, flux(failing('template: no such field')))?.message, 'template: no such field');
  const { message = '' } = projectInstallation(release, flux(failing('x'.repeat(30_000)))) ?? {};
  assert.ok(message.length <= 500);
});

test('an installation in progress says when it began, and after a failed attempt it does not', () => {
  const reconciling = { ...condition('Reconciling', 'True', 'upgrade'), lastTransitionTime: '2026-03-02T00:00:00Z' };
  assert.equal(projectInstallation(release, flux([reconciling]))?.since, '2026-03-02T00:00:00Z');
  assert.equal(projectInstallation(release, flux([reconciling, condition('Released', 'False', 'it fails')]))?.since, undefined);
  const running = app({ sync: 'OutOfSync', phase: 'Running', health: { lastTransitionTime: '2026-03-01T00:00:00Z' } });
  assert.equal(projectInstallation(application, running)?.since, '2026-03-01T00:00:00Z');
});

test('conditions of a HelmRelease after the first fifty are not read', () => {
  const many = Array.from({ length: 50 }, (_, index) => condition(`Other${index}`, 'True', 'x'));
  assert.equal(projectInstallation(release, flux([...many, condition('Ready', 'True', 'ok')]))?.state, 'unseen');
});

test('an OCIRepository is installed when its artifact is stored, and a failed pull is tried again', () => {
  const stateOf = (raw: object) => projectInstallation(repository, raw)?.state;
  assert.equal(stateOf(flux([condition('Ready', 'True', 'stored artifact')])), 'installed');
  assert.equal(stateOf(flux([condition('Ready', 'False', 'failed to pull')], { observedGeneration: 1 })), 'underway');
});

const source = { repoURL: 'ghcr.io/charts', chart: 'web', targetRevision: '1.1.0' };
const former = { ...source, targetRevision: '1.0.0' };
const at = '2026-03-01T12:00:30Z';
interface AppState {
  readonly sync?: string;
  readonly health?: unknown;
  readonly phase?: string;
  readonly of?: unknown;
  readonly comparedTo?: unknown;
  readonly finishedAt?: string;
}
function app(
  { sync = 'Synced', health = { status: 'Healthy' }, phase, of = { source }, comparedTo = { source }, finishedAt = at }: AppState,
  spec: object = { source },
) {
  const operationState = phase && { phase, message: 'said', finishedAt, syncResult: of };
  return { metadata: { generation: 9 }, spec, status: { sync: { status: sync, comparedTo }, health, operationState } };
}
const degraded = { status: 'Degraded', message: 'Deployment "web" exceeded its progress deadline', lastTransitionTime: at };
const several = [{ repoURL: 'https://example.com/values.git', targetRevision: 'main' }, source];

const appCases: readonly (readonly [name: string, raw: object, expected: string])[] = [
  ['no status', { spec: { source } }, 'unseen'],
  ['a comparison to the revision before', app({ comparedTo: { source: former } }), 'unseen'],
  ['a sync of the revision before that failed', app({ sync: 'OutOfSync', phase: 'Failed', of: { source: former } }), 'unseen'],
  ['no sync yet', app({ sync: 'OutOfSync' }), 'unseen'],
  ['a sync that runs', app({ sync: 'OutOfSync', phase: 'Running' }), 'underway'],
  ['a sync that failed', app({ sync: 'OutOfSync', phase: 'Failed' }), `failed image ${at}`],
  ['a sync that failed at an unknown time', app({ sync: 'OutOfSync', phase: 'Failed', finishedAt: '' }), 'underway'],
  ['an error', app({ sync: 'Unknown', phase: 'Error' }), `failed unknown ${at}`],
  ['success', app({ phase: 'Succeeded' }), 'installed'],
  ['success without a sync, because nothing changed', app({}), 'installed'],
  ['resources that are not ready', app({ phase: 'Succeeded', health: { status: 'Progressing' } }), 'underway'],
  ['resources that are missing', app({ phase: 'Succeeded', health: { status: 'Missing' } }), 'underway'],
  ['resources out of sync after a sync', app({ sync: 'OutOfSync', phase: 'Succeeded' }), 'underway'],
  ['degraded resources', app({ phase: 'Succeeded', health: degraded }), `failed image ${at}`],
  ['resources that are degraded for an unknown time', app({ health: { status: 'Degraded' } }), 'unseen'],
  [
    'several sources',
    app({ phase: 'Succeeded', of: { sources: several }, comparedTo: { sources: several } }, { sources: several }),
    'installed',
  ],
  ['fewer sources', app({ comparedTo: { sources: [source] } }, { sources: several }), 'unseen'],
  ['parts that are no objects', app({ health: 'Healthy', of: 7, comparedTo: [] }), 'unseen'],
];

for (const [name, raw, expected] of appCases)
  test(`an Application with ${name} is ${expected}`, () => {
    const { state, against, at: found } = projectInstallation(application, raw) ?? {};
    assert.equal([state, against, found].filter(Boolean).join(' '), expected);
  });

test('other kinds report no installation', () => {
  for (const kind of ['ApplicationSet', '__proto__', 'constructor'])
    assert.equal(projectInstallation({ apiVersion: 'argoproj.io/v1alpha1', kind }, app({})), undefined);
  assert.equal(projectInstallation({ apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart' }, {}), undefined);
  assert.equal(projectInstallation({ kind: 'HelmRelease' }, flux([])), undefined);
});
