import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asWorkload, truthOf, type Policy, type Workload } from './truth.ts';

const repository = 'registry.example.com:5000/shop/web';
const policy = (more: Partial<Policy['spec']> = {}): Policy => ({
  metadata: { name: 'web', uid: 'p1' },
  spec: { image: repository, targets: [{ kind: 'Deployment', name: 'web' }], ...more },
});
const workload = (name: string, images: readonly string[], more: Partial<Workload['metadata']> = {}): Workload => ({
  kind: 'Deployment',
  metadata: { name, uid: name, ...more },
  spec: { template: { spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) } } },
});
const known = { wanted: '1.1.0' };

test('the expected images of a policy are those of its repository in its targets, by tag or digest', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  const images = [
    `${repository}:1.0.0`,
    `${repository}:1.0.0@${digest}`,
    `${repository}@${digest}`,
    `${repository}-admin:2.0.0`,
    'other:1',
  ];
  const { tags, images: found } = truthOf(policy(), [workload('web', images), workload('api', images)], known);
  assert.deepEqual(found, images.slice(0, 3));
  assert.deepEqual(
    [...tags],
    [
      ['1.0.0', 2],
      [`sha256:${'ab'.repeat(6)}`, 1],
    ],
  );
});

test('a target with a selector selects all workloads with its labels', () => {
  const targets = [{ kind: 'Deployment', selector: { matchLabels: { app: 'web' } } }];
  const labelled = (name: string, app: string) => workload(name, [`${repository}:${name}`], { labels: { app } });
  const { images } = truthOf(policy({ targets }), [labelled('a', 'web'), labelled('b', 'api'), labelled('c', 'web')], known);
  assert.deepEqual(images, [`${repository}:a`, `${repository}:c`]);
});

test('a policy sees no workload of another namespace, and only its own records on a workload', () => {
  const elsewhere = [{ kind: 'Deployment', name: 'web', namespace: 'ops' }];
  assert.deepEqual(truthOf(policy({ targets: elsewhere }), [workload('web', [`${repository}:1.0.0`])], known).images, []);
  const record = (uid: string, to: string) => JSON.stringify({ policy: uid, to });
  const annotations = {
    'last-update.operator.technomad.dev/c0': record('p1', `${repository}:1.0.0`),
    'last-update.operator.technomad.dev/c1': record('p2', `${repository}:1.1.0`),
    note: 'not JSON',
  };
  assert.deepEqual(truthOf(policy(), [workload('web', [`${repository}:1.0.0`], { annotations })], known).recorded, [`${repository}:1.0.0`]);
});

test('a chart is named like an image, by the source and the version in the object that installs it', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  const repositories = [{ metadata: { name: 'shop', uid: 's' }, spec: { url: 'oci://registry.example.com/charts' } }];
  const release = (version: string, name: string) => ({ chart: { spec: { chart: 'web', version, sourceRef: { name } } } });
  const rows = [
    [{ source: { repoURL: 'registry.example.com/charts', chart: 'web', targetRevision: '1.0.0+b.1' } }, 'charts/web:1.0.0_b.1'],
    [{ source: { repoURL: 'oci://registry.example.com/charts/web', targetRevision: '1.0.0' } }, 'charts/web:1.0.0'],
    [{ url: 'oci://registry.example.com/charts/web', ref: { tag: '1.0.0', digest } }, `charts/web:1.0.0@${digest}`],
    [release('1.0.0', 'shop'), 'charts/web:1.0.0'],
    [release('1.x', 'shop'), undefined],
    [release('1.0.0', 'gone'), undefined],
  ] as const;
  for (const [spec, expected] of rows) {
    const { containers } = asWorkload('Any', { metadata: { name: 'web', uid: 'w' }, spec }, repositories).spec.template.spec;
    assert.deepEqual(
      containers.map(({ image }) => image),
      expected === undefined ? [] : [`registry.example.com/${expected}`],
    );
  }
});

test('a suspended policy has the reason Suspended, whatever other reason is known', () => {
  assert.deepEqual(truthOf(policy({ suspend: true }), [], { ...known, why: ['Held'] }).why, ['Suspended']);
  assert.deepEqual(truthOf(policy(), [], { ...known, why: ['Held'] }).why, ['Held']);
});
