import { describeConnectionError } from '../../core/model/connection-failure.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import { abortable } from '../../core/async/deadline.ts';
import { createAttempts, isRefusal } from './attempt.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { type Credential, type CredentialOffer, type CredentialSource, isCredential, sameCredential } from './credential.ts';
import { type Denials, describeDenial, unreadableError } from './denials.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

export interface AuthenticationOptions {
  http: Http;
  tokens: Tokens;
  denials: Denials;
  credentials: CredentialSource;
  /** The known versions of a source's credentials; after a change, the credential that worked last is no longer preferred. */
  credentialVersions: (source: ImageSource) => string;
  /** Called with details that must not be shown to the author of a policy. */
  onDetails: (registry: string, why: string) => void;
}

/** Sends an authenticated request, or one without credentials to another host than the registry; the answer is never the registry's own 401 or 403. Throws PermanentError(RegistryDenied) if no credential is accepted. */
export type AuthenticatedHttp = (source: ImageSource, request: HttpRequest) => Promise<HttpAnswer>;

/**
 * The result of a credential, or of an offer without a credential. `none`: the offer has no credential for the image · `failed`: the offer could not be read.
 * `isOwn`: the policy itself names the source.
 */
export type CredentialResult = { readonly source: string; readonly isOwn: boolean } & (
  | { readonly kind: 'accepted'; readonly credential?: Credential | undefined; readonly answer: HttpAnswer }
  | { readonly kind: 'refused'; readonly credential?: Credential | undefined; readonly answer?: HttpAnswer | undefined }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: unknown }
);

type Refused = Extract<CredentialResult, { kind: 'refused' }>;
type WithoutCredential = Exclude<CredentialResult, Refused | { kind: 'accepted' }>;

/** An offer of credentials; without `offer`: anonymous access. */
interface Candidate {
  readonly source: string;
  readonly offer?: CredentialOffer;
}

/** The source and the credential that last gave access to a repository. */
interface LastAccess {
  readonly source: string;
  readonly credential: Credential | undefined;
}

const anonymous: Candidate = { source: 'anonymous' };
const maxRemembered = 10_000;

/**
 * Tries the credentials of a source in this order, until one is accepted:
 * ```
 *  the one that     ──▶ the other offers, from cache, ──▶ anonymous ──▶ offers without a     ──▶ PermanentError(RegistryDenied),
 *  worked last          then read again                   access        credential, read         or an Error (retry) if an
 *  (usually enough)                                                     again                    offer could not be read
 * ```
 * A registry may answer 404 to a user from whom it hides the repository. A 404 is therefore final only with the credential that worked last, or when no other
 * one is left. For a tag list it is final only when no other one is left, because every existing repository has a list.
 */
