import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { hasChanges, planUpdate, type PlanInput } from '../../../src/core/plan/plan-update.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { allKnown, digestOf, lastMatching, latestSpec, noAliases, specOf, webDeployment, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';

function plan(workload: Workload | undefined, candidate: Candidate, input: Partial<PlanInput> = {}) {
  const spec = input.spec ?? specOf();
  return planUpdate({
    spec,
    candidate,
    hasApplied: false,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workload,
    ...input,
  });
}

const semverSpec = specOf();
const semver1xSpec = specOf({ strategy: strategies.semver({ range: '1.x' }) });
const pinnedSpec = specOf({ pin: 'Digest' });
const buildTagsSpec = specOf({ strategy: lastMatching('build-\\d+') });
const digestSpec = latestSpec();
const replaceSpec = specOf({ strategy: strategies.replace({ from: '1.2.3', to: '1.2.3-base.20261123' }) });
const downgradeSpec = specOf({ allowDowngrade: true });
const prodTagsSpec = specOf({ strategy: filterTags(strategies.semver({ range: '1.x' }), { allow: 'v(.*)-prod', extract: '$1' }) });

const rebuiltTagsSpec = specOf({ strategy: filterTags(strategies.semver({}), { allow: '([0-9.]+)-[0-9]+', extract: '$1' }) });
const rebuiltPinned: PolicySpec = { ...rebuiltTagsSpec, pin: 'Digest' };

type When = 'at first' | 'later';
type Row = [runs: string, candidate: string, becomes: string, spec?: PolicySpec, when?: When];

