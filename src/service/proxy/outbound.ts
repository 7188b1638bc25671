/** Requests to everything but registries and the cluster: keys of issuers, chats, CI systems, identity providers, clouds. */
import { Agent, type Dispatcher, fetch as send } from 'undici';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import type { Proxies } from '../../core/model/proxy.ts';
import { openProxied, type Proxied } from './proxied.ts';
import { createRegistryRoute, createRoutes, type RouteTo } from './route.ts';

/** How requests leave the process, through the proxies of the environment. */
export interface Outbound {
  readonly fetch: typeof fetch;
  readonly dispatcher: Dispatcher;
  /** How requests to clouds leave that are for the access to a registry: by `registries[].proxy`, if it has one. */
  dispatcherFor(registry: string): Dispatcher;
  /** How a request to a URL leaves. */
  readonly routeTo: RouteTo;
  close(): Promise<void>;
}

const connectMs = 10_000;

/** Opens nothing before the first request. */
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

/** Node's own fetch belongs to another version of undici, whose dispatchers are not the same. */
function fetchThrough(dispatcher: Dispatcher): typeof fetch {
  return ((input: string | URL, init: Parameters<typeof send>[1]) => send(input, { ...init, dispatcher })) as unknown as typeof fetch;
}
