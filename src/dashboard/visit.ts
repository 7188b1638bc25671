/** One request to the dashboard: the user, the language, and the API with the user's rights. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Turns } from '../core/async/turns.ts';
import { getCaller } from '../service/api/routes/installation.ts';
import { createApi, type Api, ApiFailure, type ApiTransport } from './api-client.ts';
import { html } from './html.ts';
import { writePage } from './layout.ts';
import type { Caller, PageContent, PageSettings, Query, Section, Viewer } from './page.ts';
import { problem } from './parts/problem.ts';
import { plainTo } from './parts/said.ts';
import { identifySender, type Identification } from './sender.ts';
import { textsFor } from './texts/choose.ts';
import type { Texts } from './texts/en.ts';

/** The dependencies of the routes of the dashboard. */
export interface DashboardMeans {
  readonly transport: ApiTransport;
  readonly identification: Identification;
  /** The secret with which links in notifications are signed; absent if they are not signed. */
  readonly linkSecret?: (() => string | undefined) | undefined;
  readonly settings: PageSettings;
  /** When a page that was read may be written: pushes go first. */
  readonly turns: Pick<Turns, 'next'>;
}

export interface Visit {
  readonly api: Api;
  readonly caller: Caller;
  readonly texts: Texts;
  readonly viewer: Viewer;
}

/** Starts a visit for the user of a request according to the API. Throws ApiFailure(401) if the user has to sign in. */
export async function startVisit(request: FastifyRequest, { transport, identification, settings, turns }: DashboardMeans): Promise<Visit> {
  const texts = textsOf(request);
  const sender = await identifySender(request, identification);
  if (sender === undefined) throw new ApiFailure(401, texts.signInAgain);
  const api = createApi(transport, sender, (message) => plainTo(message, texts), turns);
  const caller = await api.read(getCaller);
  const viewer = { texts, caller, cluster: settings.cluster, canSignOut: identification.kind === 'session' };
  viewers.set(request, viewer);
  return { api, caller, texts, viewer };
}

const viewers = new WeakMap<FastifyRequest, Viewer>();

/** The viewer of a request. The user is missing if an error came before the sign-in was checked. */
export function viewerOf(
  request: FastifyRequest,
  { identification, settings }: Pick<DashboardMeans, 'identification' | 'settings'>,
): Viewer {
  return viewers.get(request) ?? { texts: textsOf(request), cluster: settings.cluster, canSignOut: identification.kind === 'session' };
}

export function textsOf(request: FastifyRequest): Texts {
  return textsFor(request.cookies['language'], request.headers['accept-language']);
}

/** Answers a request with a page. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer,
  { section, ...content }: PageContent & { readonly section?: Section },
): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(writePage({ ...content, section, viewer, address: request.url }));
}

/** Answers with a page that explains why the requested one is not available. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer,
  { status, message }: { readonly status: number; readonly message: string },
): FastifyReply {
  const { texts } = viewer;
  const body = html`
    ${problem(plainTo(message, texts))}
    <p><a href="/">${texts.backToNow}</a></p>
  `;
  return sendPage(request, reply.code(status), viewer, { title: titleOf(status, texts), body });
}

function titleOf(status: number, texts: Texts): string {
  if (status === 403) return texts.forbidden;
  if (status === 404) return texts.notFound;
  return status >= 500 || status === 429 ? texts.unavailable : texts.badRequest;
}

/** The values of a query, or of a form. */
export function queryOf(values: unknown): Query {
  const record = typeof values === 'object' && values !== null ? (values as Readonly<Record<string, unknown>>) : {};
  const all = (name: string): readonly string[] => {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string' && one !== '');
  };
  return { one: (name) => all(name)[0]?.trim() || undefined, all };
}