/** `@old` and `@new` stand for digests; what becomes of the image is its new text or why it stays. */
const rows: Record<string, Row> = {
  'a rebased image of an older version': [':1.2.3-base.20261123', '1.3.0', ':1.3.0'],
  'a rebased image of the candidate': [':1.3.0-base.20261123', '1.3.0', 'UpToDate'],
  'a rebased image of the candidate, pinned': [':1.3.0-base.20261123@old', '1.3.0@new', 'UpToDate', pinnedSpec],
  'a rebased image of a newer version': [':1.4.0-base.20261123', '1.3.0', 'OlderThanRunning', semverSpec, 'later'],
  'the tag that is replaced': [':1.2.3', '1.2.3-base.20261123', ':1.2.3-base.20261123', replaceSpec, 'later'],
  'the tag that is replaced, with a digest': [':1.2.3@old', '1.2.3-base.20261123@new', ':1.2.3-base.20261123', replaceSpec],
  'a tag that is not the replaced one': [':1.2.2', '1.2.3-base.20261123', 'NotComparable', replaceSpec],
  'the tag that has replaced it': [':1.2.3-base.20261123', '1.2.3-base.20261123', 'UpToDate', replaceSpec],
  'an older version': [':1.2.3', '1.3.0', ':1.3.0'],
  'an older version, by number and not by text': [':1.9.0', '1.10.0', ':1.10.0'],
  'an older version with a digest': [':1.2.3@old', '1.3.0@new', ':1.3.0'],
  'an older version, pinned': [':1.2.3', '1.3.0@new', ':1.3.0@new', pinnedSpec],
  'the candidate': [':1.3.0', '1.3.0', 'UpToDate'],
  'the candidate, whose digest nobody knows': [':1.3.0', '1.3.0@new', 'UpToDate'],
  'the candidate in another spelling': [':v1.3.0', '1.3.0', 'UpToDate'],
  'the candidate at another digest': [':1.3.0@old', '1.3.0@new', 'Retagged'],
  'the candidate without its digest, pinned': [':1.3.0', '1.3.0@new', ':1.3.0@new', pinnedSpec],
  'the candidate at its digest, pinned': [':1.3.0@new', '1.3.0@new', 'UpToDate', pinnedSpec],
  'an equal one, earlier by name': [':1.4.2-20260101', '1.4.2-20260201@new', ':1.4.2-20260201', rebuiltTagsSpec, 'later'],
  'an equal one, later by name': [':1.4.2-20260201', '1.4.2-20260101@new', 'UpToDate', rebuiltTagsSpec, 'later'],
  'an equal one, earlier by name, pinned': [':1.4.2-20260101@old', '1.4.2-20260201@new', ':1.4.2-20260201@new', rebuiltPinned, 'later'],
  'an equal one, later by name, pinned': [':1.4.2-20260201@old', '1.4.2-20260101@new', 'UpToDate', rebuiltPinned, 'later'],
  'an equal one, later by name, although older ones may replace newer ones': [
    ':1.4.2-20260201@old',
    '1.4.2-20260101@new',
    'UpToDate',
    { ...rebuiltPinned, allowDowngrade: true },
  ],
  'the same image under another name': [':1.4.2-20260101@new', '1.4.2-20260201@new', 'UpToDate', rebuiltPinned, 'later'],
  'a newer version': [':1.4.0', '1.3.0', 'OlderThanRunning'],
  'a newer version, pinned': [':1.4.0', '1.3.0@new', 'OlderThanRunning', pinnedSpec],
  'a newer version than the range wants': [':2.0.0', '1.3.0', 'OlderThanRunning', semver1xSpec],
  'an older version than the range wants': [':0.9.0', '1.3.0', ':1.3.0', semver1xSpec, 'later'],
  'an older prerelease': [':1.3.0-rc.1', '1.3.0', ':1.3.0', semverSpec, 'later'],
  'a newer prerelease': [':1.4.0-rc.1', '1.3.0', 'OlderThanRunning'],
  'a branch, at first': [':main', '1.3.0', ':1.3.0', semverSpec, 'at first'],
  'a branch, later': [':main', '1.3.0', 'NotComparable', semverSpec, 'later'],
  'no tag, at first': ['', '1.3.0', ':1.3.0', semverSpec, 'at first'],
  'no tag, later': ['', '1.3.0', 'NotComparable', semverSpec, 'later'],
  'a digest, at first': ['@old', '1.3.0@new', ':1.3.0', semverSpec, 'at first'],
  'a digest, later': ['@old', '1.3.0@new', 'NotComparable', semverSpec, 'later'],
  'the digest of the candidate': ['@new', '1.3.0@new', 'UpToDate', semverSpec, 'later'],
  'an older build': [':build-17', 'build-18', ':build-18', buildTagsSpec],
  'a newer build': [':build-19', 'build-18', 'OlderThanRunning', buildTagsSpec],
  'a version where builds are wanted, later': [':9.9.9', 'build-18', 'NotComparable', buildTagsSpec, 'later'],
  'latest without a digest': [':latest', 'latest@new', ':latest@new', digestSpec],
  'latest, unwritten': ['', 'latest@new', ':latest@new', digestSpec, 'later'],
  'latest of yesterday': [':latest@old', 'latest@new', ':latest@new', digestSpec],
  'latest of today': [':latest@new', 'latest@new', 'UpToDate', digestSpec],
  'latest of today, by its digest alone': ['@new', 'latest@new', 'UpToDate', digestSpec],
  'a version where latest is wanted, at first': [':1.0.0', 'latest@new', ':latest@new', digestSpec, 'at first'],
  'a version where latest is wanted, later': [':1.0.0', 'latest@new', 'NotComparable', digestSpec, 'later'],
  'a newer version, which may be replaced': [':1.4.0', '1.3.0', ':1.3.0', downgradeSpec, 'later'],
  'a newer version outside of the range, which may be replaced': [
    ':2.0.0',
    '1.3.0',
    ':1.3.0',
    specOf({ strategy: strategies.semver({ range: '1.x' }), allowDowngrade: true }),
    'later',
  ],
  'a branch, although older ones may replace newer ones': [':main', '1.3.0', 'NotComparable', downgradeSpec, 'later'],
  'the candidate, although older ones may replace newer ones': [':1.3.0', '1.3.0', 'UpToDate', downgradeSpec],
  'an older version, by the part that is compared': [':v1.9.0-prod', 'v1.10.0-prod', ':v1.10.0-prod', prodTagsSpec],
  'a newer version, by the part that is compared': [':v1.10.0-prod', 'v1.9.0-prod', 'OlderThanRunning', prodTagsSpec],
  'an older version than the range wants, by its part': [':v0.9.0-prod', 'v1.9.0-prod', ':v1.9.0-prod', prodTagsSpec, 'later'],
  'a newer version than the range wants, by its part': [':v2.0.0-prod', 'v1.9.0-prod', 'OlderThanRunning', prodTagsSpec, 'later'],
  'a version that the filter does not let through, later': [':0.1.0', 'v1.9.0-prod', 'NotComparable', prodTagsSpec, 'later'],
};

