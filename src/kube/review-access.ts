import type { KubeClient } from './client.ts';

/** A user of the cluster, in the API server's terms. */
export interface ReviewedUser {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A verb on one kind of object; without a namespace: in all of them. */
export interface ResourceAccess {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly namespace?: string | undefined;
}

/** Shorter than a client of the API waits for a response. */
const timeoutMs = 3_000;

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

/** The user that a token belongs to; undefined if it is not valid. Needs the permission to create tokenreviews. */
export async function reviewToken(client: KubeClient, token: string): Promise<ReviewedUser | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { status } = await client.request<TokenReview>({ method: 'POST', path, body, timeoutMs });
  const { username, uid, groups = [], extra } = status?.user ?? {};
  if (status?.authenticated !== true || !username) return undefined;
  return { user: username, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

/** Whether the user has this access. Needs the permission to create subjectaccessreviews. */
export async function reviewAccess(
  client: KubeClient,
  { user, groups, uid, extra }: ReviewedUser,
  access: ResourceAccess,
): Promise<boolean> {
  const spec = { user, groups, ...(uid && { uid }), ...(extra && { extra }), resourceAttributes: access };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const answer = await client.request<{ status?: { allowed?: boolean } }>({ method: 'POST', path, body, timeoutMs });
  return answer.status?.allowed === true;
}
