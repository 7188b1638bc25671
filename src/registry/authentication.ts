import { describeError } from '../core/errors.ts';
import { formatRepository } from '../core/image-reference.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';
import { abortable } from './abortable.ts';
import { createAttempts, isRefusal } from './attempt.ts';
import { BoundedMap } from './bounded-map.ts';
import { type Credential, type CredentialOffer, type CredentialSource, isCredential, sameCredential } from './credential.ts';
import { deniedError, describeDenial, unreadableError } from './denied-error.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

export interface AuthenticationOptions {
  http: Http;
  tokens: Tokens;
  credentials: CredentialSource;
  /** The versions of the credentials for a source, as far as they are known: with others another one may be the best. */
  credentialVersions: (source: ImageSource) => string;
  /** Called with what the author of a policy is not told. */
  onDetails: (registry: string, why: string) => void;
}

/** Sends a request about a repository with whatever the registry wants to see; the answer is never the registry's own 401 or 403. */
export type AuthenticatedHttp = (source: ImageSource, request: HttpRequest) => Promise<HttpAnswer>;

/** What came of one offer (`none`: it had no credential · `failed`: it cannot be known whether it has one). `isOwn`: the policy itself names it. */
export type Try = { readonly source: string; readonly isOwn: boolean } & (
  | { readonly kind: 'accepted'; readonly answer: HttpAnswer }
  | { readonly kind: 'refused'; readonly credential?: Credential | undefined; readonly answer?: HttpAnswer | undefined }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: unknown }
);

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
export function createAuthentication({
  http,
  tokens,
  credentials,
  credentialVersions,
  onDetails,
}: AuthenticationOptions): AuthenticatedHttp {
  const attempt = createAttempts(http, tokens);
  const worked = new BoundedMap<string, string>(maxRemembered);

  const use = async (source: ImageSource, request: HttpRequest, offer: Offered, credential?: Credential): Promise<Try> => {
    const answer = await attempt(source, request, credential);
    const isRefused = answer === undefined || isRefusal(request, answer);
    const whose = whoseOf(offer);
    return isRefused ? { kind: 'refused', ...whose, credential, answer } : { kind: 'accepted', ...whose, answer };
  };

  const fail = ({ what, registry }: HttpRequest, tried: Extract<Try, { kind: 'failed' }>) => {
    onDetails(registry.name, `${what}: cannot read the credentials of ${tried.source}: ${describeError(tried.error)}`);
    return unreadableError(what, tried);
  };

  const tryOffer = async (source: ImageSource, request: HttpRequest, offer: CredentialOffer): Promise<Try> => {
    const known = await readOffer(offer, request, false);
    if ('kind' in known) return known;
    const first = await use(source, request, offer, known);
    if (first.kind === 'accepted') return first;
    const renewed = await readOffer(offer, request, true);
    if ('kind' in renewed) return renewed.kind === 'failed' ? renewed : first;
    return sameCredential(known, renewed) ? first : use(source, request, offer, renewed);
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
      const tried = offer === undefined ? await use(source, request, anonymous) : await tryOffer(source, request, offer);
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
    if (unreadable?.kind === 'failed') throw fail(request, unreadable);
    if (hidden !== undefined) return hidden;

    for (const offer of offers) {
      const index = tries.findIndex(({ kind, source: name }) => kind === 'none' && name === offer.source);
      if (index === -1) continue;
      const renewed = await readOffer(offer, request, true);
      const tried = 'kind' in renewed ? renewed : await use(source, request, offer, renewed);
      if (tried.kind === 'failed') throw fail(request, tried);
      if (tried.kind === 'accepted') {
        if (tried.answer.status < 400) worked.set(key, offer.source);
        return tried.answer;
      }
      tries[index] = tried;
    }
    onDetails(request.registry.name, describeDenial(source, request, tries, 'operator'));
    throw deniedError(source, request, tries);
  };
}

/** As far as an error tells whose it was. */
type Offered = Pick<CredentialOffer, 'source' | 'isOwn'>;

function whoseOf({ source, isOwn = false }: Offered): Pick<Try, 'source' | 'isOwn'> {
  return { source, isOwn };
}

function bestFirst(candidates: readonly Candidate[], best: string | undefined): Candidate[] {
  return candidates.toSorted((a, b) => Number(b.source === best) - Number(a.source === best));
}

async function readOffer(offer: CredentialOffer, { signal }: HttpRequest, refresh: boolean): Promise<Credential | Try> {
  const whose = whoseOf(offer);
  try {
    const read = await abortable(offer.read({ refresh, signal }), signal);
    return isCredential(read) ? read : { kind: 'none', ...whose, why: read.why };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'failed', ...whose, error };
  }
}
