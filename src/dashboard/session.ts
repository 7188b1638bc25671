/** Sessions of users, encrypted in a cookie. They survive restarts, and no process has to store them. */
import { createHash } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { BoundedMap } from '../core/async/bounded-map.ts';

/** The credentials of a session for requests to the API. */
const sessionSchema = z.discriminatedUnion('kind', [
  /** A token that the API server accepts. */
  z.object({ kind: z.literal('token'), token: z.string() }),
  /** A user whom an identity provider named. Requests are sent with operations.proxy.secret. */
  z.object({ kind: z.literal('named'), user: z.string(), groups: z.array(z.string()) }),
]);
export type Session = z.output<typeof sessionSchema>;

/** The values that an identity provider must return with the user. */
const signInSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), back: z.string() });
export type SignInUnderWay = z.output<typeof signInSchema>;

/** Encrypts the contents of cookies. A text for one purpose cannot be used for another. */
export interface Seal {
  session: Sealed<Session>;
  signIn: Sealed<SignInUnderWay>;
}

interface Sealed<T> {
  close(value: T): Promise<string>;
  /** Decrypts a text; undefined if it was not encrypted here, or has expired. */
  open(text: string): Promise<T | undefined>;
}

const algorithms = { alg: 'dir', enc: 'A256GCM' } as const;
const signInSeconds = 600;
/** How many texts are remembered with what they contain: an open page sends the same one with every request, and to decrypt it costs as much as to read the page. */
const maxOpened = 200;

interface Opened<T> {
  readonly secret: string;
  /** When it expires, in ms since 1970. */
  readonly until: number;
  readonly value: T;
}

/** Creates a seal with a key derived from `secret`, which has at least 16 characters. Sessions end after `lifetimeMs`. */
export function createSeal(secret: () => string, lifetimeMs: number): Seal {
  return {
    session: sealed(secret, 'session', Math.ceil(lifetimeMs / 1_000), sessionSchema),
    signIn: sealed(secret, 'sign-in', signInSeconds, signInSchema),
  };
}

function sealed<T extends object>(secret: () => string, purpose: string, seconds: number, schema: z.ZodType<T>): Sealed<T> {
  // The secret is read each time, because a mounted secret may be replaced.
  const keyOf = (used: string) => createHash('sha256').update(`image-watcher dashboard ${purpose} ${used}`).digest();
  const opened = new BoundedMap<string, Opened<T>>(maxOpened);
  return {
    close: (value) =>
      new EncryptJWT({ value }).setProtectedHeader(algorithms).setIssuedAt().setExpirationTime(`${seconds}s`).encrypt(keyOf(secret())),
    async open(text) {
      try {
        const used = secret();
        const known = opened.get(text);
        if (known !== undefined && known.secret === used && Date.now() < known.until) return known.value;
        const { payload } = await jwtDecrypt(text, keyOf(used), {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
          maxTokenAge: seconds,
        });
        const value = schema.parse(payload['value']);
        const { exp = 0, iat = 0 } = payload;
        opened.set(text, { secret: used, until: Math.min(exp, iat + seconds) * 1_000, value });
        return value;
      } catch {
        return undefined;
      }
    },
  };
}

/** The length of a part of a value. Browsers store at most 4096 bytes for a cookie with its name and attributes. */
const chunkLength = 3_800;
/** The maximum number of parts. The headers of a request are limited to 16 KiB. */
const maxChunks = 3;

/** Splits a value over cookies `NAME.0`, `NAME.1` …; undefined if it is too long. */
export function splitCookie(name: string, value: string): readonly (readonly [string, string])[] | undefined {
  const count = Math.ceil(value.length / chunkLength);
  if (count > maxChunks) return undefined;
  return Array.from({ length: count }, (_, index) => [`${name}.${index}`, value.slice(index * chunkLength, (index + 1) * chunkLength)]);
}

/** Joins the cookies that contain a value. */
export function joinCookie(name: string, cookies: Readonly<Record<string, string | undefined>>): string {
  let value = '';
  for (let index = 0; index < maxChunks; index++) {
    const chunk = cookies[`${name}.${index}`];
    if (chunk === undefined) break;
    value += chunk;
    // A shorter part is the last one. Further cookies are left from a longer, older value.
    if (chunk.length < chunkLength) break;
  }
  return value;
}

/** The names of all cookies that a value may have. */
export function cookieNames(name: string): readonly string[] {
  return Array.from({ length: maxChunks }, (_, index) => `${name}.${index}`);
}
