import { BoundedMap } from '../async/bounded-map.ts';
import { PermanentError } from '../model/errors.ts';
import { formatRepository } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { type Clock, describeBody } from './answer-errors.ts';
import type { Try } from './authentication.ts';
import type { HttpRequest } from './http.ts';

/**
 * Remembers what registries refuse at present. Some count the failed logins of an address, so a refused request is not repeated at once: the pauses grow with the
 * time since the first refusal, and one request at a time tries again.
 */
export interface Denials {
  /**
   * Begins a request and returns its time. Throws the known refusal instead if it is newer than `heardAt`, when the caller received a reason to ask;
   * without `heardAt`, the registry is always asked.
   */
  begin(key: string, heardAt?: number): number;
  /** Records a refusal; the error says when to try again. */
  refuse(key: string, askedAt: number, message: string): PermanentError;
  /** Records that the registry has answered. */
  forget(key: string): void;
}

/** Times are in ms since 1970. */
interface Denial {
  readonly message: string;
  /** The first refusal in a row. */
  readonly since: number;
  /** The time of the last request. */
  askedAt: number;
  until: number;
}

const shortestMs = 5_000;
const longestMs = 1_800_000;
const maxDenials = 10_000;
/** After this many of its pauses a refusal is forgotten: others may have been answered since. */
const forgottenAfter = 4;
// Jitter, so that requests that were refused together are not repeated together.
const spread = 0.1;
const minSpreadMs = 500;

/** Creates an empty memory. */
export function createDenials({ now, random }: Clock): Denials {
  const denials = new BoundedMap<string, Denial>(maxDenials);
  const denied = (message: string, until: number) => {
    const spreadMs = Math.max((until - now()) * spread, minSpreadMs) * random();
    return new PermanentError('RegistryDenied', message, { retryAt: new Date(Math.ceil(until + spreadMs)) });
  };
  return {
    begin(key, heardAt) {
      const at = now();
      const known = denials.get(key);
      if (known === undefined) return at;
      const until = heardAt === undefined ? at : heardAt <= known.askedAt ? known.until : known.askedAt + shortestMs;
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

/** The message must fit into a condition. */
const maxListed = 12;

/** Who reads a message: the author of a policy may see the credentials that the policy names, the operator all of them. */
type Reader = 'author' | 'operator';

/** A message that no credential was accepted: lists each of them with its result, as far as the reader may see it. */
export function describeDenial(source: ImageSource, { registry, what }: HttpRequest, tries: readonly Try[], reader: Reader): string {
  const name = formatRepository(source);
  const listed = tries.slice(0, maxListed).map((tried) => `${tried.source}${describeTry(tried, reader)}`);
  const more = tries.length > maxListed ? [`and ${tries.length - maxListed} more`] : [];
  const hadCredential = tries.some((tried) => tried.kind === 'refused' && tried.credential !== undefined);
  const remedy = hadCredential
    ? `check that the credentials are right and may pull ${name}`
    : `if ${name} exists, provide credentials that may pull it, for example in the policy's pullSecrets`;
  return `${what}: ${registry.name} gives no access: ${[...listed, ...more].join('; ')}. To do: ${remedy}`;
}

/** The error if a credential that might be accepted cannot be read. */
export function unreadableError(what: string, { source, isOwn, error }: Extract<Try, { kind: 'failed' }>): Error {
  return new Error(`${what}: cannot read the credentials of ${source}`, isOwn ? { cause: error } : {});
}

function describeTry(tried: Try, reader: Reader): string {
  const isVisible = tried.isOwn || reader === 'operator';
  switch (tried.kind) {
    case 'none':
      return isVisible ? ` ${tried.why}` : ' has none for it';
    case 'failed':
      return ' cannot be read';
    case 'accepted':
      return ' is accepted';
    case 'refused': {
      const { answer, credential } = tried;
      const user = isVisible ? ` (user ${credential?.username})` : '';
      const whom = credential ? user : ' access';
      return `${whom} was refused ${answer ? `with ${answer.status}${describeBody(answer.body)}` : 'by the token server'}`;
    }
  }
}
