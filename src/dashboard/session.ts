/** Sessions: who signed in, encrypted in a cookie, so that they outlive restarts and no process has to remember them. */
import { createHash } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';

/** How the requests of a session are authenticated at the API. */
const sessionSchema = z.discriminatedUnion('kind', [
  /** With a token that the API server knows. */
  z.object({ kind: z.literal('token'), token: z.string() }),
  /** As a user that an identity provider named: sent with operations.proxy.secret. */
  z.object({ kind: z.literal('named'), user: z.string(), groups: z.array(z.string()) }),
]);
export type Session = z.output<typeof sessionSchema>;

/** What an identity provider must return with the user. */
const signInSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), back: z.string() });
export type SignInUnderWay = z.output<typeof signInSchema>;

/** Encrypts what cookies hold. A text of one purpose cannot be used for another. */
export interface Seal {
  session: Sealed<Session>;
  signIn: Sealed<SignInUnderWay>;
}

interface Sealed<T> {
  close(value: T): Promise<string>;
  /** Returns undefined for a text that was not closed here, or too long ago. */
  open(text: string): Promise<T | undefined>;
}

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const;
const signInSeconds = 600;

/** Seals with a key from `secret`, at least 16 characters; sessions end after `lifetimeMs`. */
export function createSeal(secret: () => string, lifetimeMs: number): Seal {
  return {
    session: sealed(secret, 'session', Math.ceil(lifetimeMs / 1_000), sessionSchema),
    signIn: sealed(secret, 'sign-in', signInSeconds, signInSchema),
  };
}

function sealed<T extends object>(secret: () => string, purpose: string, seconds: number, schema: z.ZodType<T>): Sealed<T> {
  // Read each time: a mounted secret may be replaced.
  const key = () => createHash('sha256').update(`image-watcher dashboard ${purpose} ${secret()}`).digest();
  return {
    close: (value) =>
      new EncryptJWT({ value }).setProtectedHeader(algorithms).setIssuedAt().setExpirationTime(`${seconds}s`).encrypt(key()),
    async open(text) {
      try {
        const { payload } = await jwtDecrypt(text, key(), {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
          maxTokenAge: seconds,
        });
        return schema.parse(payload['value']);
      } catch {
        return undefined;
      }
    },
  };
}

/** Browsers keep at most 4096 bytes for a cookie with its name and attributes. */
const chunkLength = 3_800;
/** The headers of a request are limited to 16 KiB. */
const maxChunks = 3;

/** Splits a value over cookies `NAME.0`, `NAME.1` …; undefined if it is too long. */
export function splitCookie(name: string, value: string): readonly (readonly [string, string])[] | undefined {
  const count = Math.ceil(value.length / chunkLength);
  if (count > maxChunks) return undefined;
  return Array.from({ length: count }, (_, index) => [`${name}.${index}`, value.slice(index * chunkLength, (index + 1) * chunkLength)]);
}

/** Joins the cookies of a value. */
export function joinCookie(name: string, cookies: Readonly<Record<string, string | undefined>>): string {
  let value = '';
  for (let index = 0; index < maxChunks; index++) {
    const chunk = cookies[`${name}.${index}`];
    if (chunk === undefined) break;
    value += chunk;
    // What is left of a longer, older one does not belong to it.
    if (chunk.length < chunkLength) break;
  }
  return value;
}

/** The names of all cookies that a value may have. */
export function cookieNames(name: string): readonly string[] {
  return Array.from({ length: maxChunks }, (_, index) => `${name}.${index}`);
}
