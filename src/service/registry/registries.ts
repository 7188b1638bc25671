import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { PermanentError } from '../../core/model/errors.ts';
import { normaliseRegistry, type Repository } from '../../core/model/image-reference.ts';
import { noProxies, type Proxies, type RegistryProxy } from '../../core/model/proxy.ts';
import { openProxied, type Proxied } from '../proxy/proxied.ts';
import { createRegistryRoute, createRoutes, type Route, type RouteTo } from '../proxy/route.ts';
import { guardedLookup, isPrivateAddress } from './address-guard.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { connectVerified } from './connect-verified.ts';

/** The configured settings of one registry host. */
export interface RegistrySettings {
  host: string;
  /** Whether to use plain http, also for the registry's token server and redirects. Without it, https is never downgraded. */
  insecure: boolean;
  /** The path of a PEM file with certificate authorities that are trusted besides the public ones. */
  caFile?: string | undefined;
  requestsPerSecond?: number | undefined;
  concurrency?: number | undefined;
}

/** A registry that may get requests. */
export interface Registry {
  /** The name of the registry in policies: `docker.io`. */
  readonly name: string;
  /** The origin of the registry's API: `https://registry-1.docker.io`. */
  readonly origin: string;
  readonly insecure: boolean;
  /** The connections, which trust what this registry trusts. Its token server and redirects use them, too. */
  readonly agent: Dispatcher;
  /** The route of requests to a URL on behalf of this registry. */
  readonly routeTo: RouteTo;
}

export interface RegistriesOptions {
  registries: readonly RegistrySettings[];
  allowedRegistries: readonly string[];
  /** Further hosts that the configuration names, such as those of receivers. Their failures are shown in full. */
  namedHosts?: readonly string[] | undefined;
  /** Whether errors show how private addresses answer. Only for users who send the requests themselves. */
  showsPrivate?: boolean | undefined;
  proxies?: Proxies | undefined;
  timeoutMs: number;
  lookup?: LookupFunction | undefined;
  /** The connections of requests that use no proxy; opened as the settings say unless given. */
  connections?: Dispatcher | undefined;
}

/** The limit for cached names of registries, which tenants choose. */
const maxNames = 10_000;
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/** Finds registries: the configured ones with their settings, all others with the defaults. The constructor reads each `caFile` once. */
export class Registries {
  readonly #settings: ReadonlyMap<string, RegistrySettings>;
  readonly #allowed: ReadonlySet<string>;
  readonly #named: ReadonlySet<string>;
  readonly #own: ReadonlyMap<string, Connections>;
  readonly #others: Connections;
  readonly #showsPrivate: boolean;
  readonly #privateNames = new BoundedMap<string, boolean>(maxNames);
  #closed: Promise<unknown> | undefined;

  constructor(options: RegistriesOptions) {
    const {
      registries,
      allowedRegistries,
      namedHosts = [],
      showsPrivate = false,
      proxies = noProxies,
      timeoutMs,
      lookup,
      connections,
    } = options;
    this.#showsPrivate = showsPrivate;
    const guarded = guardedLookup(lookup, (name, addresses) => this.#privateNames.set(name, addresses.some(isPrivateAddress)));
    const byEnvironment = createRoutes(proxies);
    const open = (proxy?: RegistryProxy, settings?: RegistrySettings): Connections => {
      const routeTo = createRegistryRoute(proxy, byEnvironment);
      return { ...openConnections({ timeoutMs, lookup: guarded, routeTo, connections }, settings), routeTo };
    };
    const ofRegistries = new Map([...proxies.registries].map(([host, proxy]) => [normaliseRegistry(host), proxy]));
    const named = registries.map((settings) => [normaliseRegistry(settings.host), settings] as const);
    this.#settings = new Map(named);
    this.#allowed = new Set(allowedRegistries.map((host) => normaliseRegistry(host)));
    this.#named = new Set([...this.#settings.keys(), ...this.#allowed, ...namedHosts.map((host) => normaliseRegistry(host))]);
    this.#own = new Map(
      named
        .filter(([name, settings]) => settings.caFile !== undefined || ofRegistries.has(name))
        .map(([name, settings]) => [name, open(ofRegistries.get(name), settings)]),
    );
    this.#others = open();
  }

