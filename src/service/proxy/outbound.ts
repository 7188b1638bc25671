/** Sends requests to everything but registries and the cluster: keys of issuers, chats, CI systems, identity providers, clouds. */
import { Agent, type Dispatcher, fetch as send } from 'undici';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import type { Proxies } from '../../core/model/proxy.ts';
import { openProxied, type Proxied } from './proxied.ts';
import { createRegistryRoute, createRoutes, type RouteTo } from './route.ts';

/** The outgoing connections of the process, through the proxies of the environment. */
export interface Outbound {
  readonly fetch: typeof fetch;
  readonly dispatcher: Dispatcher;
  /** The dispatcher for requests to clouds that give access to a registry. It uses `registries[].proxy` if the registry has one. */
  dispatcherFor(registry: string): Dispatcher;
  /** Returns the route of a request to a URL. */
  readonly routeTo: RouteTo;
  close(): Promise<void>;
}

const connectMs = 10_000;

/** Creates the outgoing connections; none is opened before the first request. */
export function openOutbound(proxies: Proxies): Outbound {
  const byEnvironment = createRoutes(proxies);
  const usual = open(byEnvironment);
  const ofRegistries = new Map(
    [...proxies.registries].map(([host, proxy]) => [normaliseRegistry(host), open(createRegistryRoute(proxy, byEnvironment))]),
  );
  return {
    fetch: fetchThrough(usual.dispatcher),
    dispatcher: usual.dispatcher,
    dispatcherFor: (registry) => (ofRegistries.get(normaliseRegistry(registry)) ?? usual).dispatcher,
    routeTo: byEnvironment,
    async close() {
      await Promise.all([usual, ...ofRegistries.values()].map((one) => one.close()));
    },
  };
}

function open(routeTo: RouteTo): Proxied {
  return openProxied({ direct: new Agent(), routeTo, timeoutMs: connectMs });
}

/** Creates a `fetch` of this version of undici. Node's own `fetch` belongs to another version, whose dispatchers are different. */
function fetchThrough(dispatcher: Dispatcher): typeof fetch {
  return ((input: string | URL, init: Parameters<typeof send>[1]) => send(input, { ...init, dispatcher })) as unknown as typeof fetch;
}
