/** One challenge of a WWW-Authenticate header (RFC 9110 §11.6.1); its scheme and parameter names are in lower case. */
export interface Challenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

// These patterns are sticky: each is tried exactly where the previous match ended, so that the time is linear in the length of the header.
const separators = /[\s,]*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const token68 = /[ \t]+[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))/y;
const equals = /[ \t]*=[ \t]*/y;
const quoted = /"((?:[^"\\]|\\.)*)"?/sy;
const unquoted = /[^\s,]*/y;

/** The scope of a token for a repository, by its path: https://distribution.github.io/distribution/spec/auth/scope/ */
export type TokenScope = (path: string) => string;

/** The scope that is requested unless the registry's challenge names another: pull only. */
export const pullScope: TokenScope = (path) => `repository:${path}:pull`;

/** The scope of a token for pushing to a repository. */
export const pushScope: TokenScope = (path) => `repository:${path}:pull,push`;

/** The scope of a token for deleting a tag of a repository. */
export const deleteScope: TokenScope = (path) => `repository:${path}:pull,push,delete`;

// The actions that only read. `metadata_read` is Azure's name for the permission to list tags.
const readActions = new Set(['pull', 'metadata_read']);

/**
 * The scope that a challenge for a repository (by its path) names, applied to any repository of the registry. It is limited to reading, whatever the challenge
 * names, or to `write` for a request that writes. Undefined if the challenge names no scope, or the scope of another repository.
 */
export function challengedScope({ parameters: { scope = '' } }: Challenge, path: string, write?: TokenScope): TokenScope | undefined {
  if (/^[\w*.-]{1,64}$/.test(scope)) return () => scope;
  const [, name = '', actions = ''] = /^repository:(\S{1,512}):([a-z_,*]+)$/.exec(scope) ?? [];
  const wanted = actions.split(',').filter((action) => readActions.has(action));
  const isAboutIt = name === path || name.endsWith(`/${path}`);
  if (!isAboutIt || wanted.length === 0) return undefined;
  const prefix = name.slice(0, -path.length);
  if (write !== undefined) return (path) => write(prefix + path);
  return (path) => `repository:${prefix}${path}:${wanted.join(',')}`;
}

/** All challenges in one or several WWW-Authenticate headers, in their order; invalid ones are skipped. */
export function parseChallenges(header: string | readonly string[] | undefined): Challenge[] {
  const headers = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return headers.flatMap(parseHeader);
}

function parseHeader(text: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  let position = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match) position = pattern.lastIndex;
    return match ?? undefined;
  };

  while (take(separators) && position < text.length) {
    const name = take(token)?.[0].toLowerCase();
    if (name === undefined) {
      position++;
    } else if (take(equals)) {
      const string = take(quoted);
      const value = string ? (string[1] ?? '').replace(/\\(.)/gs, '$1') : (take(unquoted)?.[0] ?? '');
      const parameters = challenges.at(-1)?.parameters;
      if (parameters) parameters[name] ??= value;
    } else {
      challenges.push({ scheme: name, parameters: {} });
      take(token68);
    }
  }
  return challenges;
}
