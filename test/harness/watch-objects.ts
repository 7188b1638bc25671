/** Follows objects by a watch of its own, so that no state of them is missed. */
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import type { ControlPlane } from './control-plane.ts';

/** A watch of the objects of a list. */
export interface ObjectWatch<T> {
  /** The objects as they were when the watch began. */
  readonly items: readonly T[];
  /** What ended the watch before `stop`; undefined while it runs. Nobody may trust what it saw without having looked here. */
  readonly error: unknown;
  stop(): void;
}

/** Lists the objects at a path, and passes each later state of them on, in order. */
export async function watchObjects<T>(
  { server, caPem, token, request: ask }: ControlPlane,
  path: string,
  onChange: (object: T) => void,
): Promise<ObjectWatch<T>> {
  const { items, metadata } = await ask<{ items: T[]; metadata: { resourceVersion: string } }>('GET', path);
  const watch = { items, error: undefined as unknown, stop: () => {} };
  let isStopped = false;
  const onError = (error: unknown) => {
    if (!isStopped) watch.error ??= error;
  };
  const url = new URL(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, server);
  const agent = new Agent({ ca: caPem, keepAlive: false });
  const call = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    const lines = createInterface(response);
    lines.on('error', onError);
    lines.on('close', () => onError(new Error(`the watch of ${path} has ended`)));
    lines.on('line', (line) => {
      const event = JSON.parse(line) as { type: string; object: T };
      if (event.type === 'ERROR') onError(event.object);
      else onChange(event.object);
    });
  });
  call.on('error', onError).end();
  watch.stop = () => {
    isStopped = true;
    call.destroy();
  };
  return watch;
}
