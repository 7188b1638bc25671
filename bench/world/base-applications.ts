/** Bases in the registry, and Deployments whose images are built on them. */
import { randomUUID } from 'node:crypto';
import { addedDefinitions } from '../../test/harness/resource-group.ts';
import { pushReal } from '../../test/bases/rebase/build.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { deployment, deploymentsIn, each } from './applications.ts';
import type { BenchWorld } from './world.ts';

const os = (base: string) => ({ 'etc/os-release': `ID=debian VARIANT=${base}` });
const java = (base: string, version: string) => ({ 'opt/java/release': `java ${version} of ${base}` });
const config = { Env: ['PATH=/opt/java/bin:/usr/bin'], User: 'app', Entrypoint: ['java', '-jar', '/app/main.jar'] };
const platforms = ['linux/amd64'];

/** Some bases, and the room in the registry in which they and their applications are. */
export interface Bases {
  readonly room: string;
  readonly count: number;
  /** Of version 21.0.1, by name. */
  readonly digests: ReadonlyMap<string, string>;
}

export const basesIn = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;
export const baseName = (index: number) => `java-${String(index).padStart(2, '0')}`;
export const applicationName = (index: number) => `app-${String(index).padStart(4, '0')}`;

/** Creates the definitions of the resources, unless they exist. */
export async function defineBases({ cluster }: BenchWorld): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { items } = await cluster.request<{ items: { metadata: { name: string } }[] }>('GET', path);
  const known = new Set(items.map(({ metadata }) => metadata.name));
  for (const { name, object } of addedDefinitions) if (!known.has(name)) await cluster.request('POST', path, object);
  await waitFor('the resources to be served', () => cluster.request('GET', basesIn('default')));
}

/** Pushes a version of each base; returns their digests by name. */
export async function pushBases(
  { registry: { host } }: BenchWorld,
  { room, count }: Pick<Bases, 'room' | 'count'>,
  version: string,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  await each(
    Array.from({ length: count }, (_, index) => baseName(index)),
    async (name) => {
      const layers = [os(name), java(name, version)];
      digests.set(name, (await pushReal({ host, repository: `${room}/${name}`, tag: version }, { layers, config, platforms })).digest);
    },
  );
  return digests;
}

/** The annotations with which builders name the base. */
function namesOf(name: string, digest = ''): object {
  return { annotations: { 'org.opencontainers.image.base.name': name, 'org.opencontainers.image.base.digest': digest } };
}

/** Pushes `count` images, in turns on each of the bases, as version 1.0.0; of each base, every second one names it. */
export async function pushOnBases(
  { registry: { host } }: BenchWorld,
  { room, count: bases, digests }: Bases,
  count: number,
  version = '1.0.0',
): Promise<void> {
  await each(
    Array.from({ length: count }, (_, index) => index),
    (index) => {
      const base = baseName(index % bases);
      const layers = [os(base), java(base, '21.0.1'), { 'app/main.jar': `${applicationName(index)} ${version}` }];
      const named = Math.floor(index / bases) % 2 === 0 ? namesOf(`${host}/${room}/${base}`, digests.get(base)) : {};
      return pushReal({ host, repository: `${room}/${applicationName(index)}`, tag: version }, { layers, config, platforms, ...named });
    },
  );
}

/** A namespace with a Deployment for each of the first `count` images. */
export async function deployApplications({ cluster, registry }: BenchWorld, { room }: Bases, count: number): Promise<string> {
  const namespace = await cluster.namespace(`bases-${randomUUID().slice(0, 8)}`);
  await each(
    Array.from({ length: count }, (_, index) => applicationName(index)),
    (name) => cluster.request('POST', deploymentsIn(namespace), deployment(name, `${registry.host}/${room}/${name}:1.0.0`)),
  );
  return namespace;
}

interface BasePolicyOptions {
  readonly name: string;
  readonly base: string;
  /** More of the spec. */
  readonly spec?: object;
}

/** Creates a BaseImagePolicy for all Deployments of its namespace; by default it only reports. */
export async function createBasePolicy(
  { cluster, registry }: BenchWorld,
  namespace: string,
  { room, name, base, spec = {} }: BasePolicyOptions & Pick<Bases, 'room'>,
): Promise<void> {
  const policy = {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name },
    spec: { image: `${registry.host}/${room}/${base}`, select: { semver: {} }, workloads: [{ kinds: ['Deployment'] }], ...spec },
  };
  // A new definition may take a moment until it is served to everybody.
  await waitFor('the policy to be accepted', () => cluster.request('POST', basesIn(namespace), policy));
}

interface BaseState {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly images?: { readonly total: number; readonly unknown: number; readonly unrelated: number; readonly behind: number };
  };
}

/** Waits until all policies of a namespace have examined so many images, and know the base of those that have theirs. */
export async function untilExamined({ cluster }: BenchWorld, namespace: string, total: number): Promise<readonly BaseState[]> {
  return waitFor(
    'all images to be examined by all policies',
    async () => {
      const { items } = await cluster.request<{ items: BaseState[] }>('GET', basesIn(namespace));
      return items.every(({ status }) => status?.images?.total === total && status.images.unknown === 0) && items;
    },
    { timeoutMs: 600_000, intervalMs: 500 },
  );
}
