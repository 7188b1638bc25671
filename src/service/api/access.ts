/** Who calls the API, and what they may do. */

/** A caller of the API, in the API server's terms. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A verb on ImagePolicies; without a namespace: in all of them. */
export interface Question {
  readonly verb: 'get' | 'list' | 'update';
  readonly namespace?: string;
}

/** The user that a bearer token belongs to; undefined if it is not valid. */
export type ReviewToken = (token: string) => Promise<Caller | undefined>;

/** Whether a caller has a permission. */
export type ReviewAccess = (caller: Caller, question: Question) => Promise<boolean>;

/** With what a caller can act at the API server itself. none: there is no authentication; proxy: the caller is known by name only. */
export type Credentials = { readonly kind: 'none' | 'proxy' } | { readonly kind: 'token'; readonly token: string };

/** A caller and its permissions. */
export interface Access {
  readonly user: string;
  readonly credentials: Credentials;
  may(question: Question): Promise<boolean>;
}

/** The request is refused, or cannot be served now; `message` is for the caller. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly status: 401 | 403 | 404 | 429 | 503;

  constructor(status: AccessError['status'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
