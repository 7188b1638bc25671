/** The bases that the images of an ImagePolicy are built on: one policy for each, the nearest base first. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { defined } from '../../core/model/defined.ts';
import { type ImagePolicy, scopeOf } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Access } from '../../service/api/access.ts';
import type { BaseLink } from '../../service/api/base-view.ts';
import { basePlural, recordPlural } from '../../service/resources/group.ts';
import type { Listed } from './list-dependents.ts';
import { digestOf } from './list-versions.ts';
import type { ReadDependents } from './read-dependents.ts';
import { summarize } from './summary.ts';
import { versionsOf, type BaseView } from './view.ts';

/** The maximum numbers of policies that are read for one chain, and of images that are shown for each. */
const maxPolicies = 50;
const maxImages = 20;
const readsAtOnce = 4;

/** Finds the bases of the repository of a policy, among those whose policies the caller may get. */
export async function findChain(
  policy: ImagePolicy,
  { view, access, read }: { readonly view: BaseView; readonly access: Access; readonly read: ReadDependents },
): Promise<BaseLink[]> {
  const scope = scopeOf(policy.spec);
  if (scope === undefined) return [];
  const subject = {
    repository: formatRepository(scope.repository),
    namespaces: new Set([policy.namespace, ...scope.targets.map(({ namespace }) => namespace)]),
  };
  const namespaces = [...new Set([...view.all()].map(({ namespace }) => namespace))];
  const visible = new Set<string>();
  for (const namespace of namespaces.slice(0, maxPolicies))
    if (await access.may({ verb: 'get', resource: basePlural, namespace })) visible.add(namespace);
  const policies = [...view.all()].filter(({ namespace }) => visible.has(namespace)).slice(0, maxPolicies);
  const results = await inParallel(policies, readsAtOnce, (base) => linkOf(base, subject, { view, access, read }));
  const links = results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value ?? [];
  });
  return links.toSorted((a, b) => (b.layers ?? 0) - (a.layers ?? 0) || (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

/** An application: its repository, and the namespaces in which it runs. */
interface Subject {
  readonly repository: string;
  readonly namespaces: ReadonlySet<string>;
}

async function linkOf(
  base: BaseImagePolicy,
  { repository, namespaces: own }: Subject,
  { view, access, read }: { readonly view: BaseView; readonly access: Access; readonly read: ReadDependents },
): Promise<BaseLink | undefined> {
  const { dependents } = await read(base);
  const isOf = ({ view: { image, state }, namespaces }: Listed) =>
    state !== 'NotExamined' && repositoryIn(image) === repository && (namespaces.size === 0 || [...namespaces].some((one) => own.has(one)));
  const found = dependents.filter(isOf).slice(0, maxImages);
  if (found.length === 0) return undefined;
  const { namespace, name, image, latest } = summarize(base);
  const layers = await countLayers(base, found, view, access);
  return { namespace, name, ...defined({ image, latest, layers }), dependents: found.map((one) => one.view) };
}

/** How many layers the version of the base has that the images are built on. It orders bases that are built on one another. */
async function countLayers(base: BaseImagePolicy, found: readonly Listed[], view: BaseView, access: Access): Promise<number | undefined> {
  if (!isUsableBase(base.spec)) return undefined;
  if (!(await access.may({ verb: 'list', resource: recordPlural, namespace: base.namespace }))) return undefined;
  const digests = new Set(found.flatMap((one) => digestOf(one.view) ?? []));
  const versions = await versionsOf(base, view);
  const counts = versions
    .filter(({ digest }) => digests.has(digest))
    .flatMap(({ platforms }) => platforms.flatMap(({ layers }) => layers?.count ?? []));
  return counts.length === 0 ? undefined : Math.max(...counts);
}

/** The repository of an image: `harbor.example.com:443/shop/web` of `harbor.example.com:443/shop/web:1.2.3@sha256:…`. */
function repositoryIn(image: string): string {
  return image.split('@')[0]?.replace(/:[^/:]*$/, '') ?? '';
}