const withDigests = (text: string) => text.replace('@old', `@${digestOf('a')}`).replace('@new', `@${digestOf('b')}`);

for (const [name, [runs, choice, becomes, spec = semverSpec, when = 'at first']] of Object.entries(rows)) {
  test(`a workload that runs ${name} is planned as ${becomes}`, () => {
    const [tag = '', digest] = withDigests(choice).split('@');
    const candidate = { tag, ...(digest !== undefined && { digest }) };
    const planned = plan(workloadOf({ web: image + withDigests(runs) }), candidate, { spec, hasApplied: when === 'later' });
    const isChange = becomes.startsWith(':');
    const [target] = planned.targets;
    assert.equal(target?.changes[0]?.to ?? target?.unchanged[0]?.reason, isChange ? image + withDigests(becomes) : becomes);
    assert.equal(hasChanges(planned), isChange);
    assert.equal(target?.problem, undefined);
  });
}

const rebasedImage = `${image}:latest-base.20261123`;
const rebasedBy = (to: string) => ({
  policy: 'uid-of-child',
  at: '2026-11-23T08:00:00Z',
  trigger: 'PolicyChange' as const,
  from: `${image}:latest@${digestOf('a')}`,
  to,
});

test('a rebased image of a mutable tag stays until the tag points to another image than it was made from', () => {
  const workload = workloadOf({ web: { image: rebasedImage, lastUpdate: rebasedBy(rebasedImage) } });
  const runs = (digest: string) => plan(workload, { tag: 'latest', digest }, { spec: digestSpec, hasApplied: true }).targets[0];
  const same = runs(digestOf('a'));
  assert.deepEqual(same?.changes, []);
  assert.match(same.unchanged[0]?.message ?? '', /already runs latest \(as latest-base\.20261123, on a newer base\)/);
  assert.equal(runs(digestOf('b'))?.changes[0]?.to, `${image}:latest@${digestOf('b')}`);
});

test('an image that was rebased twice stays, although it did not replace the image that it was made from', () => {
  const [first, second] = [`${image}:1.3.0-base.20261120@${digestOf('b')}`, `${image}:1.3.0-base.20261123@${digestOf('c')}`];
  const workload = workloadOf({ web: { image: second, lastUpdate: { ...rebasedBy(second), from: first } } });
  const planned = plan(workload, { tag: '1.3.0', digest: digestOf('a') }, { spec: pinnedSpec, hasApplied: true });
  assert.deepEqual(planned.targets[0]?.changes, []);
  assert.equal(planned.targets[0]?.unchanged[0]?.reason, 'UpToDate');
});

test('a record of another image does not keep a rebased image of a mutable tag', () => {
  const workload = workloadOf({ web: { image: rebasedImage, lastUpdate: rebasedBy(`${image}:something-else`) } });
  const planned = plan(workload, { tag: 'latest', digest: digestOf('a') }, { spec: digestSpec, hasApplied: true });
  assert.equal(planned.targets[0]?.changes[0]?.to, `${image}:latest@${digestOf('a')}`);
});

test('every container of the repository is planned, at its index, and others are ignored', () => {
  const workload = workloadOf({
    proxy: 'envoyproxy/envoy:v1.30.0',
    web: `${image}:1.2.3`,
    broken: '{{ image }}',
    longer: `${image}-admin:1.0.0`,
    migrate: { image: `${image}:1.3.0`, imageOwner: 'helm' },
    elsewhere: 'other.example.com/shop/web:1.0.0',
  });
  const [target] = plan(workload, { tag: '1.3.0' }).targets;
  assert.deepEqual(target?.changes, [{ container: 'web', index: 1, from: `${image}:1.2.3`, to: `${image}:1.3.0` }]);
  assert.deepEqual(
    target.unchanged.map(({ container, reason, owner }) => ({ container, reason, owner })),
    [{ container: 'migrate', reason: 'UpToDate', owner: 'helm' }],
  );
});

