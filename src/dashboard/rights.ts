/** What the user of a page may do, so that it offers nothing else. */
import { baseReads } from '../service/api/base-view.ts';
import { maxPermittedNamespaces } from '../service/api/permitted-actions.ts';
import { getPermittedIn } from '../service/api/routes/permitted.ts';
import type { Acted, Caller, Offering, PageContent, Redirection, Rights } from './page.ts';
import type { Api } from './api-client.ts';
import { ifPermitted } from './parts/problem.ts';

const routes = { policies: getPermittedIn, bases: baseReads.permitted } as const;
const kinds = Object.keys(routes) as (keyof Acted)[];

/** Reads what a user may do in these namespaces; only in the first of very many. */
export async function readRights(api: Api, { noActions }: Pick<Caller, 'noActions'>, acted: Acted): Promise<Rights> {
  const read = async (kind: keyof Acted): Promise<[string, readonly string[]][]> => {
    const namespaces = [...new Set(acted[kind])].sort().slice(0, maxPermittedNamespaces);
    if (namespaces.length === 0 || noActions !== undefined) return [];
    const answer = await ifPermitted(api.read(routes[kind], { namespaces: namespaces.join(',') }));
    return answer?.namespaces.map(({ namespace, actions }) => [`${kind}/${namespace}`, actions]) ?? [];
  };
  const known = new Map((await Promise.all(kinds.map(read))).flat());
  return {
    key: JSON.stringify([...known]),
    may: (action, { namespace }, of = 'policies') => noActions === undefined && known.get(`${of}/${namespace}`)?.includes(action) !== false,
  };
}

/** The content of a page for its user. */
export async function contentFor(
  shown: PageContent | Offering | Redirection,
  { api, caller }: { readonly api: Api; readonly caller: Caller },
): Promise<PageContent | Redirection> {
  return 'offer' in shown ? shown.offer(await readRights(api, caller, shown.acted)) : shown;
}
