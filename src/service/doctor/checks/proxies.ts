import { type Check, type Finding, ok, warning } from '../finding.ts';

/** The proxies of requests to the hosts that the service knows. */
export interface ProxyFacts {
  readonly routes: readonly HostRoute[];
  /** The number of hosts that are not listed, because their number is limited. */
  readonly notListed: number;
  /** Whether HTTP_PROXY is set and HTTPS_PROXY is not. Almost no request then uses the proxy. */
  readonly isOnlyHttp: boolean;
}

/** The route to a host. `proxy`: the name of its proxy, without credentials; otherwise `why` there is none. */
export type HostRoute = { readonly host: string } & ({ readonly proxy: string } | { readonly why: string });

/** Reports which proxy applies to which host. */
export const proxies: Check<ProxyFacts> = {
  id: 'proxies',
  lines: ['route', 'https'],
  evaluate: ({ routes, notListed, isOnlyHttp }) => [
    ...evaluateRoutes(routes, notListed),
    ...(isOnlyHttp
      ? [
          warning(
            'proxies/https',
            'HTTP_PROXY is set and HTTPS_PROXY is not: it is for plain http only, and registries speak https',
            'set HTTPS_PROXY as well, or remove HTTP_PROXY',
          ),
        ]
      : []),
  ],
};

/** One finding for each proxy, and for each reason to use none. */
function evaluateRoutes(routes: readonly HostRoute[], notListed: number): Finding[] {
  const line = 'proxies/route';
  if (routes.length === 0) return [ok(line, 'no registries are known, and nothing else that could need a proxy')];
  const groups = Map.groupBy(routes, (route) => ('proxy' in route ? `through the proxy ${route.proxy}` : `directly (${route.why})`));
  const found = [...groups].map(([how, hosts]) => ok(line, `${how}: ${hosts.map(({ host }) => host).join(', ')}`));
  return notListed === 0 ? found : [...found, ok(line, `${notListed} more hosts are not listed`)];
}
