import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { isImageInUse, listImages, type ImagesView } from '../../../src/bases/policies/list-images.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';
import { matchesSelector } from '../../../src/core/model/label-selector.ts';
import type { Workload } from '../../../src/core/model/workload.ts';
import { digestOf, noAliases, workloadOf } from '../../core/model/samples.ts';

const image = 'harbor.example.com/shop/web';

function policyWith(workloads: readonly object[]) {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const spec = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads };
  const policy = readBasePolicy({ metadata, spec }, { aliases: new Map(), customTargets: [] });
  assert.ok(isUsableBase(policy.spec));
  return { ...policy, spec: policy.spec };
}

/** The workloads of a cluster, and the answers of Namespaces. */
function viewOf(workloads: readonly Workload[], consents: Readonly<Record<string, string>> = {}): ImagesView {
  return {
    crossNamespace: 'consent',
    namespaceConsent: (namespace) => consents[namespace] ?? null,
    findWorkload: () => undefined,
    listWorkloads: ({ kind }, namespace, selector, only) =>
      workloads.filter(
        (one) =>
          one.kind === kind &&
          one.namespace === namespace &&
          (Object.keys(selector).length === 0 || matchesSelector(selector, one.labels)) &&
          (only !== 'annotated' || one.allowPoliciesFrom !== undefined),
      ),
    namespacesWith: () => ['platform', 'shop', 'ops'],
    aliases: noAliases,
  };
}

const inNamespace = (
  namespace: string,
  name: string,
  images: Parameters<typeof workloadOf>[0],
  more: Partial<Workload> = {},
): Workload => ({
  ...workloadOf(images),
  namespace,
  name,
  ...more,
});
const everywhere = [{ namespaceSelector: { matchLabels: { tier: 'apps' } }, kinds: ['Deployment'] }];
const namesOf = (images: ReturnType<typeof listImages>) =>
  images.map(({ repository, tag, digest, workloads }) => [
    `${repository.path}:${tag ?? ''}${digest === undefined ? '' : '@'}`,
    ...workloads.map(({ workload }) => workload.name),
  ]);

it('the images of a policy contain each image once, with all workloads and containers that run it', () => {
  const workloads = [
    inNamespace('platform', 'a', { app: `${image}:1`, sidecar: `${image}:1` }, { initContainers: [{ name: 'init', image: `${image}:1` }] }),
    inNamespace('platform', 'b', { app: `${image}:1`, other: 'nginx' }),
    inNamespace('platform', 'c', { app: `${image}@${digestOf('a')}`, broken: '{{ image }}' }),
  ];
  const listed = listImages(policyWith([{ kinds: ['Deployment'] }]), viewOf(workloads));
  assert.deepEqual(namesOf(listed), [
    ['library/nginx:latest', 'b'],
    ['shop/web:1', 'a', 'b'],
    ['shop/web:@', 'c'],
  ]);
  assert.deepEqual(listed[1]?.workloads[0]?.containers, ['app', 'sidecar', 'init']);
  assert.deepEqual(
    listed[1].workloads.map(({ hasInitContainers }) => hasInitContainers),
    [true, false],
  );
});

it('the images of a policy contain those of other namespaces only where the workloads or the Namespace consent', () => {
  const workloads = [
    inNamespace('platform', 'own', { app: `${image}:1` }),
    inNamespace('shop', 'open', { app: `${image}:2` }),
    inNamespace('ops', 'closed', { app: `${image}:3` }),
    inNamespace('ops', 'let-in', { app: `${image}:4` }, { allowPoliciesFrom: 'platform' }),
    inNamespace('shop', 'kept-out', { app: `${image}:5` }, { allowPoliciesFrom: 'ops' }),
  ];
  const listed = listImages(policyWith(everywhere), viewOf(workloads, { shop: 'platform,ops' }));
  assert.deepEqual(
    namesOf(listed).map(([, name]) => name),
    ['own', 'open', 'let-in'],
  );
});

it('the images of a policy are selected by labels and kinds of workloads', () => {
  const workloads = [
    inNamespace('platform', 'java', { app: `${image}:1` }, { labels: { runtime: 'java' } }),
    inNamespace('platform', 'node', { app: `${image}:2` }, { labels: { runtime: 'node' } }),
    inNamespace('platform', 'set', { app: `${image}:3` }, { kind: 'StatefulSet', labels: { runtime: 'java' } }),
  ];
  const select = (kinds: readonly string[]) =>
    namesOf(listImages(policyWith([{ selector: { matchLabels: { runtime: 'java' } }, kinds }]), viewOf(workloads))).map(([, name]) => name);
  assert.deepEqual(select(['Deployment']), ['java']);
  assert.deepEqual(select(['Deployment', 'StatefulSet']), ['java', 'set']);
});

it('an image counts as in use if any workload of any kind has its tag or its digest', () => {
  const digest = digestOf('a');
  const rebased = { repository: { registry: 'harbor.example.com', path: 'shop/web' }, tag: '1.2.3-base.20261123', digest };
  const isUsedBy = (name: string, more: Partial<Workload> = {}) =>
    isImageInUse(() => [inNamespace('elsewhere', 'a', { app: name }, more)], { aliases: noAliases })(rebased);
  assert.ok(isUsedBy(`${image}:1.2.3-base.20261123`));
  assert.ok(isUsedBy(`${image}:1.2.3-base.20261123`, { kind: 'StatefulSet' }));
  assert.ok(isUsedBy(`${image}@${digest}`, { kind: 'CronJob' }));
  assert.ok(isUsedBy('nginx', { volumes: [{ index: 0, name: 'files', image: `${image}:1.2.3-base.20261123` }] }));
  assert.ok(!isUsedBy(`${image}:1.2.3`) && !isUsedBy(`${image}@${digestOf('b')}`) && !isUsedBy('nginx@sha256:1'));
});
