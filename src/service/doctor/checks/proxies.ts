import { type Check, type Finding, ok, warning } from '../finding.ts';

/** How requests to the hosts that the service knows leave. */
export interface ProxyFacts {
  readonly routes: readonly HostRoute[];
  /** Hosts that are not listed: only so many are. */
  readonly notListed: number;
  /** HTTP_PROXY is set and HTTPS_PROXY is not, so almost nothing goes through it. */
  readonly isOnlyHttp: boolean;
}

/** `proxy`: its name, without credentials; otherwise `why` there is none. */
export type HostRoute = { readonly host: string } & ({ readonly proxy: string } | { readonly why: string });

/** Which proxy applies to which host. */
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

/** One line for each proxy and each reason to use none. */
function evaluateRoutes(routes: readonly HostRoute[], notListed: number): Finding[] {
  const line = 'proxies/route';
  if (routes.length === 0) return [ok(line, 'no registries are known, and nothing else that could need a proxy')];
  const groups = Map.groupBy(routes, (route) => ('proxy' in route ? `through the proxy ${route.proxy}` : `directly (${route.why})`));
  const found = [...groups].map(([how, hosts]) => ok(line, `${how}: ${hosts.map(({ host }) => host).join(', ')}`));
  return notListed === 0 ? found : [...found, ok(line, `${notListed} more hosts are not listed`)];
}
