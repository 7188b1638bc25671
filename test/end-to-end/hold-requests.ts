/** Requests that a test holds up on their way, to change something meanwhile. */
import type { KubeProxy } from '../harness/kube-proxy.ts';
import type { RegistryProxy } from '../harness/registry-proxy.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Resolves `reached` when the first of them has come; all pass on after `release`. */
export interface Held {
  readonly reached: Promise<unknown>;
  readonly release: () => void;
}

/** Holds the requests to a registry that match. */
export function holdRegistry(proxy: RegistryProxy, matches: (method: string, path: string) => boolean): Held {
  const [released, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  proxy.hold = (method, path) => {
    if (!matches(method, path)) return undefined;
    reached.resolve();
    return released.promise;
  };
  return { reached: reached.promise, release: released.resolve };
}

/** Holds the requests to the API server that match. */
export function holdKube(proxy: KubeProxy, method: string, path: RegExp): Held {
  const released = Promise.withResolvers<void>();
  const before = proxy.requests.length;
  proxy.spoil({ after: released.promise }, { method, path, times: 1_000 });
  const isReached = () => proxy.requests.slice(before).some((one) => one.startsWith(`${method} `) && path.test(one));
  const release = () => {
    proxy.heal();
    released.resolve();
  };
  return { reached: waitFor(`${method} ${path.source}`, isReached), release };
}
