/** The KubeClient of one process: what `src/service/kube/client.ts` promises, over the simulated network to the simulated API server. */
import type { KubeClient, KubeRequest } from '../../src/service/kube/client.ts';
import { kubeErrorFromStatus } from '../../src/service/kube/kube-error.ts';
import { isMetadataOnly, partial, placeOf, type ApiServer, type LoggedEvent } from './api-server.ts';
import type { Clock } from './clock.ts';
import type { Network } from './network.ts';
import type { Process } from './process.ts';

/** The open watches of a process, for faults. */
export interface Watches {
  /** Nothing comes through the watches that are open now; they break after this time. */
  silence(resource: string, forMs: number): void;
  breakAll(): void;
}

interface OpenWatch {
  readonly resource: string;
  isSilent: boolean;
  readonly fail: (error: Error) => void;
}

const requestTimeoutMs = 10_000;
const bookmarkMs = 60_000;

export function connectToApi(
  process: Process,
  { clock, network, server }: { readonly clock: Clock; readonly network: Network; readonly server: ApiServer },
): {
  readonly client: KubeClient;
  readonly watches: Watches;
} {
  const open = new Set<OpenWatch>();
  const request = async <T>(asked: KubeRequest): Promise<T> => {
    const { resource, subresource, name } = placeOf(asked.path);
    const [what = ''] = resource.split('/').slice(-1);
    const verb = asked.method === 'GET' && name === undefined ? 'LIST' : asked.method;
    let date = '';
    const answer = await network.send({
      server: 'api',
      what: `${verb} ${subresource ?? what}`,
      serve: (sentAt) => {
        date = new Date(clock.now()).toUTCString();
        return server.handle(asked, { process: process.name, version: process.version, sentAt }) as T;
      },
      refuse: (kind) => refuse(asked, kind),
      timeoutMs: asked.timeoutMs ?? requestTimeoutMs,
      signal: asked.signal,
    });
    asked.onDate?.(date);
    return answer;
  };

  async function* streamLines({ path, query = {}, signal, accept = '', onOpen, timeoutMs }: Parameters<KubeClient['streamLines']>[0]) {
    const place = placeOf(path);
    const lines: string[] = [];
    let failure: Error | undefined;
    let isOver = false;
    const goesOn = () => !isOver;
    let wake = () => {};
    let lastAt = 0;
    const finish = () => {
      isOver = true;
      wake();
    };
    const watch: OpenWatch = {
      resource: place.resource,
      isSilent: false,
      fail(error) {
        failure = error;
        finish();
      },
    };
    /** Lines arrive in order. */
    const deliver = (line: () => string) => {
      if (isOver || process.isDead) return;
      lastAt = Math.max(lastAt, clock.now() + network.delayTo(process, place.resource));
      clock.schedule(process, lastAt - clock.now(), () => {
        if (watch.isSilent || isOver) return;
        lines.push(line());
        wake();
      });
    };
    const show = ({ type, object }: LoggedEvent) =>
      deliver(() => JSON.stringify({ type, object: isMetadataOnly(accept) ? partial(object) : object }));
    const bookmark = () => {
      if (isOver || process.isDead) return;
      const version = server.version();
      deliver(() => JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Bookmark', metadata: { resourceVersion: String(version) } } }));
      clock.schedule(undefined, bookmarkMs, bookmark);
    };
    signal?.addEventListener('abort', finish, { once: true });
    if (timeoutMs !== undefined) clock.schedule(process, timeoutMs, finish);
    clock.schedule(process, Number(query['timeoutSeconds'] ?? 300) * 1_000, finish);
    const started = await network.send({
      server: 'api',
      what: `WATCH ${place.resource}`,
      serve: () => {
        const found = server.watch(place, Number(query['resourceVersion'] ?? 0), show);
        if (found === undefined)
          throw kubeErrorFromStatus(`GET ${path}`, { code: 410, reason: 'Expired', message: 'too old resource version' });
        for (const event of found.missed) show(event);
        clock.schedule(undefined, bookmarkMs, bookmark);
        return found;
      },
      refuse: (kind) => refuse({ method: 'GET', path }, kind),
      timeoutMs: requestTimeoutMs,
      signal,
    });
    open.add(watch);
    try {
      onOpen?.();
      while (goesOn()) {
        const line = lines.shift();
        if (line !== undefined) yield line;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      if (failure !== undefined && signal?.aborted !== true) throw failure;
    } finally {
      isOver = true;
      started.stop();
      open.delete(watch);
      signal?.removeEventListener('abort', finish);
    }
  }

  return {
    client: { request, streamLines, close: () => Promise.resolve() },
    watches: {
      silence(resource, forMs) {
        for (const watch of open) {
          if (watch.resource !== resource) continue;
          watch.isSilent = true;
          clock.schedule(process, forMs, () => watch.fail(new Error(`watch ${resource}: the connection broke`)));
        }
      },
      breakAll() {
        for (const watch of open) watch.fail(new Error(`watch ${watch.resource}: the connection broke`));
      },
    },
  };
}

function refuse({ method, path }: Pick<KubeRequest, 'method' | 'path'>, kind: 'refused' | 'throttled'): never {
  if (kind === 'refused') throw kubeErrorFromStatus(`${method} ${path}`, { code: 500, reason: 'InternalError', message: 'simulated' });
  throw kubeErrorFromStatus(`${method} ${path}`, { code: 429, reason: 'TooManyRequests', message: 'simulated' }, 1_000);
}
