/** Opens connections through a proxy if one applies. */
import { type Agent, type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ProxyFailure } from '../../core/model/connection-failure.ts';
import { defined } from '../../core/model/defined.ts';
import type { Proxy } from '../../core/model/proxy.ts';
import type { RouteTo } from './route.ts';

export interface ProxiedOptions {
  /** The connections to hosts that need no proxy. */
  readonly direct: Dispatcher;
  readonly routeTo: RouteTo;
  /** The timeout of connecting, in ms: to the proxy, from there to the host, and for the TLS handshake with the host. */
  readonly timeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAlive?: Pick<Agent.Options, 'keepAliveTimeout' | 'keepAliveMaxTimeout'>;
  /** The authorities with which hosts behind a proxy are verified; those of Node unless given. */
  readonly ca?: string[] | undefined;
}

/** A dispatcher for undici, and the function that closes its connections after the last running request. */
export interface Proxied {
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

/**
 * Opens the connections. https is tunnelled (CONNECT), so the proxy sees only host and port; plain http is forwarded. The proxy resolves the names of hosts
 * behind it. A proxy that cannot be reached or that refuses is a ProxyFailure.
 */
export function openProxied({ direct, routeTo, timeoutMs, keepAlive = {}, ca }: ProxiedOptions): Proxied {
  // The agents by proxy. There are few, because the configuration names the proxies.
  const agents = new Map<Proxy, ProxyAgent>();
  const agentOf = (proxy: Proxy): ProxyAgent => {
    const known = agents.get(proxy);
    if (known !== undefined) return known;
    const agent = new ProxyAgent({
      ...keepAlive,
      uri: proxy.url,
      connectTimeout: timeoutMs,
      proxyTls: { allowH2: false, timeout: timeoutMs },
      // HTTP/1.1 is used, because HTTP/2 gains nothing for a few requests at a time, and many registries are behind old proxies.
      requestTls: { allowH2: false, timeout: timeoutMs, ...defined({ ca }) },
      clientFactory: (origin, options) => new Tunnels(origin, proxy, { ...options, headersTimeout: timeoutMs }),
      factory: (origin, options) => new Pool(origin, isProxy(origin, proxy) ? naming(proxy, options) : options),
    });
    agents.set(proxy, agent);
    return agent;
  };
  const dispatcher = direct.compose((dispatch) => (options, handler) => {
    const { proxy } = routeTo(new URL(options.origin ?? ''));
    return proxy === undefined
      ? dispatch(options, handler)
      : agentOf(proxy).dispatch({ ...options, origin: options.origin ?? '' }, handler);
  });
  return {
    dispatcher,
    async close() {
      await Promise.all([direct, ...agents.values()].map((agent) => agent.close()));
    },
  };
}

/** The connections to a proxy that become tunnels. */
class Tunnels extends Pool {
  readonly #proxy: Proxy;

  constructor(origin: URL, proxy: Proxy, options: Pool.Options) {
    super(origin, options);
    this.#proxy = proxy;
  }

  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(options: Dispatcher.ConnectOptions, callback: (error: Error | null, data: Dispatcher.ConnectData) => void): void;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback?: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): Promise<Dispatcher.ConnectData> | void {
    return callback === undefined ? this.#open(options) : super.connect(options, callback);
  }

  async #open(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    const { name } = this.#proxy;
    let answer: Dispatcher.ConnectData;
    try {
      answer = await super.connect(options);
    } catch (cause) {
      throw new ProxyFailure(name, { cause });
    }
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(name, { status: answer.statusCode, target: options.path });
  }
}

function isProxy(origin: string | URL, { url }: Proxy): boolean {
  return new URL(origin).origin === new URL(url).origin;
}

/** The options of a pool whose connection errors name the proxy. */
function naming({ name }: Proxy, options: Pool.Options): Pool.Options {
  const { connect } = options;
  if (typeof connect !== 'function') return options;
  const open: buildConnector.connector = (target, callback) =>
    connect(target, (...result) =>
      result[0] === null ? callback(...result) : callback(new ProxyFailure(name, { cause: result[0] }), null),
    );
  return { ...options, connect: open };
}
