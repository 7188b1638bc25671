/** The callers of the API, and their permissions. */
import type { Caller } from '../../core/model/caller.ts';

/** A verb on ImagePolicies, on another resource of the API group, or on Namespaces. Without a namespace, it applies to all namespaces. */
export interface Question {
  readonly verb: 'get' | 'list' | 'update' | 'patch' | 'approve' | 'rollback' | 'release';
  /** The plural name of the resource: one of the API group, or `namespaces`; ImagePolicies unless given. */
  readonly resource?: string;
  readonly namespace?: string;
}

/** The user that a bearer token belongs to; undefined if it is not valid. */
export type ReviewToken = (token: string) => Promise<Caller | undefined>;

/** Whether a caller has a permission. */
export type ReviewAccess = (caller: Caller, question: Question) => Promise<boolean>;

/** The credentials with which a caller can act at the API server itself. none: there is no authentication; proxy: the caller is known by name only. */
export type Credentials = { readonly kind: 'none' | 'proxy' } | { readonly kind: 'token'; readonly token: string };

/** A caller and its permissions. */
export interface Access {
  readonly user: string;
  readonly credentials: Credentials;
  may(question: Question): Promise<boolean>;
}

/** Thrown if the request is refused, or cannot be served now; `message` is for the caller. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly status: 401 | 403 | 404 | 429 | 503;

  constructor(status: AccessError['status'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
