/** Follows objects of the API server by watches, so that no state of theirs is missed. Resource versions of one API server are in one order. */
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import type { ControlPlane } from '../harness/control-plane.ts';

interface Observed {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

interface Deployment extends Observed {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
}

interface Policy extends Observed {
  readonly status?: BaseStatus;
}

/** A Deployment that runs another image than before, or is new. */
export interface Change {
  readonly version: number;
  readonly name: string;
  readonly image: string;
}

/** A status that a policy had. */
export interface Said {
  readonly version: number;
  readonly name: string;
  readonly status: BaseStatus;
}

/** Records what Deployments run and what BaseImagePolicies say in a namespace, from now on. */
export async function observe(cluster: ControlPlane, namespace: string) {
  const seen = { changes: [] as Change[], said: [] as Said[], errors: [] as unknown[], stop: () => {} };
  const running = new Map<string, string>();
  const stops = [
    await follow(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments`, seen.errors, (object) => {
      const { metadata, spec } = object as Deployment;
      const image = spec.template.spec.containers[0]?.image ?? '';
      if (running.get(metadata.name) === image) return;
      running.set(metadata.name, image);
      seen.changes.push({ version: Number(metadata.resourceVersion), name: metadata.name, image });
    }),
    await follow(cluster, `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`, seen.errors, (object) => {
      const { metadata, status = {} } = object as Policy;
      seen.said.push({ version: Number(metadata.resourceVersion), name: metadata.name, status });
    }),
  ];
  seen.stop = () => {
    for (const stop of stops) stop();
  };
  return seen;
}

async function follow(
  { server, caPem, token, request: ask }: ControlPlane,
  path: string,
  errors: unknown[],
  onObject: (object: unknown) => void,
): Promise<() => void> {
  const { items, metadata } = await ask<{ items: unknown[]; metadata: { resourceVersion: string } }>('GET', path);
  for (const item of items) onObject(item);
  let isStopped = false;
  const onError = (error: unknown) => {
    if (!isStopped) errors.push(error);
  };
  const url = new URL(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, server);
  const agent = new Agent({ ca: caPem, keepAlive: false });
  const call = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    const lines = createInterface(response);
    lines.on('error', onError);
    lines.on('line', (line) => {
      const event = JSON.parse(line) as { type: string; object: unknown };
      if (event.type === 'ERROR') errors.push(event.object);
      else onObject(event.object);
    });
  });
  call.on('error', onError).end();
  return () => {
    isStopped = true;
    call.destroy();
  };
}
