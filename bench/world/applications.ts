/** Deployments that run 1.0.0 of a repository each, and what it takes to push their next versions. */
import { pushImage } from '../../test/harness/push-image.ts';
import { inParallel } from '../../src/core/async/in-parallel.ts';
import type { BenchWorld } from './world.ts';

/** `web-3` in its namespace, with a repository of its own. */
export interface Application {
  readonly name: string;
  /** `harbor.example.com:5000/bench/web-3`. */
  readonly image: string;
  readonly repository: string;
}

export interface ApplicationOptions {
  readonly count: number;
  /** All of them with the same repository. */
  readonly shared?: boolean;
}

export const deploymentsIn = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;
export const policiesIn = (namespace: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`;

/** Creates them, with version 1.0.0 in the registry. */
export async function createApplications(
  world: BenchWorld,
  namespace: string,
  { count, shared = false }: ApplicationOptions,
): Promise<Application[]> {
  const { host } = world.registry;
  const applications = Array.from({ length: count }, (_, index): Application => {
    const repository = `${namespace}/web-${shared ? 0 : index}`;
    return { name: `web-${index}`, image: `${host}/${repository}`, repository };
  });
  await each(applications, async ({ name, image, repository }) => {
    if (!shared || name === 'web-0') await pushImage({ host, repository, tag: '1.0.0' });
    await world.cluster.request('POST', deploymentsIn(namespace), deployment(name, `${image}:1.0.0`));
  });
  return applications;
}

/** A Deployment of one container, as small as they come. */
export function deployment(name: string, image: string): object {
  const labels = { app: name };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels: { ...labels, fleet: 'web' } }, spec };
}

/** A policy for a Deployment of the same name (or all of the fleet). Nothing rolls out without controllers, so nothing is watched. */
export function policy(name: string, image: string, { wholeFleet = false, pollInterval = '24h' } = {}): object {
  const target = wholeFleet ? { kind: 'Deployment', selector: { matchLabels: { fleet: 'web' } } } : { kind: 'Deployment', name };
  const spec = {
    image,
    select: { semver: {} },
    targets: [target],
    rollout: { watch: false, maxParallel: 32 },
    poll: { interval: pollInterval },
  };
  return { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name }, spec };
}

/** Puts the image of 1.0.0 into the registry under another tag; returns its digest. */
export async function tagAgain({ registry }: BenchWorld, repository: string, tag: string): Promise<string> {
  const manifests = `http://${registry.host}/v2/${repository}/manifests`;
  const accept = 'application/vnd.oci.image.manifest.v1+json';
  const old = await fetch(`${manifests}/1.0.0`, { headers: { accept } });
  const answer = await fetch(`${manifests}/${tag}`, { method: 'PUT', headers: { 'content-type': accept }, body: await old.arrayBuffer() });
  await answer.arrayBuffer();
  const digest = answer.headers.get('docker-content-digest');
  if (!answer.ok || digest === null) throw new Error(`tagging ${repository}:${tag}: ${answer.status}`);
  return digest;
}

/** Some at a time; throws what the first of them threw. */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (const result of await inParallel(items, 16, work)) if (result.status === 'rejected') throw result.reason;
}
