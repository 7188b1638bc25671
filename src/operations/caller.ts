/** Who calls the API, in the API server's terms. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What may be asked about ImagePolicies; without a namespace: in all of them. */
export interface Question {
  readonly verb: 'get' | 'list' | 'update';
  readonly namespace?: string;
}

/** Who a bearer token belongs to; undefined when it is nobody's. */
export type ReviewToken = (token: string) => Promise<Caller | undefined>;

/** Whether somebody may do that. */
export type ReviewAccess = (caller: Caller, question: Question) => Promise<boolean>;

/** A caller with what he may do. */
export interface Access {
  readonly user: string;
  may(question: Question): Promise<boolean>;
}

/** The request cannot be served for this caller, or not now; `message` is for him. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly status: 401 | 403 | 503;

  constructor(status: 401 | 403 | 503, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
