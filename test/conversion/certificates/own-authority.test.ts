import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { neededRenewal, type Material, type Renewal } from '../../../src/conversion/certificates/material.ts';
import { ensureMaterial } from '../../../src/conversion/certificates/own-authority.ts';
import { agreeOnSecret } from '../../../src/service/kube/secrets.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { isKubeError } from '../../../src/service/kube/kube-error.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';

const start = new Date('2026-11-20T12:00:00Z');
const daysAfterStart = (days: number) => new Date(start.getTime() + days * 86_400_000);
const names = ['image-watcher-conversion.ops.svc'];

describe('our own authority in a Secret of a real API server', () => {
  let cluster: ControlPlane;
  let clients: KubeClient[] = [];
  let namespace = '';
  before(async () => {
    cluster = await borrowControlPlane();
    namespace = await cluster.namespace();
    const access = { kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 };
    clients = await Promise.all(Array.from({ length: 6 }, () => openKubeClient(access)));
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await cluster.stop();
  });

  const secretPath = (name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const ensure = (client: KubeClient, name: string, now: Date, renewals: Renewal[] = []): Promise<Material> =>
    ensureMaterial(
      {
        names,
        now: () => now,
        agree: (update, signal) => agreeOnSecret(client, { namespace, name, type: 'kubernetes.io/tls' }, update, signal),
        onRenewed: (renewal) => renewals.push(renewal),
      },
      new AbortController().signal,
    );
  const all = async (name: string, now: Date) => {
    const renewals: Renewal[] = [];
    const materials = await Promise.all(clients.map((client) => ensure(client, name, now, renewals)));
    for (const material of materials) assert.deepEqual(material, materials[0]);
    const [first] = materials;
    assert.ok(first);
    return { material: first, renewals };
  };

  it('is created once, however many replicas start at the same moment', async () => {
    const { material, renewals } = await all('once', start);
    assert.deepEqual(renewals, [{ authority: 'there is none', certificate: 'there is none' }]);
    assert.deepEqual(neededRenewal(material, { names, now: start }), {});
    const { type, data } = await cluster.request('GET', secretPath('once'));
    assert.equal(type, 'kubernetes.io/tls');
    assert.deepEqual(Object.keys(data).sort(), ['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    assert.deepEqual((await all('once', daysAfterStart(30))).renewals, []);
  });

  it('is renewed once, however many replicas check at the same moment', async () => {
    const beforeRenewal = await all('renewed', start);
    const afterRenewal = await all('renewed', daysAfterStart(61));
    assert.deepEqual(afterRenewal.renewals, [{ certificate: 'two thirds of its lifetime have passed' }]);
    assert.equal(afterRenewal.material.authorities, beforeRenewal.material.authorities);
    assert.notEqual(afterRenewal.material.certificate, beforeRenewal.material.certificate);
  });

  it('fills a Secret that a chart has created empty, and leaves the rest of it unchanged', async () => {
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'laid-out', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
      stringData: { note: 'hello', 'tls.crt': 'garbage' },
    });
    await all('laid-out', start);
    const { metadata, data } = await cluster.request('GET', secretPath('laid-out'));
    assert.equal(metadata.labels['app.kubernetes.io/managed-by'], 'Helm');
    assert.equal(Buffer.from(data.note, 'base64').toString(), 'hello');
  });

  it('is created again when somebody deletes the Secret', async () => {
    const { material } = await all('deleted', start);
    await cluster.request('DELETE', secretPath('deleted'));
    const { material: recreated } = await all('deleted', start);
    assert.notEqual(recreated.authorityKey, material.authorityKey);
  });

  it('needs get, create and patch, and names the permission that is missing', async () => {
    const rule = (verbs: string[]) => ({ apiGroups: [''], resources: ['secrets'], verbs });
    const tryWith = async (name: string, verbs: string[], now = start) => {
      const account = `${name}-${verbs.join('-')}-${String(now.getTime())}`;
      const client = await openKubeClient({
        kubeconfig: await kubeconfigWithRules(cluster, namespace, account, [rule(verbs)]),
        requestTimeoutMs: 60_000,
      });
      try {
        return await ensure(client, name, now);
      } finally {
        await client.close();
      }
    };
    const isForbidden = (verb: string) => (error: unknown) =>
      isKubeError(error, 403) && error.message.includes(`cannot ${verb} resource "secrets"`);
    await assert.rejects(tryWith('guarded', ['create']), isForbidden('get'));
    await assert.rejects(tryWith('guarded', ['get']), isForbidden('create'));
    await tryWith('guarded', ['get', 'create']);
    await assert.rejects(tryWith('guarded', ['get'], daysAfterStart(61)), isForbidden('patch'));
    await tryWith('guarded', ['get', 'patch'], daysAfterStart(61));
  });
});