export function createAuthentication({
  http,
  tokens,
  denials,
  credentials,
  credentialVersions,
  onDetails,
}: AuthenticationOptions): AuthenticatedHttp {
  const attempt = createAttempts(http, tokens);
  const lastAccess = new BoundedMap<string, LastAccess>(maxRemembered);

  const use = async (source: ImageSource, request: HttpRequest, offer: Origin, credential?: Credential) => {
    const answer = await attempt(source, request, credential);
    const isRefused = answer === undefined || isRefusal(request, answer);
    const tried = { ...originOf(offer), credential };
    return isRefused ? ({ kind: 'refused', ...tried, answer } as const) : ({ kind: 'accepted', ...tried, answer } as const);
  };

  const fail = ({ what, registry }: HttpRequest, tried: Extract<CredentialResult, { kind: 'failed' }>) => {
    onDetails(registry.name, `${what}: cannot read the credentials of ${tried.source}: ${describeConnectionError(tried.error)}`);
    return unreadableError(what, tried);
  };

  /** The results of an offer's credentials. If one is refused, the offer is read again, and its new credentials are tried as well. */
  const tryOffer = async function* (
    source: ImageSource,
    request: HttpRequest,
    offer: CredentialOffer,
    best: LastAccess | undefined,
  ): AsyncGenerator<CredentialResult, void> {
    const known = await readOffer(offer, request, false);
    if ('kind' in known) {
      yield known;
      return;
    }
    const refused: Refused[] = [];
    for (const credential of lastFirst(known, best)) {
      const tried = await use(source, request, offer, credential);
      if (tried.kind === 'refused') refused.push(tried);
      else yield tried;
    }
    if (refused.length === 0) return;
    const renewed = await readOffer(offer, request, true);
    if ('kind' in renewed) yield* renewed.kind === 'failed' ? [renewed] : refused;
    for (const credential of 'kind' in renewed ? [] : renewed) {
      const before = refused.find((tried) => tried.credential !== undefined && sameCredential(tried.credential, credential));
      if (before) yield before;
      else if (!known.some((other) => sameCredential(other, credential))) yield await use(source, request, offer, credential);
    }
  };

  const ask = async (key: string, source: ImageSource, request: HttpRequest): Promise<HttpAnswer | readonly CredentialResult[]> => {
    const best = lastAccess.get(key);
    const offers = credentials(source);
    const candidates: Candidate[] = [...offers.map((offer) => ({ source: offer.source, offer })), anonymous];
    const results: CredentialResult[] = [];
    let notFound: HttpAnswer | undefined;

    for (const { source: name, offer } of bestFirst(candidates, best?.source)) {
      if (offer === undefined && notFound !== undefined) continue;
      for await (const tried of offer === undefined ? [use(source, request, anonymous)] : tryOffer(source, request, offer, best)) {
        results.push(tried);
        if (tried.kind !== 'accepted') continue;
        const { credential, answer } = tried;
        // For a public image, a credential is preferred to anonymous access, because some registries have higher limits for authenticated users.
        const isPreferred = offer !== undefined || results.some(({ kind }) => kind === 'refused');
        if (answer.status < 400 && isPreferred) lastAccess.set(key, { source: name, credential });
        const isLast = name === best?.source && credential?.username === best.credential?.username;
        const isFinal = isLast && request.kind !== 'tags';
        const named = { ...answer, credentials: name };
        if (answer.status !== 404 || isFinal) return named;
        notFound ??= named;
      }
    }
    const unreadable = results.find(({ kind }) => kind === 'failed');
    if (unreadable?.kind === 'failed') throw fail(request, unreadable);
    if (notFound !== undefined) return notFound;

    for (const offer of offers) {
      const index = results.findIndex(({ kind, source: name }) => kind === 'none' && name === offer.source);
      if (index === -1) continue;
      const renewed = await readOffer(offer, request, true);
      if ('kind' in renewed && renewed.kind === 'failed') throw fail(request, renewed);
      const tried: CredentialResult[] = [];
      for (const credential of 'kind' in renewed ? [] : renewed) {
        const last = await use(source, request, offer, credential);
        if (last.kind === 'accepted') {
          if (last.answer.status < 400) lastAccess.set(key, { source: offer.source, credential });
          return { ...last.answer, credentials: offer.source };
        }
        tried.push(last);
      }
      results.splice(index, 1, ...('kind' in renewed ? [renewed] : tried));
    }
    return results;
  };

  return async (source, request) => {
    // Pages of a list that the registry redirected get no credentials, which are for the registry only.
    if (request.url.origin !== request.registry.origin) return http(request);
    const key = sourceKey(source, credentialVersions(source));
    // A user who may pull is not always allowed to list tags, so refusals are recorded per kind of request.
    const denialKey = `${request.kind} ${key}`;
    const askedAt = denials.begin(denialKey, source.causedAt);
    const found = await ask(key, source, request);
    if ('status' in found) {
      denials.forget(denialKey);
      return found;
    }
    onDetails(request.registry.name, describeDenial(source, request, found, 'operator'));
    throw denials.refuse(denialKey, askedAt, describeDenial(source, request, found, 'author'));
  };
}

/** The origin of a credential, as error messages show it. */
type Origin = Pick<CredentialOffer, 'source' | 'isOwn'>;

function originOf({ source, isOwn = false }: Origin): Pick<CredentialResult, 'source' | 'isOwn'> {
  return { source, isOwn };
}

function bestFirst(candidates: readonly Candidate[], best: string | undefined): Candidate[] {
  return candidates.toSorted((a, b) => Number(b.source === best) - Number(a.source === best));
}

/** Moves the credential that worked last to the front. */
function lastFirst(credentials: readonly Credential[], best: LastAccess | undefined): readonly Credential[] {
  const last = best?.credential;
  if (last === undefined) return credentials;
  return credentials.toSorted((a, b) => Number(sameCredential(b, last)) - Number(sameCredential(a, last)));
}

async function readOffer(
  offer: CredentialOffer,
  { signal }: HttpRequest,
  refresh: boolean,
): Promise<readonly Credential[] | WithoutCredential> {
  const origin = originOf(offer);
  try {
    const found = await abortable(offer.read({ refresh, signal }), signal);
    return isCredential(found) ? [found, ...(found.others ?? [])] : { kind: 'none', ...origin, why: found.why };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'failed', ...origin, error };
  }
}
