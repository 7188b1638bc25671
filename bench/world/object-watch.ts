/** A watch in this process that notes when each object was first seen in a state, so that nothing has to be asked for. */
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { ControlPlane } from '../../test/harness/control-plane.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

export interface ObjectWatch {
  /** When (performance.now()) the object of this name was seen in this state; resolves at once if that is past. Rejects after a minute. */
  seen(name: string, state: string): Promise<number>;
  stop(): Promise<void>;
}

/** As much as anybody looks at: of a Deployment its images, of a policy its status. */
export interface Watched {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
  readonly status?: { readonly lastAppliedTag?: string; readonly observedGeneration?: number };
}

const patienceMs = 60_000;

/** Watches a collection from now on; `stateOf` says what counts of an object. */
export async function watchObjects(
  { server, token, caPem, request }: ControlPlane,
  path: string,
  stateOf: (object: Watched) => string | undefined,
): Promise<ObjectWatch> {
  const times = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  let resourceVersion = '';
  let isStopped = false;
  let stop = () => {};

  const take = (object: Watched, at: number) => {
    const key = `${object.metadata.name} ${stateOf(object)}`;
    if (times.has(key)) return;
    times.set(key, at);
    waiting.get(key)?.(at);
    waiting.delete(key);
  };
  const list = async () => {
    const { metadata, items } = await request<{ metadata: { resourceVersion: string }; items: Watched[] }>('GET', path);
    ({ resourceVersion } = metadata);
    for (const object of items) take(object, performance.now());
  };
  const again = (what: string, step: () => Promise<void>) =>
    waitFor(`${what} ${path}`, async () => {
      if (!isStopped) await step();
      return true;
    });
  const read = (line: string, at: number) => {
    const { type, object } = JSON.parse(line) as { type: string; object: Watched };
    // Whatever is wrong: what there is now tells what was missed.
    if (type === 'ERROR') return void again('listing', list);
    ({ resourceVersion } = object.metadata);
    take(object, at);
  };
  const open = async (): Promise<IncomingMessage> => {
    const url = new URL(`${path}?watch=true&resourceVersion=${resourceVersion}`, server);
    const call = httpsRequest(url, { ca: caPem, headers: { authorization: `Bearer ${token}` } });
    stop = () => void call.destroy();
    const answered = once(call, 'response');
    call.end();
    const [response] = (await answered) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`watching ${path}: ${response.statusCode}`);
    // What cuts it off is told by its end.
    call.on('error', () => undefined);
    return response.setEncoding('utf8');
  };
  const follow = (response: IncomingMessage) => {
    let rest = '';
    response.on('data', (chunk: string) => {
      const at = performance.now();
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) read(line, at);
    });
    response.on('error', () => undefined);
    // The API server closes watches that do not keep up.
    response.once('close', () => {
      if (!isStopped) void again('watching', async () => follow(await open()));
    });
  };
  await list();
  follow(await open());

  return {
    seen(name, state) {
      const key = `${name} ${state}`;
      const at = times.get(key);
      if (at !== undefined) return Promise.resolve(at);
      return new Promise((resolve, reject) => {
        const late = () => reject(new Error(`${path}/${name} was not seen as ${state} within ${patienceMs} ms`));
        const timer = setTimeout(late, patienceMs);
        waiting.set(key, (at) => {
          clearTimeout(timer);
          resolve(at);
        });
      });
    },
    stop() {
      isStopped = true;
      stop();
      return Promise.resolve();
    },
  };
}