test('the notation of the image in the workload is kept', () => {
  const nginx = specOf({ repository: { registry: 'docker.io', path: 'library/nginx' } });
  const names = ['nginx', 'library/nginx', 'docker.io/nginx', 'index.docker.io/library/nginx'];
  for (const name of names) {
    const [target] = plan(workloadOf({ web: `${name}:1.2.3` }), { tag: '1.3.0' }, { spec: nginx }).targets;
    assert.equal(target?.changes[0]?.to, `${name}:1.3.0`);
  }
});

test('the registry alias in the image name of a workload is kept', () => {
  const aliases = new Map([['registry.internal:5000', 'registry.example.com']]);
  const [target] = plan(workloadOf({ web: 'registry.internal:5000/shop/web:1.2.3' }), { tag: '1.3.0' }, { aliases }).targets;
  assert.equal(target?.changes[0]?.to, 'registry.internal:5000/shop/web:1.3.0');
});

test('only the named containers are considered, and each of them has to exist', () => {
  const workload = workloadOf({ web: `${image}:1.2.3`, worker: `${image}:1.2.3`, proxy: 'envoyproxy/envoy:v1.30.0' });
  const named = (...containers: string[]) =>
    plan(workload, { tag: '1.3.0' }, { spec: specOf({ targets: [{ ...webDeployment, containers }] }) });
  const [worker] = named('worker').targets;
  assert.deepEqual(worker?.changes, [{ container: 'worker', index: 1, from: `${image}:1.2.3`, to: `${image}:1.3.0` }]);
  assert.deepEqual([worker.target, worker.problem], [webDeployment, undefined]);
  const [some] = named('web', 'proxy', 'missing').targets;
  assert.deepEqual(
    some?.changes.map(({ container }) => container),
    ['web'],
  );
  assert.equal(some.problem?.reason, 'ContainerNotFound');
  assert.match(some.problem.message, /no container "proxy" or "missing" that runs registry\.example\.com\/shop\/web/);
});

test('the plan gives the reason why a target cannot be changed', () => {
  const problem = { reason: 'TargetKindUnknown', message: 'install it' } as const;
  const [unknown] = plan(workloadOf({ web: `${image}:1.2.3` }), { tag: '1.3.0' }, { kindProblem: () => problem }).targets;
  assert.deepEqual([unknown?.problem, unknown?.changes], [problem, []]);

  const [missing] = plan(undefined, { tag: '1.3.0' }).targets;
  assert.deepEqual(missing?.problem, { reason: 'TargetNotFound', message: 'Deployment shop/web does not exist' });

  const [foreign] = plan(workloadOf({ web: 'nginx:1.2.3' }), { tag: '1.3.0' }).targets;
  assert.equal(foreign?.problem?.reason, 'ContainerNotFound');
});

test('each target is planned independently of the others', () => {
  const targets = ['a', 'b', 'c'].map((name) => ({ kind: 'Deployment', namespace: 'shop', name }));
  const runs: Record<string, string> = { a: `${image}:1.2.3`, c: `${image}:1.3.0` };
  const planned = planUpdate({
    spec: specOf({ targets }),
    candidate: { tag: '1.3.0' },
    hasApplied: true,
    aliases: noAliases,
    ...allKnown,
    findWorkload: ({ name }) => (runs[name] === undefined ? undefined : workloadOf({ web: runs[name] }, { name })),
  });
  assert.deepEqual(
    planned.targets.map(({ changes, unchanged, problem }) => changes[0]?.to ?? unchanged[0]?.reason ?? problem?.reason),
    [`${image}:1.3.0`, 'TargetNotFound', 'UpToDate'],
  );
});
