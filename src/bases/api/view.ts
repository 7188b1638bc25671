/** What the API shows of BaseImagePolicies, and who may see it. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { type BaseImagePolicy, isUsableBase } from '../../core/model/base-policy.ts';
import type { Origins } from '../../core/model/image-origin.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { type Access, AccessError, type Question } from '../../service/api/access.ts';
import type { StreamFeed } from '../../service/api/stream.ts';
import { baseKind, basePlural, recordPlural } from '../../service/resources/group.ts';
import { type ImagesView, listWithoutConsent } from '../policies/list-images.ts';
import type { DependentsStore } from '../record/kept-dependents.ts';
import type { RecordStore } from '../record/record-store.ts';
import type { SeenVersion } from '../record/seen-version.ts';

/** The BaseImagePolicies of a process with the role `work`. */
export interface BaseView {
  /** Whether all policies are in the cache. */
  readonly areKnown: () => boolean;
  readonly all: () => Iterable<BaseImagePolicy>;
  readonly find: (namespace: string, name: string) => BaseImagePolicy | undefined;
  /** Where the base that waits for approval and the one before were built from, as far as that is known without a request. */
  readonly originsOf: (policy: BaseImagePolicy) => Origins;
  /** The changes of policies. */
  readonly feed: StreamFeed<BaseImagePolicy>;
  /** All dependents of a policy that the last reconcile has found. */
  readonly readKept: DependentsStore['read'];
  /** The versions that a policy has seen. */
  readonly readVersions: RecordStore['read'];
  /** The workloads that run, with the consent of their owners. */
  readonly images: ImagesView;
  readonly now: () => number;
}

/** The kind, for permissions and patches. */
export const baseResource = { kind: baseKind, plural: basePlural } as const;

/** What is asked about callers. */
export const baseSight: readonly Question[] = [
  { verb: 'list', resource: basePlural },
  { verb: 'get', resource: basePlural },
  { verb: 'list', resource: recordPlural },
  { verb: 'list', resource: 'namespaces' },
];

/** The maximum number of namespaces that are checked, as for ImagePolicies. */
const maxNamespaces = 200;
const questionsAtOnce = 8;

/** Throws AccessError(503) if the process has no policies, or does not know all of them yet. */
export function known(view: BaseView | undefined): BaseView {
  if (view === undefined)
    throw new AccessError(503, 'this process does not have the role work, so it knows no bases: send the request to one that has');
  if (!view.areKnown()) throw new AccessError(503, 'the BaseImagePolicies are not known yet');
  return view;
}

/** Finds one policy; throws AccessError(403) if the caller may not get it, and 404 if it does not exist. */
export async function seeBase(
  view: BaseView | undefined,
  access: Access,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<BaseImagePolicy> {
  if (!(await access.may({ verb: 'get', resource: basePlural, namespace })))
    throw new AccessError(403, `this needs permission to get ${basePlural} in the namespace ${namespace}`);
  const policy = known(view).find(namespace, name);
  if (policy === undefined) throw new AccessError(404, `there is no ${baseKind} ${namespace}/${name}`);
  return policy;
}

/** The policies that the caller may list, sorted by name; throws AccessError(403) for a namespace in which the caller may list none. */
export async function listBases(view: BaseView | undefined, access: Access, namespace: string | undefined): Promise<BaseImagePolicy[]> {
  if (namespace !== undefined && !(await access.may({ verb: 'list', resource: basePlural, namespace })))
    throw new AccessError(403, `this needs permission to list ${basePlural} in the namespace ${namespace}`);
  const wanted = [...known(view).all()].filter((policy) => namespace === undefined || policy.namespace === namespace);
  const visible = namespace === undefined ? await visibleAmong(wanted, access) : wanted;
  const keyed = visible.map((policy) => ({ policy, key: policyKey(policy) }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ policy }) => policy);
}

async function visibleAmong(policies: readonly BaseImagePolicy[], access: Access): Promise<readonly BaseImagePolicy[]> {
  if (await access.may({ verb: 'list', resource: basePlural })) return policies;
  const namespaces = [...new Set(policies.map((policy) => policy.namespace))];
  if (namespaces.length > maxNamespaces)
    throw new AccessError(403, `you may not list ${basePlural} in all namespaces: name one of yours with namespace=`);
  const answers = await inParallel(namespaces, questionsAtOnce, (one) =>
    access.may({ verb: 'list', resource: basePlural, namespace: one }),
  );
  const seen = new Set(
    namespaces.filter((_, index) => {
      const answer = answers[index];
      if (answer?.status === 'rejected') throw answer.reason;
      return answer?.value === true;
    }),
  );
  return policies.filter((policy) => seen.has(policy.namespace));
}

/** The maximum number of namespaces that are named. */
const maxNamed = 20;

/** The selected namespaces whose owners have not consented; undefined for callers that may not list namespaces, to whom they are secret. */
export async function countWithoutConsent(
  { spec, ...policy }: BaseImagePolicy,
  { images }: BaseView,
  access: Access,
): Promise<{ readonly total: number; readonly namespaces: string[] } | undefined> {
  if (!isUsableBase(spec) || !(await access.may({ verb: 'list', resource: 'namespaces' }))) return undefined;
  const found = listWithoutConsent({ ...policy, spec }, images);
  return { total: found.length, namespaces: found.slice(0, maxNamed) };
}

const readMs = 10_000;

/** The versions that a policy has seen. Throws AccessError(503) if the API server does not answer. */
export async function versionsOf(policy: BaseImagePolicy, { readVersions }: BaseView): Promise<readonly SeenVersion[]> {
  try {
    return await readVersions(policy, AbortSignal.timeout(readMs), { atLeast: policy.status.versions?.known ?? 0 });
  } catch (error) {
    throw new AccessError(503, 'the API server does not answer; try again', { cause: error });
  }
}
