/** Issuers of tokens that are known: how Google names itself, and those that many customers share. */

/** How Google names itself in tokens. https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions */
export const googleIssuers = ['https://accounts.google.com', 'accounts.google.com'] as const;

/** Where Google publishes the keys of its tokens. */
export const googleKeys = 'https://www.googleapis.com/oauth2/v3/certs';

/** An issuer whose tokens anybody can have, for any audience. */
interface SharedIssuer {
  /** Claims that only one customer's tokens have with a given value. */
  readonly customerClaims: readonly string[];
  /** How a `sub` begins that names the customer; customers may choose what else theirs is made of. */
  readonly subject: RegExp;
}

const google: SharedIssuer = { customerClaims: [], subject: /^\d+$/ };
/** The issuers that are known to be shared, by the name in their tokens. */
export const sharedIssuers: ReadonlyMap<string, SharedIssuer> = new Map([
  ...googleIssuers.map((issuer) => [issuer, google] as const),
  // https://docs.github.com/en/actions/reference/security/oidc. Anybody can call a reusable workflow, so that job_workflow_ref names nobody.
  [
    'https://token.actions.githubusercontent.com',
    {
      customerClaims: [
        'repository_owner',
        'repository_owner_id',
        'repository',
        'repository_id',
        'workflow_ref',
        'enterprise',
        'enterprise_id',
      ],
      subject: /^(?:repo|repository|repository_id|repository_owner|repository_owner_id|enterprise|enterprise_id):/,
    },
  ],
  // https://docs.gitlab.com/ci/secrets/id_token_authentication
  ['https://gitlab.com', { customerClaims: ['namespace_path', 'namespace_id', 'project_path', 'project_id'], subject: /^project_path:/ }],
  // https://buildkite.com/docs/agent/v3/cli-oidc
  ['https://agent.buildkite.com', { customerClaims: ['organization_slug', 'organization_id'], subject: /^organization:/ }],
  // https://codefresh.io/docs/docs/integrations/oidc-pipelines
  ['https://oidc.codefresh.io', { customerClaims: ['account_id', 'account_name'], subject: /^account:/ }],
]);

/** The claims that a token must have: for each name the values of which it must have one. */
export type DemandedClaims = Readonly<Record<string, readonly string[]>>;

type ClaimValue = string | number | boolean;

/** Demanded claims as the configuration has them. */
export function readDemands(written: Readonly<Record<string, ClaimValue | readonly ClaimValue[]>>): DemandedClaims {
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name, [value].flat().map(String)]));
}

/** The claims of which one must be demanded of a shared issuer's tokens, where none that is demanded names the customer; otherwise undefined. */
export function missingCustomerClaims(issuer: string, demanded: DemandedClaims): readonly string[] | undefined {
  const shared = sharedIssuers.get(issuer);
  if (shared === undefined || shared.customerClaims.some((name) => Object.hasOwn(demanded, name))) return undefined;
  const subjects = demanded['sub'] ?? [];
  if (subjects.length > 0 && subjects.every((subject) => shared.subject.test(subject))) return undefined;
  return [...shared.customerClaims, 'sub'];
}
