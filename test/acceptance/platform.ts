/** A cluster with controllers, two registries and the service, for bases and the applications on them. */
import assert from 'node:assert/strict';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { runPods } from '../end-to-end/base-fleet.ts';
import { announce, deliver, harborBody, startWorld, type Service } from '../end-to-end/world.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type Application, type Base, imageOf } from './fleet.ts';
import { observe } from './observe.ts';

/** One image in an answer of the API. */
export interface Dependent {
  readonly image: string;
  readonly state: string;
  readonly base?: string;
  readonly recognizedBy?: string;
  readonly reason?: string;
  readonly message?: string;
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

const group = '/apis/operator.technomad.dev/v1';

/** Starts all of it, without anything in it. */
export async function startPlatform() {
  const world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
  const { cluster, namespace, registry, quiet } = world;
  const kubelet = runPods(cluster, namespace);
  const seen = await observe(cluster, namespace);
  const auth = { username: 'rebaser', password: 'x' };
  const stringData = { '.dockerconfigjson': JSON.stringify({ auths: { [registry.host]: auth, [quiet.host]: auth } }) };
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'operators' } });
  for (const [of, name] of Object.entries({ [namespace]: 'rebaser', operators: 'oci-registry-creds' }))
    await cluster.request('POST', `/api/v1/namespaces/${of}/secrets`, {
      metadata: { name },
      type: 'kubernetes.io/dockerconfigjson',
      stringData,
    });
  const consents = [{ policiesFrom: namespace, push: [`${registry.host}/*`] }];
  const service: Service = await world.start({ config: { consents } });
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['baseimagepolicies'], verbs: ['get', 'list'] }];
  await createAccount(cluster, { name: 'reader', namespace }, [{ namespace, rules }]);
  const authorization = `Bearer ${await tokenOf(cluster, { name: 'reader', namespace })}`;
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${service.operationsUrl}/api/v1/bases/${namespace}/${path}`, { headers: { authorization } });
    assert.equal(response.status, 200, path);
    return (await response.json()) as T;
  };
  const policies = `${group}/namespaces/${namespace}/baseimagepolicies`;
  const hostOf = (base: Base) => (base === 'java' || base === 'framework' ? registry.host : quiet.host);
  return {
    namespace,
    hosts: { announcing: registry.host, quiet: quiet.host },
    seen,
    announce: () => announce(registry, service),
    /** Delivers the push of a base in the registry that announces nothing. */
    async deliver(base: Base, tag: string): Promise<void> {
      assert.equal((await deliver(service, harborBody(quiet.host, `library/${base}`, [{ tag }]))).status, 202);
    },
    async deploy(application: Application): Promise<void> {
      const { name, base } = application;
      const labels = { app: name, base };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: imageOf(application) }] } };
      await cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
        metadata: { name, labels },
        spec: { selector: { matchLabels: { app: name } }, template },
      });
    },
    /** Kills the service, and starts it again. */
    async killService(): Promise<void> {
      await service.kill9();
      await service.restart();
    },
    /** What each Deployment runs. */
    async running(): Promise<Map<string, string>> {
      const found = await world.listDeployments();
      return new Map(found.map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0]?.image ?? '']));
    },
    /** Creates the policy of a base, which reports unless the spec says otherwise. */
    async watch(base: Base, spec: object): Promise<void> {
      await cluster.request('POST', policies, {
        apiVersion: 'operator.technomad.dev/v1',
        kind: 'BaseImagePolicy',
        metadata: { name: base },
        spec: { image: `${hostOf(base)}/library/${base}`, workloads: [{}], poll: { interval: '8h' }, ...spec },
      });
    },
    async change(base: Base, spec: object): Promise<void> {
      await cluster.request('PATCH', `${policies}/${base}`, { spec }, 'application/merge-patch+json');
    },
    waitForStatus: (base: Base, what: string, isReached: (status: BaseStatus) => boolean) =>
      waitFor(`${base}: ${what}`, async () => {
        const { status = {} } = await cluster.request<{ status?: BaseStatus }>('GET', `${policies}/${base}`);
        if (isReached(status)) return status;
        throw new Error(JSON.stringify(status, null, 1));
      }),
    /** All images that the API lists for a base, by the name of their application. */
    async dependents(base: Base): Promise<ReadonlyMap<string, Dependent>> {
      const all: Dependent[] = [];
      for (let next: string | undefined = ''; next !== undefined;) {
        const page: { dependents: Dependent[]; isComplete: boolean; next?: string } = await ask(
          `${base}/dependents?limit=20${next && `&after=${encodeURIComponent(next)}`}`,
        );
        assert.equal(page.isComplete, true);
        all.push(...page.dependents);
        next = page.next;
      }
      return new Map(all.map((one) => [one.image.split('/').at(-1)?.split(':')[0] ?? '', one]));
    },
    async stop(): Promise<void> {
      seen.stop();
      await kubelet.stop();
      await world.stop();
    },
  };
}

export const readyOf = ({ conditions = [] }: BaseStatus) => conditions.find(({ type }) => type === 'Ready');
