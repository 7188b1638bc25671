import { errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { DemandedClaims } from './issuers.ts';
import { authentic, ProofUnavailable, refused, type Verdict, type VerifyProof } from './proof.ts';

export interface OidcOptions {
  readonly issuers: readonly string[];
  readonly audience: string;
  /** The service account that must be named, as verified. */
  readonly email?: string | undefined;
  /** What it must say besides. */
  readonly claims?: DemandedClaims | undefined;
  readonly findKey: JWTVerifyGetKey;
  readonly now: () => Date;
}

/** Clocks differ; Google's own libraries allow as much. */
const toleranceSeconds = 10;
/** Signatures that nobody can make who only has the public key. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const;

/**
 * The bearer token that an identity provider gave to the sender: signature, issuer, audience, times, the e-mail of the service account, and the claims that are demanded.
 * https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */
export function createOidcProof({ issuers, audience, email, claims = {}, findKey, now }: OidcOptions): VerifyProof {
  return async ({ headers }): Promise<Verdict> => {
    const value = headers['authorization'];
    const token = typeof value === 'string' ? /^Bearer +(\S+)$/i.exec(value)?.[1] : undefined;
    if (token === undefined) return refused('no bearer token');
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
      // Any customer of a public issuer can have a token for any audience: whose it is, only e-mail and claims tell.
      if (email !== undefined && payload['email'] !== email) return refusedFor('email', 'the token is for another e-mail');
      if (email !== undefined && payload['email_verified'] !== true) return refusedFor('email', "the token's e-mail is not verified");
      for (const [claim, values] of Object.entries(claims)) {
        const has = textsOf(payload, claim);
        if (has === undefined) return refusedFor(claim, `the token has no claim ${claim}`);
        if (!values.some((value) => has.includes(value)))
          return refusedFor(claim, `the token's claim ${claim} is not what the receiver demands`);
      }
      return authentic;
    } catch (error) {
      if (error instanceof ProofUnavailable) throw error;
      return describeRefusal(error);
    }
  };
}

/** The values of a claim as texts; undefined where the token has no such claim. What is inside an object counts as nothing. */
function textsOf(payload: JWTPayload, claim: string): readonly string[] | undefined {
  if (!Object.hasOwn(payload, claim)) return undefined;
  const value = payload[claim];
  if (Array.isArray(value)) return value.filter((entry): entry is string => typeof entry === 'string');
  // A longer number may have been another one before it was parsed.
  const isExact = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
  return isExact ? [String(value)] : [];
}

function refusedFor(claim: string, why: string): Verdict {
  return { kind: 'refused', why, claim };
}

/** Which check failed, in jose's codes: its messages may hold parts of the token. */
function describeRefusal(error: unknown): Verdict {
  // Of a token whose signature is right.
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return refusedFor(error.claim, `the token's ${error.claim} is not what is expected (${error.code})`);
  if (error instanceof errors.JOSEError) return refused(`the token is not valid (${error.code})`);
  return refused('the token is not valid (its key cannot be used)');
}
