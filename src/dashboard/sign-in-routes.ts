/** Sign-in and sign-out: with a Kubernetes token, or at an identity provider. */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getCaller } from '../service/api/routes/installation.ts';
import { cut } from '../core/model/text.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { ApiFailure, createApi } from './api-client.ts';
import { html } from './html.ts';
import type { Identity, OidcClient } from './oidc.ts';
import { problem } from './parts/problem.ts';
import { plainTo } from './parts/said.ts';
import { localPath } from './same-site.ts';
import { fitsIntoHeader, senderOf, sessionCookies, type Identification } from './sender.ts';
import { splitCookie, type Session } from './session.ts';
import { type DashboardMeans, queryOf, sendPage, textsOf } from './visit.ts';

export interface SignInMeans extends DashboardMeans {
  readonly identification: Extract<Identification, { kind: 'session' }>;
  readonly oidc?: OidcClient | undefined;
  /** The address of the dashboard in browsers; without it, the address of the request is used. */
  readonly publicUrl?: string | undefined;
  readonly cookie: CookieSerializeOptions;
  /** The maximum number of attempts to sign in from one address in a minute. */
  readonly triesPerMinute: number;
  readonly logger: Logger;
}

/** Adds the routes for sign-in and sign-out to the app. */
export function addSignInRoutes(app: FastifyInstance, means: SignInMeans): void {
  const { identification, oidc, cookie, logger, triesPerMinute } = means;
  const { seal } = identification;
  /** The cookie of a sign-in in progress at an identity provider. Another host of the domain cannot set a cookie with this prefix. */
  const underWayCookie = cookie.secure === true ? '__Host-sign-in' : 'sign-in';
  const limited = { config: { rateLimit: { max: triesPerMinute, timeWindow: 60_000 } } };

  app.get('/sign-in', (request, reply) => showSignIn(request, reply, means));
  app.post('/sign-in', limited, async (request, reply) => {
    const form = queryOf(request.body);
    const token = form.one('token');
    const texts = textsOf(request);
    if (token === undefined || !/^[\w.~+/=-]+$/.test(token)) return showSignIn(request, reply.code(400), means, texts.tokenRefused);
    return finish(request, reply, { kind: 'token', token }, form.one('back'));
  });
  app.post('/sign-out', (request, reply) => {
    for (const name of sessionCookies(request, identification.cookie)) reply.clearCookie(name, cookie);
    // Clears the browser's cache, so that the next user of the browser does not see its pages.
    return reply.header('clear-site-data', '"cache"').redirect('/sign-in', 303);
  });
  if (oidc === undefined) return;

  app.get('/sign-in/oidc', limited, async (request, reply) => {
    try {
      const { url, underWay } = await oidc.begin(callbackOf(request, means), localPath(queryOf(request.query).one('back')));
      reply.setCookie(underWayCookie, await seal.signIn.close(underWay), { ...cookie, maxAge: 600 });
      return await reply.redirect(url.href, 303);
    } catch (error) {
      logger.warn({ why: describeRefusal(error) }, 'sign-in at the identity provider failed');
      return showSignIn(request, reply.code(503), means, textsOf(request).signInFailed);
    }
  });
  app.get('/sign-in/callback', limited, async (request, reply) => {
    const texts = textsOf(request);
    const underWay = await seal.signIn.open(request.cookies[underWayCookie] ?? '');
    reply.clearCookie(underWayCookie, cookie);
    if (underWay === undefined) return showSignIn(request, reply.code(400), means, texts.signInFailed);
    let identity: Identity;
    try {
      const { search } = new URL(request.url, 'http://dashboard.invalid');
      identity = await oidc.complete(new URL(`${callbackOf(request, means)}${search}`), underWay);
    } catch (error) {
      logger.warn({ why: describeRefusal(error) }, 'sign-in at the identity provider failed');
      return showSignIn(request, reply.code(403), means, texts.signInFailed);
    }
    return finish(request, reply, await sessionOf(identity, request.ip), underWay.back);
  });

  /** The session of a user. With an id token that the API server accepts, the user can act. Otherwise headers name the user, who can only read. */
  async function sessionOf({ user, groups, token }: Identity, client: string): Promise<Session> {
    const own: Session = { kind: 'token', token };
    const isKnown = typeof (await askWho(own, client)) === 'string';
    return isKnown || identification.proxy === undefined || !fitsIntoHeader(user) ? own : { kind: 'named', user, groups: [...groups] };
  }

  async function finish(request: FastifyRequest, reply: FastifyReply, session: Session, back: string | undefined): Promise<FastifyReply> {
    const texts = textsOf(request);
    const user = await askWho(session, request.ip);
    if (typeof user !== 'string')
      return showSignIn(request, reply.code(user.status), means, user.status === 401 ? texts.tokenRefused : user.message);
    const chunks = splitCookie(identification.cookie, await seal.session.close(session));
    if (chunks === undefined) return showSignIn(request, reply.code(400), means, texts.tokenTooLong);
    for (const name of sessionCookies(request, identification.cookie)) reply.clearCookie(name, cookie);
    for (const [name, value] of chunks) reply.setCookie(name, value, cookie);
    logger.info({ user }, 'user signed in to the dashboard');
    return reply.redirect(localPath(back), 303);
  }

  /** The user of the session according to the API, or why the API does not accept the session. */
  async function askWho(session: Session, client: string): Promise<string | ApiFailure> {
    const sender = senderOf(session, { client, isSession: false }, identification);
    if (sender === undefined)
      return new ApiFailure(503, 'operations.proxy.secret is missing, so users of the identity provider cannot be named');
    try {
      return (await createApi(means.transport, sender).read(getCaller)).user;
    } catch (error) {
      if (error instanceof ApiFailure) return error;
      throw error;
    }
  }
}

function callbackOf(request: FastifyRequest, { publicUrl }: SignInMeans): string {
  return `${publicUrl ?? `${request.protocol}://${request.headers.host ?? ''}`}/sign-in/callback`;
}

function showSignIn(request: FastifyRequest, reply: FastifyReply, { oidc }: SignInMeans, why?: string): FastifyReply {
  const texts = textsOf(request);
  const back = localPath(queryOf(request.query).one('back') ?? queryOf(request.body).one('back'));
  const body = html`
    ${why !== undefined && problem(plainTo(why, texts))}
    ${
      oidc !== undefined &&
      html`<p><a class="button primary" href=${`/sign-in/oidc?back=${encodeURIComponent(back)}`}>${texts.signInWith(oidc.name)}</a></p>
        <p>${texts.or}</p>`
    }
    <form method="post" action="/sign-in" class="confirm">
      <label
        >${texts.token} <input type="password" name="token" required autocomplete="off" maxlength="9000" aria-describedby="token-hint"
      /></label>
      <p id="token-hint" class="note">${texts.tokenHint}</p>
      <input type="hidden" name="back" value=${back} />
      <p><button class="primary">${texts.signIn}</button></p>
    </form>
  `;
  return sendPage(request, reply, { texts, canSignOut: false }, { title: texts.signIn, body });
}

/** Describes a refusal without its cause, which contains the provider's response with tokens and claims. `error` is the code of OAuth. */
function describeRefusal(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown';
  const { message, code, error } = failure as Error & { readonly code?: unknown; readonly error?: unknown };
  return cut([message, code, error].filter((part) => typeof part === 'string').join(': '), 300);
}
