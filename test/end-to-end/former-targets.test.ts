/** The admission policy of docs/upgrading.md: nobody makes a policy today that counts as one of before v1, and those of before go on. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { convertReview } from '../../src/api-versions/convert-review.ts';
import { fencesOf, pages } from '../docs/markdown.ts';
import { startControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { startConversionEndpoint, type ConversionEndpoint } from '../harness/conversion-endpoint.ts';
import { KubeRequestError } from '../harness/kube-request.ts';
import { waitFor } from '../harness/wait-for.ts';
import { conversionCluster } from './conversion-world.ts';

const annotation = 'operator.technomad.dev/v1alpha1';
const collections = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: keyof typeof collections;
}

interface Policy {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
}

describe('the admission policy against policies that count as former ones', () => {
  let cluster: ControlPlane;
  let endpoint: ConversionEndpoint;
  let world: ReturnType<typeof conversionCluster>;
  before(async () => {
    [cluster, endpoint] = await Promise.all([startControlPlane({ fsync: false }), startConversionEndpoint(convertReview)]);
    world = conversionCluster(cluster);
    await world.applyCrd(endpoint.url, 'v1', endpoint.caPem);
    // Of before, and what everybody may do without the admission policy.
    await waitFor('the former policy', () => create('v1alpha1', older('former', 'kitchen')));
    await create('v1', newer('made-up', { [annotation]: '{"targetNamespace":"kitchen"}' }));
    const page = pages.find(({ path }) => path === 'docs/upgrading.md');
    const manifests = fencesOf(page?.text ?? '').filter(({ body }) => body.includes('ValidatingAdmissionPolicy'));
    for (const document of manifests.flatMap(({ body }) => parseAllDocuments(body))) {
      const manifest = document.toJS() as Manifest;
      await cluster.request('POST', `/apis/${manifest.apiVersion}/${collections[manifest.kind]}`, manifest);
    }
    await waitFor(
      'the admission policy to be in force',
      async () => (await verdict(create('v1alpha1', older('any', 'kitchen'), true))) === 422,
    );
  });
  after(() => Promise.all([cluster.stop(), endpoint.stop()]));

  const older = (name: string, namespace: string, target: object = {}) => ({
    apiVersion: 'operator.technomad.dev/v1alpha1',
    kind: 'ImagePolicy',
    metadata: { name },
    spec: {
      repository: 'shop/web',
      tagPolicy: { strategy: 'SemVer' },
      updateTarget: { kind: 'Deployment', name: 'web', namespace, ...target },
    },
  });
  const newer = (name: string, annotations: Record<string, string> = {}) => ({
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name, annotations },
    spec: { image: 'shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web', namespace: 'kitchen' }] },
  });
  const create = (version: string, policy: object, dryRun = false) =>
    cluster.request('POST', `${world.listPath(version, 'default')}${dryRun ? '?dryRun=All' : ''}`, policy);
  const pathOf = (version: string, name: string) => `${world.listPath(version, 'default')}/${name}`;
  const annotate = (version: string, name: string, text: string | null) =>
    cluster.request('PATCH', pathOf(version, name), { metadata: { annotations: { [annotation]: text } } });
  /** The status with which the admission policy refuses something; undefined where it is done. */
  const verdict = async (asked: Promise<unknown>): Promise<number | undefined> => {
    try {
      await asked;
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeRequestError) || !error.message.includes('needs the consent of its owners')) throw error;
      return error.status;
    }
  };

  it('refuses a new v1alpha1 policy with a target in another namespace', async () => {
    assert.equal(await verdict(create('v1alpha1', older('new', 'kitchen'))), 422);
  });

  it('refuses the annotation on a new policy, and where it was not before, in either version', async () => {
    assert.equal(await verdict(create('v1', newer('new', { [annotation]: '{"targetNamespace":"kitchen"}' }))), 422);
    assert.equal(await verdict(create('v1', newer('new', { [annotation]: String.raw`{"target\u004eamespace":"kitchen"}` }))), 422);
    await create('v1', newer('plain'));
    for (const version of ['v1', 'v1alpha1']) {
      assert.equal(await verdict(annotate(version, 'plain', '{"targetNamespace":"kitchen"}')), 422, version);
      assert.equal(await verdict(annotate(version, 'former', '{"targetNamespace":"kube-system"}')), 422, version);
    }
  });

  it('refuses a replacement by v1alpha1 that leaves out what the view carries of v1', async () => {
    await create('v1', newer('carried'));
    for (const name of ['carried', 'former']) {
      const { resourceVersion } = (await cluster.request<Policy>('GET', pathOf('v1', name))).metadata;
      const replacement = { ...older(name, 'kube-system'), metadata: { name, resourceVersion } };
      assert.equal(await verdict(cluster.request('PUT', pathOf('v1alpha1', name), replacement)), 422, name);
    }
  });

  it('has no back door in the status, which it does not judge', async () => {
    await create('v1', newer('told'));
    const metadata = { annotations: { [annotation]: '{"targetNamespace":"kitchen"}' } };
    for (const version of ['v1', 'v1alpha1']) await cluster.request('PATCH', `${pathOf(version, 'told')}/status`, { metadata });
    const told = await cluster.request<Policy>('GET', pathOf('v1', 'told'));
    assert.equal(told.metadata.annotations?.[annotation], undefined);
  });

  it('takes what is in its own namespace, what asks for consent, and what else is remembered of v1alpha1', async () => {
    await create('v1alpha1', older('own', 'default'));
    await create('v1alpha1', older('daily', 'default', { kind: 'CronJob' }));
    const { metadata } = await cluster.request<Policy>('GET', pathOf('v1', 'daily'));
    assert.match(metadata.annotations?.[annotation] ?? '', /CronJob/);
    await create('v1', newer('asking'));
  });

  it('lets former policies be edited in either version, and be written anew by a migration', async () => {
    const writes: readonly [version: string, spec: object][] = [
      ['v1', { poll: { interval: '7m' } }],
      ['v1alpha1', { pollIntervalMinutes: 9 }],
      ['v1', {}],
    ];
    for (const [version, spec] of writes) {
      await cluster.request('PATCH', pathOf(version, 'former'), { spec });
      const replaced = await cluster.request<Policy>('GET', pathOf(version, 'former'));
      await cluster.request('PUT', pathOf(version, 'former'), replaced);
    }
    const { metadata } = await cluster.request<Policy>('GET', pathOf('v1', 'former'));
    assert.equal(metadata.annotations?.[annotation], '{"targetNamespace":"kitchen"}');
  });

  it('refuses to take the annotation back once it is gone', async () => {
    await annotate('v1', 'made-up', null);
    assert.equal(await verdict(annotate('v1', 'made-up', '{"targetNamespace":"kitchen"}')), 422);
  });
});
