/** An application and its sidecar in one Deployment, and everything that both containers run over time. */
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import type { ControlPlane } from '../harness/control-plane.ts';
import { pushImage } from '../harness/push-image.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { waitFor } from '../harness/wait-for.ts';
import { harborBody, type Deployment, type World } from './world.ts';

/** The repositories of an application. */
export const partsOf = (name: string) => ({ own: `shop/${name}`, sidecar: `shop/${name}-proxy` });
export type Part = keyof ReturnType<typeof partsOf>;

/** Pushes one of the two without an announcement; returns its digest. */
export async function pushPart({ quiet: { host } }: World, name: string, part: Part, tag: string): Promise<string> {
  const { digest } = await pushImage({ host, repository: partsOf(name)[part], tag, content: `${name} ${part} ${tag}` });
  return digest;
}

/** A Deployment that runs both in version 1.0.0, and a policy that changes both together. */
export async function createPair(world: World, name: string, spec: Partial<Spec> = {}): Promise<void> {
  const { host } = world.quiet;
  const { own, sidecar } = partsOf(name);
  for (const part of ['own', 'sidecar'] as const) await pushPart(world, name, part, '1.0.0');
  await world.createDeployment(name, `${host}/${own}:1.0.0`, `${host}/${sidecar}:1.0.0`, `${host}/shop/other:1`);
  const alongside = { images: [{ image: `${host}/${sidecar}` }] };
  await world.createPolicy(name, `${host}/${own}`, { strategy: 'SemVer' }, { alongside, ...spec });
  await world.waitForFirstLook(name);
}

/** What the registry announces of a push. */
export function bodyOf(
  { quiet: { host } }: World,
  name: string,
  part: Part,
  push: { readonly tag: string; readonly digest: string },
): string {
  return harborBody(host, partsOf(name)[part], [push]);
}

/** Waits until both containers run the tag. */
export function waitForBoth(world: World, name: string, tag: string): Promise<Deployment> {
  return waitFor(`Deployment ${name} to run ${tag} in both containers`, async () => {
    const deployment = await world.readDeployment(name);
    return tagsOf(deployment).every((one) => one === tag) && deployment;
  });
}

/** The tags of both containers. */
export function tagsOf({ spec }: Pick<Deployment, 'spec'>): string[] {
  return spec.template.spec.containers.slice(0, 2).map(({ image }) => image.slice(image.lastIndexOf(':') + 1));
}

/** Follows a Deployment from now on by a watch, so that no state is missed: the tags of both containers, by generation. */
export async function watchPair({ server, caPem, token, request: ask }: ControlPlane, path: string) {
  const first = await ask<Deployment & { metadata: { resourceVersion: string } }>('GET', path);
  const seen = { tags: new Map([[first.metadata.generation, tagsOf(first)]]), error: undefined as unknown, stop: () => {} };
  const [list, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  let isStopped = false;
  const onError = (error: unknown) => {
    if (!isStopped) seen.error ??= error;
  };
  const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=${first.metadata.resourceVersion}`;
  const agent = new Agent({ ca: caPem, keepAlive: false });
  const call = request(new URL(`${list}?${query}`, server), { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    const lines = createInterface(response);
    lines.on('error', onError);
    lines.on('line', (line) => {
      const event = JSON.parse(line) as { type: string; object: Deployment };
      if (event.type === 'ERROR') seen.error = event.object;
      else seen.tags.set(event.object.metadata.generation, tagsOf(event.object));
    });
  });
  call.on('error', onError).end();
  seen.stop = () => {
    isStopped = true;
    call.destroy();
  };
  return seen;
}
