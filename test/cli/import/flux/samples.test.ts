import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { convert, folder, marked, policy, repository, sample, semver, specs } from './samples.ts';

test('the conversion of each sample of Flux has the expected outcome', () => {
  const names = globSync('*.yaml', { cwd: folder }).map((file) => basename(file, '.yaml'));
  const counts = names.sort().map((name) => {
    const { policies, skipped } = convert(sample(name));
    return [name, policies.length, skipped.length];
  });
  assert.deepEqual(counts, [
    ['guide', 1, 0],
    ['guide-latest', 0, 3],
    ['guide-policies', 0, 0],
    ['guide-push', 0, 0],
    ['guide-targets', 0, 4],
    ['setters', 0, 5],
    ['spec-automation', 0, 3],
    ['spec-exclusions', 0, 0],
    ['spec-policies', 0, 6],
    ['spec-repositories', 0, 1],
  ]);
});

/** A Deployment with a marker of each policy, in place of the workloads that the page leaves out. */
const deploymentsFor = (policies: readonly (readonly [key: string, image: string])[]) =>
  policies.map(([key, image], index) => marked(image, key).replace('name: web, namespace', `name: web-${index}, namespace`)).join('---\n');

test('the policies in the reference of Flux are converted with their repositories and marked workloads', () => {
  const [podinfo = ''] = sample('spec-repositories').split('---\n');
  const minio = podinfo.replaceAll('podinfo', 'minio');
  const texts = sample('spec-policies').split('---\n');
  const selected = texts.map((text) => {
    const [spec] = specs(
      podinfo,
      minio,
      text,
      deploymentsFor([
        ['default:podinfo', 'stefanprodan/podinfo:1.0.0'],
        ['default:minio', 'stefanprodan/minio:1.0.0'],
      ]),
    );
    return [spec?.select, spec?.tags, spec?.pullSecrets, spec?.update];
  });
  const secret = [{ name: 'regcred' }];
  assert.deepEqual(selected, [
    [{ semver: { range: '5.1.x' } }, undefined, secret, { pin: 'Digest' }],
    [{ semver: { range: '>=1.0.0' } }, undefined, secret, undefined],
    [{ alphabetical: {} }, undefined, secret, undefined],
    [{ numerical: {} }, undefined, secret, undefined],
    [{ semver: { range: '^1.x', prereleases: true } }, { allow: '.*-rc.*' }, secret, undefined],
    [{ alphabetical: {} }, { allow: String.raw`^RELEASE\.(?P<timestamp>.*)Z$`, extract: '$timestamp' }, secret, undefined],
  ]);
});

test('a repository of Flux may be in another namespace, and its excluded tags are ignored', () => {
  const [, , , app1 = ''] = sample('spec-repositories')
    .split(/^(?=---\n)/m)
    .map((text) => text.replace('---\n', ''));
  const excluding = sample('spec-exclusions');
  const workload = deploymentsFor([['flux-system:app1', 'docker.io/org/image:1.0.5']]);
  const [policy] = convert(excluding, app1, workload).policies;
  assert.deepEqual(policy?.policy.spec.tags, { ignore: ['1.0.2', '1.1.1|1.0.0'] });
  assert.equal(policy?.policy.spec.select.semver?.range, '1.0.x');
});

test("the markers in the tests of Flux's controller are found in containers and in kustomizations", () => {
  const automation = (name: string, image: string) =>
    [repository({ image }), policy({ ...semver, imageRepositoryRef: { name: 'web' } }, name)]
      .join('\n---\n')
      .replaceAll('flux-system', 'automation-ns');
  const { policies, skipped } = convert(sample('setters'), automation('policy', 'image'));
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata.namespace, spec.targets]),
    [['bar', [{ kind: 'CronJob', name: 'foo', containers: ['c'] }]]],
  );
  assert.equal(skipped.length, 4);
});
