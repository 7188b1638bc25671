/** Reads the proxies for outgoing requests from the configuration and the environment. Pure. */

/** A forward proxy. */
export interface Proxy {
  /** The URL with user and password, which is never shown. */
  readonly url: string;
  /** The name of the proxy for messages: `http://proxy.example.com:3128 (HTTPS_PROXY)`. */
  readonly name: string;
}

/** The proxies in the environment: `http` for URLs that begin with http:, `https` for those with https:. */
export interface EnvironmentProxies {
  readonly http?: Proxy | undefined;
  readonly https?: Proxy | undefined;
  /** The hosts that are reached without a proxy: `.svc,10.0.0.0/8`. */
  readonly noProxy: string;
}

/** All proxies. `registries` has those of `registries[].proxy` by `registries[].host`, in its written form. */
export interface Proxies extends EnvironmentProxies {
  readonly registries: ReadonlyMap<string, RegistryProxy>;
}

/** The proxy of one registry. With `none`, the environment is ignored. */
export type RegistryProxy = Proxy | 'none';

/** Settings without any proxy. */
export const noProxies: Proxies = { noProxy: '', registries: new Map() };

/**
 * Reads the URL of a proxy; without a scheme it is http:, as in curl. `source`: the setting with the URL. A problem does not quote the text, which may contain
 * a password.
 */
export function parseProxy(text: string, source: string): Proxy | { readonly problem: string } {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '') return { problem: 'is not the URL of a proxy, such as http://proxy.example.com:3128' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { problem: `is a proxy of the kind ${url.protocol}, but only those with http: or https: are supported` };
  if (!isDecodable(url.username) || !isDecodable(url.password))
    return { problem: 'has a user or password with a % that begins no escape: write %25 for it' };
  return { url: url.href, name: `${url.origin} (${source})` };
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}
