/** Lists which proxy applies to which host, for the doctor. */
import type { HostRoute, ProxyFacts } from '../doctor/checks/proxies.ts';
import { normaliseRegistry } from '../../core/model/image-reference.ts';
import type { Route } from '../proxy/route.ts';
import { googleKeys } from '../receive/issuers.ts';
import { parseTopic } from '../receive/sns-proof.ts';
import type { RegistryClient } from '../registry/client.ts';
import type { Installation } from './installation.ts';

/** The limit for listed hosts, because tenants choose the hosts of registries. */
const maxHosts = 50;

/** Lists the routes to the registries of the configuration and of policies, the most used ones first; then to the other hosts that the configuration names. `policies`: how many each registry has. */
export function listRoutes(
  { settings: { config, proxies }, outbound }: Installation,
  registry: Pick<RegistryClient, 'routeOf'>,
  policies: ReadonlyMap<string, number>,
): ProxyFacts {
  const uses = new Map<string, number>(config.registries.map(({ host }) => [normaliseRegistry(host), Number.POSITIVE_INFINITY]));
  for (const [host, count] of policies) uses.set(host, (uses.get(host) ?? 0) + count);
  const hosts = [...uses].toSorted(([, a], [, b]) => b - a).map(([host]) => host);
  const routes = hosts.slice(0, maxHosts).flatMap((host) => {
    const route = registry.routeOf(host);
    return route === undefined ? [] : [toFact(host, route)];
  });
  return {
    routes: [
      ...routes,
      ...otherUrls(config).map(([url, what]) => toFact(`${new URL(url).host} (${what})`, outbound.routeTo(new URL(url)))),
    ],
    notListed: Math.max(0, hosts.length - maxHosts),
    isOnlyHttp: proxies.http !== undefined && proxies.https === undefined,
  };
}

function toFact(host: string, route: Route): HostRoute {
  return route.proxy === undefined ? { host, why: route.why } : { host, proxy: route.proxy.name };
}

/** The URLs of the configuration that are neither registries nor targets of notifications, whose URLs are secrets. */
function otherUrls({
  receivers,
  triggers,
  dashboard,
}: Installation['settings']['config']): readonly (readonly [url: string, what: string])[] {
  const keys = receivers.flatMap(({ oidc }) => (oidc === undefined ? [] : [oidc.jwksUri ?? googleKeys]));
  const topics = receivers.flatMap(({ sns }) => sns?.topics ?? []).flatMap((arn) => parseTopic(arn)?.host ?? []);
  const systems = triggers.hosts.map((host) => (host.startsWith('http://') ? host : `https://${host}`));
  return [
    ...[...new Set(keys)].map((url) => [url, 'keys of receivers'] as const),
    ...[...new Set(topics)].map((host) => [`https://${host}`, 'certificates of SNS'] as const),
    ...systems.map((url) => [url, 'rebuilds'] as const),
    ...(dashboard.oidc === undefined ? [] : [[dashboard.oidc.issuer, 'sign-in'] as const]),
  ];
}
