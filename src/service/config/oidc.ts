/** Schema of the setting `receivers[].oidc`. */
import { z } from 'zod';
import { googleIssuers, missingCustomerClaims, readRequiredClaims } from '../receive/issuers.ts';
import { always, reportTo } from './scalars.ts';
import { isLoopback } from './rules.ts';

/** Claims that must not be in `claims`, because other settings check them. */
const checkedElsewhere: Readonly<Record<string, string>> = {
  iss: 'is checked with the setting issuer',
  aud: 'is checked with the setting audience',
  exp: 'is always checked',
  iat: 'is always checked',
  nbf: 'is always checked',
  email: 'is checked with the setting email, which requires email_verified as well',
  email_verified: 'is checked with the setting email',
};

const error = 'a text, a whole number, true or false, or a list of these; nested claims are not supported';
const claimValue = z.union([z.string().min(1).max(1_024), z.int(), z.boolean()], { error });
const claims = z
  .record(z.string().min(1).max(256), z.union([claimValue, z.array(claimValue).min(1).max(64)], { error }))
  .superRefine((demanded, context) => {
    const names = Object.keys(demanded);
    if (names.length < 1 || names.length > 32) context.addIssue({ code: 'custom', message: 'between 1 and 32 claims, by their names' });
    for (const name of names) {
      const why = Object.hasOwn(checkedElsewhere, name) ? checkedElsewhere[name] : undefined;
      if (why !== undefined) context.addIssue({ code: 'custom', path: [name], message: `${why}: remove it from the claims` });
    }
  })
  .describe(
    'Further claims that the token must have: for each claim a value, or a list of values of which one must match. If the claim is a list, it must contain one of them. Values are compared as text, in full. Required for issuers that many customers share (GitHub Actions, GitLab.com, Buildkite, Codefresh).',
  );

/** Schema of the authentication with tokens of an OpenID provider; Google unless `issuer` names another. */
export const oidc = z
  .strictObject({
    audience: z
      .string()
      .min(1)
      .max(1_024)
      .describe('The required audience of the token. For Pub/Sub this is the URL of the receiver, unless the subscription names another.'),
    email: z
      .string()
      .min(1)
      .max(320)
      .optional()
      .describe('The email of the service account that the token must be for. For Google, either this or the claim `sub` is required.'),
    claims: claims.optional(),
    issuer: z.string().min(1).max(1_024).optional().describe('The issuer of the tokens; the default is Google.'),
    jwksUri: z
      .url({ protocol: /^https?$/, error: 'an https URL' })
      .optional()
      .describe("The URL of the issuer's public keys (JWKS). Required for every issuer except Google."),
  })
  .superRefine(namesItsSender, always)
  .describe('The sender authenticates with a bearer token of an OpenID provider.');

interface Draft {
  readonly [key: string]: unknown;
}

/** Checks that the required claims identify one sender, and that its keys are fetched securely. The values may be invalid in other ways. */
function namesItsSender(draft: Draft | null, context: z.RefinementCtx): void {
  if (typeof draft !== 'object' || draft === null || Array.isArray(draft)) return;
  const { issuer = googleIssuers[0], email, jwksUri } = draft;
  const report = reportTo(context);
  const isGoogle = googleIssuers.some((known) => known === issuer);
  const demanded = claims.safeParse(draft['claims']);
  const missing = missingCustomerClaims(String(issuer), readRequiredClaims(demanded.data ?? {}));
  if (isGoogle && email === undefined && missing !== undefined) {
    report('email', 'missing: anybody can get a token of Google for any audience; name the service account of the push subscription');
  }
  const isWrongAlready = draft['claims'] !== undefined && !demanded.success;
  if (!isGoogle && missing !== undefined && !isWrongAlready) {
    const names = missing.join(', ');
    report(
      'claims',
      `do not identify the owner of the token: anybody can get one of ${String(issuer)} for any audience. Require at least one of ${names}, such as claims: {${missing[0]}: NAME}`,
    );
  }
  if (!isGoogle && jwksUri === undefined) report('jwksUri', 'missing: the address of the keys of an issuer that is not Google');
  if (typeof jwksUri === 'string' && jwksUri.startsWith('http:') && !isLoopback(new URL(jwksUri).hostname)) {
    report('jwksUri', 'is not https: an attacker on the network could replace the keys');
  }
}
