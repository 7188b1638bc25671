/** Explains why there is no connection to Redis, and what to do about it. */
import { describeRedisError } from './connection.ts';

/** The setting that most probably has to be corrected. */
export type RedisSetting = 'url' | 'password' | 'sentinels' | 'cluster';

/** What a failed connection means. */
export interface ConnectionFailure {
  /** The error of the connection, without the parts that change with each try. */
  readonly why: string;
  readonly setting: RedisSetting;
  readonly remedy: string;
}

const failures: readonly (readonly [pattern: RegExp, setting: RedisSetting, remedy: string])[] = [
  [
    /All sentinels are unreachable/,
    'sentinels',
    'start the Sentinels, or correct their addresses and the name of their group, which is the host of redis.url',
  ],
  [
    /^WRONGPASS|^ERR invalid password/,
    'password',
    'Redis refuses the password: set redis.password, or the password in redis.url, to that of Redis, and restart',
  ],
  [/^NOAUTH/, 'password', 'Redis requires a password: set redis.password to {env: NAME} or {file: PATH}, and restart'],
  [/^NOPERM/, 'url', 'the user of Redis lacks permissions: grant it all commands on the keys of redis.prefix'],
  [
    /^ERR DB index is out of range/,
    'url',
    'Redis does not have the database that the URL ends with, and uses 0 instead: correct the number',
  ],
  [/^MOVED|^CLUSTERDOWN|^CROSSSLOT/, 'cluster', 'the server is part of a Redis Cluster: set redis.cluster to true'],
  [
    /cluster support disabled|Failed to refresh slots cache/,
    'cluster',
    'no Redis Cluster answers there: correct redis.url, or set redis.cluster to false for a single server',
  ],
  [/takes no writes/, 'url', 'use the address of the primary, or redis.sentinels'],
  [/ENOTFOUND|EAI_AGAIN/, 'url', 'no such host is known here: correct the host, or the DNS of this machine'],
  [/ECONNREFUSED/, 'url', 'nothing listens there: start Redis, or correct the host and the port'],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/,
    'url',
    'there is no way to that host: correct the address, or let network policies and firewalls pass it',
  ],
  [
    /disconnected before secure TLS|wrong version number|EPROTO/,
    'url',
    'the port does not speak TLS: begin the URL with redis: instead of rediss:, or use the port for TLS',
  ],
  [
    /certificate|CERT_/i,
    'url',
    'the certificate of Redis is not trusted: use the name that it is for, and name its authority in the variable NODE_EXTRA_CA_CERTS',
  ],
  [
    /ECONNRESET|EPIPE|Connection is closed|writeable|no connection to it|connect timed? ?out/i,
    'url',
    'the connection ends at once: a port for TLS needs a URL that begins with rediss:',
  ],
];

/** What an error of a connection means; undefined for errors that are not about the connection. */
export function explainConnection(error: unknown): ConnectionFailure | undefined {
  const text = textOf(error);
  const found = failures.find(([pattern]) => pattern.test(text));
  return found && { why: text, setting: found[1], remedy: found[2] };
}

/** Whether the URL names a database that does not exist. Redis still answers then, from database 0. */
export function isWrongDatabase({ why }: ConnectionFailure): boolean {
  return why.startsWith('ERR DB index');
}

/** The text of an error, the same at each try: which command Redis refuses first for the lack of a password, changes. The error of a Cluster holds the error of its last node. */
function textOf(error: unknown): string {
  const own = describeRedisError(error)
    .replace(/ Retrying from scratch after \d+ms\./, '')
    .replace(/^NOAUTH .*/s, 'NOAUTH Authentication required.');
  const ofNode =
    error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error ? error.lastNodeError : undefined;
  if (ofNode === undefined) return own;
  return explainConnection(ofNode) === undefined ? `${own} ${ofNode.message}` : textOf(ofNode);
}
