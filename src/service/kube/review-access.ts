import type { Caller } from '../../core/model/caller.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { PermissionRule } from '../../core/model/permission-rule.ts';
import type { KubeClient } from './client.ts';

/** A verb on one kind of object. Without a namespace, it applies to all namespaces. */
export interface ResourceAccess {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly verb: string;
  /** The name, if the access is to one object only. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** The timeout of a review. It is shorter than the time that a client of the API waits for a response. */
const timeoutMs = 3_000;

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

/** The user that a token belongs to; undefined if it is not valid. Needs the permission to create tokenreviews. */
export async function reviewToken(client: KubeClient, token: string): Promise<Caller | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { status } = await client.request<TokenReview>({ method: 'POST', path, body, timeoutMs });
  const { username, uid, groups = [], extra } = status?.user ?? {};
  if (status?.authenticated !== true || !username) return undefined;
  return { user: username, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

/** Whether the user has this access. Needs the permission to create subjectaccessreviews. */
export async function reviewAccess(client: KubeClient, { user, groups, uid, extra }: Caller, access: ResourceAccess): Promise<boolean> {
  const spec = { user, groups, ...(uid && { uid }), ...(extra && { extra }), resourceAttributes: access };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const answer = await client.request<{ status?: { allowed?: boolean } }>({ method: 'POST', path, body, timeoutMs });
  return answer.status?.allowed === true;
}

/** Whether the user of this client has this access. Every user may make this request. */
export async function reviewOwnAccess(client: KubeClient, access: ResourceAccess, signal?: AbortSignal): Promise<boolean> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: access } };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const answer = await client.request<{ status?: { allowed?: boolean } }>({ method: 'POST', path, body, timeoutMs, signal });
  return answer.status?.allowed === true;
}

const reviewsAtOnce = 8;

/** The rules' accesses that are not granted in the namespace (undefined: in all), such as `patch deployments.apps`. Each costs a request. */
export async function findMissingAccess(
  rules: readonly PermissionRule[],
  namespace: string | undefined,
  isAllowed: (access: ResourceAccess) => Promise<boolean>,
): Promise<readonly string[]> {
  const wanted = rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) => {
        const [resource = '', subresource] = path.split('/');
        return resourceNames.flatMap((name) => verbs.map((verb) => ({ group, resource, subresource, verb, name, namespace })));
      }),
    ),
  );
  const answers = await inParallel(wanted, reviewsAtOnce, isAllowed);
  return answers.flatMap((answer, index) => {
    if (answer.status === 'rejected') throw answer.reason;
    const access = wanted[index];
    return answer.value || access === undefined ? [] : [describeAccess(access)];
  });
}

/** Describes an access in kubectl's words. */
function describeAccess({ verb, group, resource, subresource, name }: ResourceAccess): string {
  const what = [resource, subresource].filter((part) => part !== undefined).join('/');
  return [verb, `${what}${group === '' ? '' : `.${group}`}`, name].filter((part) => part !== undefined).join(' ');
}
