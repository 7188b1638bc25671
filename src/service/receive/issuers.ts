/** Known issuers of tokens: Google, and issuers that many customers share. */

/** The names of Google in its tokens. https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions */
export const googleIssuers = ['https://accounts.google.com', 'accounts.google.com'] as const;

/** The URL of the keys of Google's tokens. */
export const googleKeys = 'https://www.googleapis.com/oauth2/v3/certs';

/** An issuer from which anybody can get tokens for any audience. */
interface SharedIssuer {
  /** Claims whose values identify a customer. */
  readonly customerClaims: readonly string[];
  /** The beginning of a `sub` that identifies the customer; customers can customise the rest of it. */
  readonly subject: RegExp;
}

const google: SharedIssuer = { customerClaims: [], subject: /^\d+$/ };
/** Issuers that are known to be shared, by their names in tokens. */
export const sharedIssuers: ReadonlyMap<string, SharedIssuer> = new Map([
  ...googleIssuers.map((issuer) => [issuer, google] as const),
  // https://docs.github.com/en/actions/reference/security/oidc. Anybody can call a reusable workflow, so job_workflow_ref identifies nobody.
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

/** The claims that a token must have: for each name, the accepted values. */
export type RequiredClaims = Readonly<Record<string, readonly string[]>>;

type ClaimValue = string | number | boolean;

/** Reads the required claims of the configuration. */
export function readRequiredClaims(written: Readonly<Record<string, ClaimValue | readonly ClaimValue[]>>): RequiredClaims {
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name, [value].flat().map(String)]));
}

/** The claims of which the configuration must require one, because the issuer is shared and no required claim identifies the customer; otherwise undefined. */
export function missingCustomerClaims(issuer: string, required: RequiredClaims): readonly string[] | undefined {
  const shared = sharedIssuers.get(issuer);
  if (shared === undefined || shared.customerClaims.some((name) => Object.hasOwn(required, name))) return undefined;
  const subjects = required['sub'] ?? [];
  if (subjects.length > 0 && subjects.every((subject) => shared.subject.test(subject))) return undefined;
  return [...shared.customerClaims, 'sub'];
}
