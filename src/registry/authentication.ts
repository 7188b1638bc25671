import { describeError } from '../model/errors.ts';
import { formatRepository } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import { abortable } from '../async/deadline.ts';
import { createAttempts, isRefusal } from './attempt.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { type Credential, type CredentialOffer, type CredentialSource, isCredential, sameCredential } from './credential.ts';
import { type Denials, describeDenial, unreadableError } from './denials.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

export interface AuthenticationOptions {
  http: Http;
  tokens: Tokens;
  denials: Denials;
  credentials: CredentialSource;
  /** The versions of the credentials for a source, as far as they are known: with others another one may be the best. */
  credentialVersions: (source: ImageSource) => string;
  /** Called with details that must not be shown to the author of a policy. */
  onDetails: (registry: string, why: string) => void;
}

/** Sends a request about a repository with whatever the registry wants to see; the answer is never the registry's own 401 or 403. */
export type AuthenticatedHttp = (source: ImageSource, request: HttpRequest) => Promise<HttpAnswer>;

/** What came of one credential, or of an offer (`none`: it had none · `failed`: it cannot be known whether it has one). `isOwn`: the policy itself names it. */
export type Try = { readonly source: string; readonly isOwn: boolean } & (
  | { readonly kind: 'accepted'; readonly credential?: Credential | undefined; readonly answer: HttpAnswer }
  | { readonly kind: 'refused'; readonly credential?: Credential | undefined; readonly answer?: HttpAnswer | undefined }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: unknown }
);

type Refused = Extract<Try, { kind: 'refused' }>;
type NotRead = Exclude<Try, Refused | { kind: 'accepted' }>;

/** An offer, or (without one) to ask anonymously. */
interface Candidate {
  readonly source: string;
  readonly offer?: CredentialOffer;
}

/** What a repository was read with last. */
interface Worked {
  readonly source: string;
  readonly credential: Credential | undefined;
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
  denials,
  credentials,
  credentialVersions,
  onDetails,
}: AuthenticationOptions): AuthenticatedHttp {
  const attempt = createAttempts(http, tokens);
  const worked = new BoundedMap<string, Worked>(maxRemembered);

  const use = async (source: ImageSource, request: HttpRequest, offer: Offered, credential?: Credential) => {
    const answer = await attempt(source, request, credential);
    const isRefused = answer === undefined || isRefusal(request, answer);
    const tried = { ...whoseOf(offer), credential };
    return isRefused ? ({ kind: 'refused', ...tried, answer } as const) : ({ kind: 'accepted', ...tried, answer } as const);
  };

  const fail = ({ what, registry }: HttpRequest, tried: Extract<Try, { kind: 'failed' }>) => {
    onDetails(registry.name, `${what}: cannot read the credentials of ${tried.source}: ${describeError(tried.error)}`);
    return unreadableError(what, tried);
  };

  /** What comes of each credential of an offer, and of those that are new when it is read again because one was refused. */
  const tryOffer = async function* (
    source: ImageSource,
    request: HttpRequest,
    offer: CredentialOffer,
    best: Worked | undefined,
  ): AsyncGenerator<Try, void> {
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

  const ask = async (key: string, source: ImageSource, request: HttpRequest): Promise<HttpAnswer | readonly Try[]> => {
    const best = worked.get(key);
    const offers = credentials(source);
    const candidates: Candidate[] = [...offers.map((offer) => ({ source: offer.source, offer })), anonymous];
    const tries: Try[] = [];
    let hidden: HttpAnswer | undefined;

    for (const { source: name, offer } of bestFirst(candidates, best?.source)) {
      if (offer === undefined && hidden !== undefined) continue;
      for await (const tried of offer === undefined ? [use(source, request, anonymous)] : tryOffer(source, request, offer, best)) {
        tries.push(tried);
        if (tried.kind !== 'accepted') continue;
        const { credential, answer } = tried;
        // A public image is read with a credential as soon as there is one: some registries give more to whom they know.
        const isWorthIt = offer !== undefined || tries.some(({ kind }) => kind === 'refused');
        if (answer.status < 400 && isWorthIt) worked.set(key, { source: name, credential });
        const isLast = name === best?.source && credential?.username === best.credential?.username;
        const isBelieved = isLast && request.kind !== 'tags';
        const named = { ...answer, credentials: name };
        if (answer.status !== 404 || isBelieved) return named;
        hidden ??= named;
      }
    }
    const unreadable = tries.find(({ kind }) => kind === 'failed');
    if (unreadable?.kind === 'failed') throw fail(request, unreadable);
    if (hidden !== undefined) return hidden;

    for (const offer of offers) {
      const index = tries.findIndex(({ kind, source: name }) => kind === 'none' && name === offer.source);
      if (index === -1) continue;
      const renewed = await readOffer(offer, request, true);
      if ('kind' in renewed && renewed.kind === 'failed') throw fail(request, renewed);
      const tried: Try[] = [];
      for (const credential of 'kind' in renewed ? [] : renewed) {
        const last = await use(source, request, offer, credential);
        if (last.kind === 'accepted') {
          if (last.answer.status < 400) worked.set(key, { source: offer.source, credential });
          return { ...last.answer, credentials: offer.source };
        }
        tried.push(last);
      }
      tries.splice(index, 1, ...('kind' in renewed ? [renewed] : tried));
    }
    return tries;
  };

  return async (source, request) => {
    const key = `${formatRepository(source)} ${accessKey(source)} ${credentialVersions(source)}`;
    // Who may pull need not be allowed to list.
    const asked = `${request.kind} ${key}`;
    const askedAt = denials.begin(asked, source.heardAt);
    const found = await ask(key, source, request);
    if ('status' in found) {
      denials.forget(asked);
      return found;
    }
    onDetails(request.registry.name, describeDenial(source, request, found, 'operator'));
    throw denials.refuse(asked, askedAt, describeDenial(source, request, found, 'author'));
  };
}

/** As far as an error shows whose it was. */
type Offered = Pick<CredentialOffer, 'source' | 'isOwn'>;

function whoseOf({ source, isOwn = false }: Offered): Pick<Try, 'source' | 'isOwn'> {
  return { source, isOwn };
}

function bestFirst(candidates: readonly Candidate[], best: string | undefined): Candidate[] {
  return candidates.toSorted((a, b) => Number(b.source === best) - Number(a.source === best));
}

/** The credential that worked last before the others of its offer. */
function lastFirst(credentials: readonly Credential[], best: Worked | undefined): readonly Credential[] {
  const last = best?.credential;
  if (last === undefined) return credentials;
  return credentials.toSorted((a, b) => Number(sameCredential(b, last)) - Number(sameCredential(a, last)));
}

async function readOffer(offer: CredentialOffer, { signal }: HttpRequest, refresh: boolean): Promise<readonly Credential[] | NotRead> {
  const whose = whoseOf(offer);
  try {
    const found = await abortable(offer.read({ refresh, signal }), signal);
    return isCredential(found) ? [found, ...(found.others ?? [])] : { kind: 'none', ...whose, why: found.why };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'failed', ...whose, error };
  }
}
