import { formatRepository } from '../core/image-reference.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';
import { abortable } from './abortable.ts';
import { createAttempts, isRefusal } from './attempt.ts';
import { BoundedMap } from './bounded-map.ts';
import { type Credential, type CredentialOffer, type CredentialSource, isCredential, sameCredential } from './credential.ts';
import { deniedError, unreadableError } from './denied-error.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

export interface AuthenticationOptions {
  http: Http;
  tokens: Tokens;
  credentials: CredentialSource;
  /** The versions of the credentials for a source, as far as they are known: with others another one may be the best. */
  credentialVersions: (source: ImageSource) => string;
}

/** Sends a request about a repository with whatever the registry wants to see; the answer is never the registry's own 401 or 403. */
export type AuthenticatedHttp = (source: ImageSource, request: HttpRequest) => Promise<HttpAnswer>;

/** What came of one offer (`none`: it had no credential · `failed`: it cannot be known whether it has one). */
export type Try =
  | { readonly kind: 'accepted'; readonly source: string; readonly answer: HttpAnswer }
  | {
      readonly kind: 'refused';
      readonly source: string;
      readonly credential?: Credential | undefined;
      readonly answer?: HttpAnswer | undefined;
    }
  | { readonly kind: 'none'; readonly source: string; readonly why: string }
  | { readonly kind: 'failed'; readonly source: string; readonly error: unknown };

/** An offer, or (without one) to ask anonymously. */
interface Candidate {
  readonly source: string;
  readonly offer?: CredentialOffer;
}

const anonymous: Candidate = { source: 'anonymous' };
const maxRemembered = 10_000;

/**
 * ```
 *  what worked last ──▶ the other offers in their order, ──▶ anonymously ──▶ offers that had none, ──▶ PermanentError(RegistryDenied),
 *  (warm: the only      each as it is known, then                            read again                or an Error (retry) where an
 *  request)             read again                                                                     offer could not be read
 * ```
 * A registry may say 404 to whom it hides the repository: that is believed of what worked before, and when there is no other credential. Tags come and
 * go, but a repository with tags has a list of them: where there is none, the others are asked too.
 */
export function createAuthentication({ http, tokens, credentials, credentialVersions }: AuthenticationOptions): AuthenticatedHttp {
  const attempt = createAttempts(http, tokens);
  const worked = new BoundedMap<string, string>(maxRemembered);

  const use = async (source: ImageSource, request: HttpRequest, name: string, credential?: Credential): Promise<Try> => {
    const answer = await attempt(source, request, credential);
    const isRefused = answer === undefined || isRefusal(request, answer);
    return isRefused ? { kind: 'refused', source: name, credential, answer } : { kind: 'accepted', source: name, answer };
  };

  const tryOffer = async (source: ImageSource, request: HttpRequest, offer: CredentialOffer): Promise<Try> => {
    const known = await readOffer(offer, request, false);
    if ('kind' in known) return known;
    const first = await use(source, request, offer.source, known);
    if (first.kind === 'accepted') return first;
    const renewed = await readOffer(offer, request, true);
    if ('kind' in renewed) return renewed.kind === 'failed' ? renewed : first;
    return sameCredential(known, renewed) ? first : use(source, request, offer.source, renewed);
  };

  return async (source, request) => {
    const key = `${formatRepository(source)} ${accessKey(source)} ${credentialVersions(source)}`;
    const best = worked.get(key);
    const offers = credentials(source);
    const candidates: Candidate[] = [...offers.map((offer) => ({ source: offer.source, offer })), anonymous];
    const tries: Try[] = [];
    let hidden: HttpAnswer | undefined;

    for (const { source: name, offer } of bestFirst(candidates, best)) {
      if (offer === undefined && hidden !== undefined) continue;
      const tried = offer === undefined ? await use(source, request, name) : await tryOffer(source, request, offer);
      tries.push(tried);
      if (tried.kind !== 'accepted') continue;
      // A public image is read with a credential as soon as there is one: some registries give more to whom they know.
      const isWorthIt = offer !== undefined || tries.some(({ kind }) => kind === 'refused');
      if (tried.answer.status < 400 && isWorthIt) worked.set(key, name);
      const isBelieved = name === best && request.kind !== 'tags';
      if (tried.answer.status !== 404 || isBelieved) return tried.answer;
      hidden ??= tried.answer;
    }
    const unreadable = tries.find(({ kind }) => kind === 'failed');
    if (unreadable?.kind === 'failed') throw unreadableError(request.what, unreadable);
    if (hidden !== undefined) return hidden;

    for (const offer of offers) {
      const index = tries.findIndex(({ kind, source: name }) => kind === 'none' && name === offer.source);
      if (index === -1) continue;
      const renewed = await readOffer(offer, request, true);
      const tried = 'kind' in renewed ? renewed : await use(source, request, offer.source, renewed);
      if (tried.kind === 'failed') throw unreadableError(request.what, tried);
      if (tried.kind === 'accepted') {
        if (tried.answer.status < 400) worked.set(key, offer.source);
        return tried.answer;
      }
      tries[index] = tried;
    }
    throw deniedError(source, request, tries);
  };
}

function bestFirst(candidates: readonly Candidate[], best: string | undefined): Candidate[] {
  return candidates.toSorted((a, b) => Number(b.source === best) - Number(a.source === best));
}

async function readOffer(offer: CredentialOffer, { signal }: HttpRequest, refresh: boolean): Promise<Credential | Try> {
  const { source } = offer;
  try {
    const read = await abortable(offer.read({ refresh, signal }), signal);
    return isCredential(read) ? read : { kind: 'none', source, why: read.why };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'failed', source, error };
  }
}