  /** The registry of a repository; throws PermanentError(RegistryRefused) if the configuration does not allow it. */
  find({ registry: name }: Repository): Registry {
    if (this.#allowed.size > 0 && !this.#allowed.has(name)) {
      throw new PermanentError(
        'RegistryRefused',
        `the registry ${name} is not in allowedRegistries of the configuration; add it there, or use another`,
      );
    }
    const insecure = this.#settings.get(name)?.insecure ?? false;
    const address = `${insecure ? 'http' : 'https'}://${apiHosts[name] ?? name}`;
    if (!URL.canParse(address)) throw new PermanentError('InvalidPolicy', `${name} is not the host of a registry: it is no address`);
    const { origin } = new URL(address);
    const { dispatcher: agent, routeTo } = this.#own.get(name) ?? this.#others;
    return { name, origin, insecure, agent, routeTo };
  }

  /** The route of requests to the API of a registry; undefined if the configuration does not allow it. */
  routeOf(registry: string): Route | undefined {
    try {
      const { origin, routeTo } = this.find({ registry, path: '' });
      return routeTo(new URL(origin));
    } catch (error) {
      if (error instanceof PermanentError) return undefined;
      throw error;
    }
  }

  /** The configured settings of any host, including token servers and targets of redirects. */
  settings(host: string): RegistrySettings | undefined {
    return this.#settings.get(normaliseRegistry(host));
  }

  /**
   * Whether error messages must not show how a URL of this registry answers. That is so if its host resolved to a private address, and the configuration names
   * neither the host nor the registry; never for users who send the requests themselves.
   */
  isConcealed({ hostname, host }: URL, { name }: Registry): boolean {
    if (this.#showsPrivate || [name, normaliseRegistry(host)].some((known) => this.#named.has(known))) return false;
    return isPrivateAddress(hostname) || this.#privateNames.get(hostname) === true;
  }

  /** Waits for running requests, then closes the connections. May be called twice. */
  async close(): Promise<void> {
    this.#closed ??= Promise.all([this.#others, ...this.#own.values()].map((connections) => connections.close()));
    await this.#closed;
  }
}

/** The connections on behalf of one registry, or of all registries without settings of their own. */
interface Connections extends Proxied {
  readonly routeTo: RouteTo;
}

interface ConnectionMeans {
  readonly timeoutMs: number;
  readonly lookup: LookupFunction;
  readonly routeTo: RouteTo;
  readonly connections: Dispatcher | undefined;
}

function openConnections({ timeoutMs, lookup, routeTo, connections }: ConnectionMeans, settings?: RegistrySettings): Proxied {
  // The default authorities include those of NODE_EXTRA_CA_CERTS, because a proxy that inspects TLS has an authority of its own.
  const ca =
    settings?.caFile === undefined ? {} : { ca: [...getCACertificates('default'), readCertificates(settings.host, settings.caFile)] };
  // The idle timeout is long enough for the next push to reuse the connection, and shorter than the timeouts of common load balancers.
  const keepAlive = { keepAliveTimeout: 30_000, keepAliveMaxTimeout: 50_000 };
  const direct = connections ?? new Agent({ ...keepAlive, connect: connectVerified({ lookup, timeoutMs, ...ca }) });
  return openProxied({ direct, routeTo, timeoutMs, keepAlive, ...ca });
}

function readCertificates(host: string, caFile: string): string {
  try {
    return readFileSync(caFile, 'utf8');
  } catch (error) {
    throw new Error(`reading caFile ${caFile} of the registry ${host}`, { cause: error });
  }
}
