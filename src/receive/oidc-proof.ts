import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { authentic, ProofUnavailable, refused, type Verdict, type VerifyProof } from './proof.ts';

export interface OidcOptions {
  readonly issuers: readonly string[];
  readonly audience: string;
  /** The service account that must be named, as verified. */
  readonly email?: string | undefined;
  readonly findKey: JWTVerifyGetKey;
  readonly now: () => Date;
}

/** Clocks differ; Google's own libraries allow as much. */
const toleranceSeconds = 10;
/** Signatures that nobody can make who only has the public key. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const;

/**
 * The bearer token that an identity provider gave to the sender: signature, issuer, audience, times, and the e-mail of the service account.
 * https://docs.cloud.google.com/pubsub/docs/authenticate-push-subscriptions
 */
export function createOidcProof({ issuers, audience, email, findKey, now }: OidcOptions): VerifyProof {
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
      if ((payload.iat ?? 0) > currentDate.getTime() / 1_000 + toleranceSeconds) return refused('the token is not valid yet');
      // Any customer of a public issuer can have a token for any audience: whose it is, only the e-mail tells.
      if (email !== undefined && payload['email'] !== email) return refused('the token is for another e-mail');
      if (email !== undefined && payload['email_verified'] !== true) return refused("the token's e-mail is not verified");
      return authentic;
    } catch (error) {
      if (error instanceof ProofUnavailable) throw error;
      return refused(describeRefusal(error));
    }
  };
}

/** Which check failed, in jose's codes: its messages may hold parts of the token. */
function describeRefusal(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) return `the token's ${error.claim} is not what is expected (${error.code})`;
  if (error instanceof errors.JOSEError) return `the token is not valid (${error.code})`;
  return 'the token is not valid (its key cannot be used)';
}
