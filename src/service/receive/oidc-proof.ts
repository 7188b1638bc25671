/** Authenticates deliveries by OpenID Connect tokens. */
import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { RequiredClaims } from './issuers.ts';
import { authentic, ProofUnavailable, refused, type ProofResult, type VerifyProof } from './authenticate.ts';

export interface OidcOptions {
  readonly issuers: readonly string[];
  readonly audience: string;
  /** The service account that the token must name, with a verified e-mail address. */
  readonly email?: string | undefined;
  /** Other claims that the token must have. */
  readonly claims?: RequiredClaims | undefined;
  readonly findKey: JWTVerifyGetKey;
  readonly now: () => Date;
}

/** The tolerated difference between clocks. Google's libraries allow the same. */
const toleranceSeconds = 10;
/** The accepted algorithms. All are asymmetric, so nobody can sign with the public key. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const;

/**
 * Verifies the bearer token that an identity provider issued to the sender: signature, issuer, audience, times, the e-mail of the service account, and the required claims.
 * https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */
export function createOidcProof({ issuers, audience, email, claims = {}, findKey, now }: OidcOptions): VerifyProof {
  return async ({ headers }): Promise<ProofResult> => {
    const value = headers['authorization'];
    const token = typeof value === 'string' ? /^Bearer +(\S+)$/i.exec(value)?.[1] : undefined;
    if (token === undefined) return refused('the request has no bearer token: configure the sender to authenticate with OpenID Connect');
    const currentDate = now();
    try {
      const { payload } = await jwtVerify(token, findKey, {
        issuer: [...issuers],
        audience,
        algorithms: [...algorithms],
        clockTolerance: toleranceSeconds,
        currentDate,
        requiredClaims: ['iss', 'aud', 'exp', 'iat'],
      });
      if ((payload.iat ?? 0) > currentDate.getTime() / 1_000 + toleranceSeconds) return refusedFor('iat', 'the token is not valid yet');
      // Any customer of a public issuer can get a token for any audience, so only the e-mail and the claims identify the customer.
      if (email !== undefined && payload['email'] !== email) return refusedFor('email', "the token's e-mail is not receivers[].oidc.email");
      if (email !== undefined && payload['email_verified'] !== true) return refusedFor('email', "the token's e-mail is not verified");
      for (const [claim, values] of Object.entries(claims)) {
        const has = textsOf(payload, claim);
        if (has === undefined) return refusedFor(claim, `the token has no claim ${claim}, which receivers[].oidc.claims requires`);
        if (!values.some((value) => has.includes(value)))
          return refusedFor(claim, `the token's claim ${claim} has none of the values of receivers[].oidc.claims`);
      }
      return authentic;
    } catch (error) {
      if (error instanceof ProofUnavailable) throw error;
      return describeRefusal(error);
    }
  };
}

/** The values of a claim as texts; undefined if the token has no such claim. Objects have no values. */
function textsOf(payload: JWTPayload, claim: string): readonly string[] | undefined {
  if (!Object.hasOwn(payload, claim)) return undefined;
  const value = payload[claim];
  if (Array.isArray(value)) return value.filter((entry): entry is string => typeof entry === 'string');
  // An integer beyond the safe range may have been changed by parsing.
  const isExact = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
  return isExact ? [String(value)] : [];
}

function refusedFor(claim: string, why: string): ProofResult {
  return { kind: 'refused', why, claim };
}

/** Describes which check failed by jose's code, because jose's messages may contain parts of the token. */
function describeRefusal(error: unknown): ProofResult {
  // These errors occur only after the signature of the token was found valid.
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return refusedFor(error.claim, `the token's ${error.claim} does not match the receiver's configuration (${error.code})`);
  if (error instanceof errors.JOSEError) return refused(`the token is not valid (${error.code})`);
  return refused('the token is not valid (its key is unusable)');
}
