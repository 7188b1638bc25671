import { type Check, type Finding, ok, warning } from '../finding.ts';
import { say } from '../say.ts';

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
    ...(isOnlyHttp ? [warning('proxies/https', say('proxies.https'), say('proxies.https.do'))] : []),
  ],
};

/** One finding for each proxy, and for each reason to use none. */
function evaluateRoutes(routes: readonly HostRoute[], notListed: number): Finding[] {
  const line = 'proxies/route';
  if (routes.length === 0) return [ok(line, say('proxies.unused'))];
  const groups = Map.groupBy(routes, (route) => ('proxy' in route ? `through ${route.proxy}` : `directly ${route.why}`));
  const found = [...groups.values()].flatMap((group) => {
    const [route] = group;
    if (route === undefined) return [];
    const hosts = group.map(({ host }) => host).join(', ');
    return ok(line, 'proxy' in route ? say('proxies.through', route.proxy, hosts) : say('proxies.directly', route.why, hosts));
  });
  return notListed === 0 ? found : [...found, ok(line, say('proxies.notListed', notListed))];
}
