/** Derives from the health of Redis whether pushes can be stored, and what has to be corrected. */
import type { ConnectionFailure } from './connection-failures.ts';
import type { RedisHealth } from './redis-health.ts';

/** The share of the memory above which pushes are refused, because workers need memory to finish their jobs. */
export const maxMemoryShare = 0.8;

/** What to do with a Redis that may lose pushes: `enforce` refuses pushes, `warn` and `ignore` accept them. */
export type Durability = 'warn' | 'enforce' | 'ignore';

/** Why pushes cannot be stored at present, or undefined. */
export function refusalOf({ memoryShare, durabilityProblem }: RedisHealth, durability: Durability): string | undefined {
  if (memoryShare > maxMemoryShare) return `Redis uses ${Math.round(memoryShare * 100)} % of its maxmemory`;
  if (durability === 'enforce' && durabilityProblem !== undefined) return `redis.durability is enforce: ${durabilityProblem}`;
  return undefined;
}

/** The health in one line: the error, or else the durability problem and the used memory; undefined if there is nothing to say. */
export function describeHealth({ memoryShare, durabilityProblem, error }: RedisHealth): string | undefined {
  const share = memoryShare > 0 ? `${Math.round(memoryShare * 100)} % of maxmemory in use` : undefined;
  return error ?? ([durabilityProblem, share].filter(Boolean).join('; ') || undefined);
}

/** The settings of the connection to Redis; `password` is absent if it has no setting of its own. */
interface RedisSettings {
  readonly url: string;
  readonly password?: unknown;
  readonly durability: Durability;
}

/** The setting that has to be corrected, and how. */
export type Correction = Pick<ConnectionFailure, 'setting' | 'remedy'>;

/** What is reported about Redis when its health has changed; `redis` is its URL without a login. */
export type RedisState =
  | { readonly kind: 'silent'; readonly redis: string; readonly why: string | undefined; readonly correction: Correction | undefined }
  | { readonly kind: 'otherDatabase'; readonly redis: string; readonly correction: Correction }
  | { readonly kind: 'mayLosePushes'; readonly why: string }
  | { readonly kind: 'ready' };

/** The state that the health amounts to under these settings. */
export function stateOf(health: RedisHealth, { url, password, durability }: RedisSettings): RedisState {
  const { reachable, durabilityProblem, error, failure } = health;
  const correction = failure && correctionOf(failure, url, password !== undefined);
  if (!reachable) return { kind: 'silent', redis: withoutLogin(url), why: error, correction };
  if (correction !== undefined) return { kind: 'otherDatabase', redis: withoutLogin(url), correction };
  if (durabilityProblem === undefined || durability === 'ignore') return { kind: 'ready' };
  return { kind: 'mayLosePushes', why: durabilityProblem };
}

function correctionOf({ setting, remedy }: ConnectionFailure, url: string, hasPassword: boolean): Correction {
  return { setting: setting === 'password' && !hasPassword && isLoginWritten(url) ? 'url' : setting, remedy };
}

function isLoginWritten(url: string): boolean {
  return new URL(url).password !== '';
}

function withoutLogin(text: string): string {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}
