/** A cluster that serves both versions of ImagePolicy, set up as a user does: the role `convert`, then `image-watcher crd apply`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { group, kind } from '../../src/service/resources/group.ts';
import type { JsonObject } from '../../src/core/model/untyped.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import type { Policy } from '../service/resources/objects.ts';
import { runCrd } from '../cli/run-command.ts';
import { borrowControlPlane } from '../harness/control-plane.ts';
import { readStoredObjects } from '../harness/etcd-objects.ts';
import { startService } from '../harness/service.ts';
import { kubeconfigAsShipped } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { conversionCluster, nowhere } from './conversion-world.ts';

export type Version = 'v1' | 'v1alpha1';
export type TwoVersions = Awaited<ReturnType<typeof startTwoVersions>>;

/** The namespace of all policies; the samples of the property tests name it too. */
export const namespace = 'shop';

/** Starts the API server and the service; `storage` says in which version objects are stored. */
export async function startTwoVersions(storage: Version = 'v1') {
  const cluster = await borrowControlPlane();
  const kubeconfig = await kubeconfigAsShipped(cluster);
  const service = await startService({ redisUrl: nowhere.redisUrl, kubeconfig, roles: 'convert' });
  await conversionCluster(cluster).waitForAuthority();
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const endpoint = ['--conversion-url', service.conversionUrl, '--ca-secret', 'default/image-watcher-conversion'];
  const { code, err } = await runCrd(cluster.kubeconfigPath, 'apply', '--storage', storage, ...endpoint);
  assert.equal(code, 0, err);
  for (const version of ['v1', 'v1alpha1']) {
    await waitFor(`${version} to be served`, () => cluster.request('GET', policiesPath(namespace, version)));
  }
  const pathOf = (version: Version, name = '') => `${policiesPath(namespace, version)}${name && `/${name}`}`;
  const read = (version: Version, name: string) => cluster.request<Policy>('GET', pathOf(version, name));
  return {
    cluster,
    pathOf,
    read,
    create(version: Version, spec: JsonObject, metadata: object = {}): Promise<Policy> {
      const named = { name: `policy-${randomUUID().slice(0, 13)}`, ...metadata };
      return cluster.request('POST', pathOf(version), { apiVersion: `${group}/${version}`, kind, metadata: named, spec });
    },
    /** As `kubectl patch --type merge`. */
    patch: (version: Version, name: string, patch: object) => cluster.request<Policy>('PATCH', pathOf(version, name), patch),
    /** As `kubectl replace`. */
    replace: (version: Version, name: string, object: object) => cluster.request<Policy>('PUT', pathOf(version, name), object),
    async list(version: Version): Promise<Policy[]> {
      return (await cluster.request<{ items: Policy[] }>('GET', pathOf(version))).items;
    },
    /** The API version in which each policy is stored. */
    async storedVersions(): Promise<string[]> {
      const objects = await readStoredObjects(cluster.etcd.url, `/registry/${group}/`);
      return [...new Set(objects.map(({ value }) => value.apiVersion))];
    },
    async stop() {
      await service.stop();
      await cluster.stop();
    },
  };
}

/** The name of an object that the API server has answered. */
export function nameOf({ metadata }: Policy): string {
  return String(metadata['name']);
}
