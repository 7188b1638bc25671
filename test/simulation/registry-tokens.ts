/** The token server of the registry (https://distribution.github.io/distribution/spec/auth/token/): everybody may pull, one user may push, and tokens expire. */
import { registryHost } from './images.ts';

/** Who may push. */
export const pusher = { username: 'push', password: 'secret' } as const;

const lifetimeSeconds = 60;

interface Token {
  /** The scopes: `repository:shop/web:pull`. */
  readonly scopes: readonly string[];
  /** When it expires. */
  readonly until: number;
}

/** What a request may do, by its Authorization header: in scopes. */
export function scopesOf(authorization: string | undefined, now: number): readonly string[] {
  const [, text] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  if (text === undefined) return [];
  const { scopes, until } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;
  return now < until ? scopes : [];
}

/** Whether scopes allow an action in a repository. */
export function allows(scopes: readonly string[], path: string, action: string): boolean {
  return scopes.some((scope) => {
    const [, name, actions = ''] = scope.split(':');
    return name === path && actions.split(',').includes(action);
  });
}

/** The challenge to a request that lacks a scope. */
export function challenge(scope: string | undefined): string {
  const base = `Bearer realm="https://${registryHost}/token",service="${registryHost}"`;
  return scope === undefined ? base : `${base},scope="${scope}"`;
}

/** Gives a token for the scopes that are asked for, as far as the user may have them; undefined for a wrong password. */
export function giveToken(
  authorization: string | undefined,
  asked: readonly string[],
  now: number,
): { readonly token: string; readonly expires_in: number } | undefined {
  const basic = `Basic ${Buffer.from(`${pusher.username}:${pusher.password}`).toString('base64')}`;
  if (authorization !== undefined && authorization !== basic) return undefined;
  const scopes = authorization === undefined ? asked.map((scope) => scope.replace(/:[^:]*$/, ':pull')) : asked;
  const token: Token = { scopes, until: now + lifetimeSeconds * 1_000 };
  return { token: Buffer.from(JSON.stringify(token)).toString('base64url'), expires_in: lifetimeSeconds };
}
