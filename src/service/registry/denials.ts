import { BoundedMap } from '../../core/async/bounded-map.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { type Clock, describeBody } from './answer-errors.ts';
import type { CredentialResult } from './authentication.ts';
import type { HttpRequest } from './http.ts';

/**
 * Remembers refused requests. Some registries count failed logins per address, so a refused request is repeated only after a pause. The pauses grow with the
 * time since the first refusal, and one request at a time finds out whether the refusal still holds.
 */
export interface Denials {
  /**
   * Begins a request and returns its time. Throws the known refusal instead if it is newer than `causedAt`, the time of the event that caused the request.
   * Without `causedAt`, the request is always sent.
   */
  begin(key: string, causedAt?: number): number;
  /** Records a refusal; returns the error, which contains the time of the next attempt. */
  refuse(key: string, askedAt: number, message: string): PermanentError;
  /** Records that the request is no longer refused. */
  forget(key: string): void;
}

/** A remembered refusal; its times are in ms since 1970. */
interface Denial {
  readonly message: string;
  /** The time of the first refusal in a row. */
  readonly since: number;
  /** The time of the last request. */
  askedAt: number;
  until: number;
}

const shortestMs = 5_000;
const longestMs = 1_800_000;
const maxDenials = 10_000;
/** The number of pauses after its end at which a refusal is forgotten. */
const forgottenAfter = 4;
// The jitter of a pause, as a share, so that requests that were refused together are not repeated together.
const spread = 0.1;
const minSpreadMs = 500;

/** Creates an empty memory of refusals. */
export function createDenials({ now, random }: Clock): Denials {
  const denials = new BoundedMap<string, Denial>(maxDenials);
  const denied = (message: string, until: number) => {
    const spreadMs = Math.max((until - now()) * spread, minSpreadMs) * random();
    return new PermanentError('RegistryDenied', message, { retryAt: new Date(Math.ceil(until + spreadMs)) });
  };
  return {
    begin(key, causedAt) {
      const at = now();
      const known = denials.get(key);
      if (known === undefined) return at;
      const until = causedAt === undefined ? at : causedAt <= known.askedAt ? known.until : known.askedAt + shortestMs;
      if (at < until) throw denied(known.message, until);
      if (at > known.until + forgottenAfter * (known.until - known.askedAt)) denials.delete(key);
      else Object.assign(known, { askedAt: at, until: Math.max(known.until, at + shortestMs) });
      return at;
    },
    refuse(key, askedAt, message) {
      const at = now();
      const since = denials.get(key)?.since ?? askedAt;
      const until = at + Math.min(Math.max(at - since, shortestMs), longestMs);
      denials.set(key, { message, since, askedAt, until });
      return denied(message, until);
    },
    forget: (key) => void denials.delete(key),
  };
}

/** How many credentials a message lists, so that it fits into a condition. */
const maxListed = 12;

/** The reader of a message. The author of a policy may see only the credentials that the policy names; the operator may see all of them. */
type Reader = 'author' | 'operator';

/** The message that no credential was accepted, with the result of each, as far as the reader may see it. */
export function describeDenial(
  source: ImageSource,
  { registry, what, kind }: HttpRequest,
  results: readonly CredentialResult[],
  reader: Reader,
): string {
  const name = formatRepository(source);
  const listed = results.slice(0, maxListed).map((result) => `${result.source}${describeResult(result, reader)}`);
  const more = results.length > maxListed ? [`and ${results.length - maxListed} more`] : [];
  const hadCredential = results.some((result) => result.kind === 'refused' && result.credential !== undefined);
  const remedy =
    kind === 'scan'
      ? `check that the credentials are right and may read the scans of ${name}; a robot account of Harbor needs the permission to read additions of artifacts (artifact-addition: read)`
      : hadCredential
        ? `check that the credentials are right and may pull ${name}`
        : `if ${name} exists, provide credentials that may pull it, for example in the policy's pullSecrets`;
  return `${what}: ${registry.name} gives no access: ${[...listed, ...more].join('; ')}. To do: ${remedy}`;
}

/** The error (retry) for an offer that could not be read, and may have a valid credential. */
export function unreadableError(what: string, { source, isOwn, error }: Extract<CredentialResult, { kind: 'failed' }>): Error {
  return new Error(`${what}: cannot read the credentials of ${source}`, isOwn ? { cause: error } : {});
}

function describeResult(result: CredentialResult, reader: Reader): string {
  const isVisible = result.isOwn || reader === 'operator';
  switch (result.kind) {
    case 'none':
      return isVisible ? ` ${result.why}` : ' has none for it';
    case 'failed':
      return ' cannot be read';
    case 'accepted':
      return ' is accepted';
    case 'refused': {
      const { answer, credential } = result;
      const user = isVisible ? ` (user ${credential?.username})` : '';
      const whom = credential ? user : ' access';
      return `${whom} was refused ${answer ? `with ${answer.status}${describeBody(answer.body)}` : 'by the token server'}`;
    }
  }
}
