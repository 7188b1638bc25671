/** Decides which proxy a request uses. Requests, their messages and the doctor all use this decision. */
import { BlockList, isIP } from 'node:net';
import type { EnvironmentProxies, Proxy, RegistryProxy } from '../../core/model/proxy.ts';
import { isForbiddenAddress, plainHost } from './special-addresses.ts';

/** The route of a request: through a proxy, or directly for a reason. */
export type Route = { readonly proxy: Proxy } | { readonly proxy?: undefined; readonly why: string };

export type RouteTo = (url: URL) => Route;

/**
 * Creates the routes by the environment, as curl and Go understand it: HTTPS_PROXY is for https, HTTP_PROXY for http, and NO_PROXY lists exceptions. Hosts on
 * this machine or next to it (loopback, link-local addresses, metadata servers of clouds) never use a proxy.
 */
export function createRoutes({ http, https, noProxy }: EnvironmentProxies): RouteTo {
  const exceptions = noProxy
    .split(/[,\s]+/)
    .filter((text) => text !== '')
    .map((text) => ({ text, matches: readException(text) }));
  return (url) => {
    const isSecure = url.protocol === 'https:';
    const proxy = isSecure ? https : http;
    if (proxy === undefined) return { why: `${isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY'} is not set` };
    const host = plainHost(url.hostname);
    if (isNearby(host)) return { why: 'such an address never goes through a proxy' };
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
    const exception = exceptions.find(({ matches }) => matches(host, port));
    return exception === undefined ? { proxy } : { why: `NO_PROXY has ${exception.text}` };
  };
}

/** Creates the route to everything that one registry needs: itself, its token server, and its redirects. Its own setting comes before the environment. */
export function createRegistryRoute(proxy: RegistryProxy | undefined, byEnvironment: RouteTo): RouteTo {
  if (proxy === undefined) return byEnvironment;
  return (url) => {
    if (proxy === 'none') return { why: 'registries[].proxy is none' };
    return isNearby(plainHost(url.hostname)) ? { why: 'such an address never goes through a proxy' } : { proxy };
  };
}

/** ` through the proxy NAME`, to be added to a sentence; empty without a proxy. */
export function describeVia({ proxy }: Route): string {
  return proxy === undefined ? '' : ` through the proxy ${proxy.name}`;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isNearby(host: string): boolean {
  const family = isIP(host);
  if (isForbiddenAddress(host)) return true;
  return family === 0 ? /^(?:.+\.)?localhost$/.test(host) : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

type Matches = (host: string, port: number) => boolean;

/** Reads an entry of NO_PROXY (`*`, `example.com`, `.example.com`: and all below, `*.example.com`: only below, an address, a network); most may have a port. */
function readException(text: string): Matches {
  const network = readNetwork(text);
  if (network !== undefined) return (host) => isIP(host) !== 0 && network.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  const { name, port } = splitPort(text);
  const isPort: (port: number) => boolean = (actual) => port === undefined || port === actual;
  if (name === '*') return (_, actual) => isPort(actual);
  const isBelowOnly = name.startsWith('*.');
  const wanted = plainHost(name.replace(/^\*?\./, ''));
  if (wanted === '') return () => false;
  return (host, actual) => isPort(actual) && ((!isBelowOnly && host === wanted) || (isIP(host) === 0 && host.endsWith(`.${wanted}`)));
}

function readNetwork(text: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^\[?([0-9a-fA-F.:]+)\]?\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) return undefined;
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** Splits a host and its port. An IPv6 address with a port has brackets. */
function splitPort(text: string): { readonly name: string; readonly port?: number } {
  const [, name, port] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  return name === undefined ? { name: text } : { name, port: Number(port) };
}
