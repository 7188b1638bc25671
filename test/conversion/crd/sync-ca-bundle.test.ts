import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { crdName } from '../../../src/service/resources/group.ts';
import { makeAuthority } from '../../../src/conversion/certificates/make-certificate.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { isKubeError } from '../../../src/service/kube/kube-error.ts';
import { syncCaBundle } from '../../../src/conversion/crd/sync-ca-bundle.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type ControlPlane, borrowControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';

const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const address = { service: { namespace: 'ops', name: 'conversion' }, hosts: ['conversion.ops.svc', '127.0.0.1', '::1'] };
const encode = (pem: string) => Buffer.from(pem).toString('base64');

describe('the caBundle of the CustomResourceDefinition', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  let bundles: string[] = [];
  before(async () => {
    cluster = await borrowControlPlane();
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
    bundles = await Promise.all([1, 2, 3].map(async () => (await makeAuthority(new Date())).certificate));
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const sync = (caBundle: string, by = client) => syncCaBundle(by, { name: crdName, address, caBundle });
  const readCrd = () => cluster.request('GET', path);
  const readClientConfig = async () => (await readCrd()).spec.conversion.webhook?.clientConfig;
  const webhook = (clientConfig: object) => ({ strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } });
  const setConversion = (conversion: object) =>
    cluster.request('PATCH', path, [{ op: 'add', path: '/spec/conversion', value: conversion }], 'application/json-patch+json');

  it('is absent before there is a CustomResourceDefinition', async () => assert.equal(await sync(bundles[0] ?? ''), 'absent'));

  describe('once it is there', () => {
    before(async () => {
      await cluster.request('POST', path.slice(0, path.lastIndexOf('/')), customResourceDefinition());
      // Until then its status is written by others.
      await waitFor('it to be established', async () => {
        const { conditions = [] } = (await readCrd()).status as { conditions?: { type: string; status: string }[] };
        return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
      });
    });
    beforeEach(() => setConversion({ strategy: 'None' }));

    it('is left unchanged without a webhook, because the conversion is not switched automatically', async () => {
      const before = await readCrd();
      assert.equal(await sync(bundles[0] ?? ''), 'not ours');
      assert.deepEqual((await readCrd()).spec, before.spec);
    });

    for (const [name, clientConfig] of [
      ['another name', { service: { namespace: 'ops', name: 'other', path: '/convert' } }],
      ['another namespace', { service: { namespace: 'shop', name: 'conversion', path: '/convert' } }],
      ['another host', { url: 'https://127.0.0.2:9443/convert' }],
      ['a host that only begins like ours', { url: 'https://conversion.ops.svc.example.com/convert' }],
    ] as const) {
      it(`is left unchanged when the webhook points to ${name}`, async () => {
        await setConversion(webhook({ ...clientConfig, caBundle: encode(bundles[0] ?? '') }));
        assert.equal(await sync(bundles[1] ?? ''), 'not ours');
        assert.equal((await readClientConfig()).caBundle, encode(bundles[0] ?? ''));
      });
    }

    for (const [name, clientConfig] of [
      ['our Service', { service: { namespace: 'ops', name: 'conversion', path: '/convert', port: 8443 } }],
      ['a URL with a name of ours', { url: 'https://conversion.ops.svc:9443/convert' }],
      ['a URL with an address of ours', { url: 'https://127.0.0.1:9443/convert' }],
      ['a URL with an IPv6 address of ours', { url: 'https://[::1]:9443/convert' }],
    ] as const) {
      it(`is kept in sync for ${name}, and written only when it differs`, async () => {
        await setConversion(webhook(clientConfig));
        const others = JSON.stringify((await readCrd()).spec.versions);
        for (const bundle of [bundles[0] ?? '', bundles.join('')]) {
          assert.equal(await sync(bundle), 'updated');
          assert.deepEqual(await readClientConfig(), { ...clientConfig, caBundle: encode(bundle) });
          const { resourceVersion } = (await readCrd()).metadata;
          assert.equal(await sync(bundle), 'unchanged');
          assert.equal((await readCrd()).metadata.resourceVersion, resourceVersion);
        }
        assert.equal(JSON.stringify((await readCrd()).spec.versions), others);
      });
    }

    it('is left unchanged when cert-manager writes it', async () => {
      const annotate = (value: string | null) =>
        cluster.request('PATCH', path, { metadata: { annotations: { 'cert-manager.io/inject-ca-from': value } } });
      await setConversion(webhook({ url: 'https://127.0.0.1:9443/convert' }));
      await annotate('ops/conversion');
      assert.equal(await sync(bundles[0] ?? ''), 'not ours');
      await annotate(null);
      assert.equal(await sync(bundles[0] ?? ''), 'updated');
    });

    it('is right in the end when replicas write simultaneously and somebody else edits', async () => {
      await setConversion(webhook({ url: 'https://127.0.0.1:9443/convert' }));
      const label = (value: string) => cluster.request('PATCH', path, { metadata: { labels: { value } } });
      await Promise.all([
        sync(bundles[2] ?? ''),
        sync(bundles[2] ?? ''),
        label('a'),
        sync(bundles[2] ?? ''),
        label('b'),
        sync(bundles[2] ?? ''),
      ]);
      assert.equal((await readClientConfig()).caBundle, encode(bundles[2] ?? ''));
      assert.ok((await readCrd()).metadata.labels.value);
    });

    it('needs get and patch on this one object, and the error names what is missing', async () => {
      await setConversion(webhook({ url: 'https://127.0.0.1:9443/convert' }));
      const namespace = await cluster.namespace();
      const tryWith = async (verbs: string[]) => {
        const rule = { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], resourceNames: [crdName], verbs };
        const limited = await openKubeClient({
          kubeconfig: await kubeconfigWithRules(cluster, namespace, verbs.join('-'), [rule]),
          requestTimeoutMs: 60_000,
        });
        try {
          return await sync(bundles[0] ?? '', limited);
        } finally {
          await limited.close();
        }
      };
      const isForbidden = (verb: string) => (error: unknown) =>
        isKubeError(error, 403) && error.message.includes(`cannot ${verb} resource`);
      await assert.rejects(tryWith(['list']), isForbidden('get'));
      await assert.rejects(tryWith(['get']), isForbidden('patch'));
      assert.equal(await tryWith(['get', 'patch']), 'updated');
    });
  });
});
