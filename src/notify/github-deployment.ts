/** Reports updates as deployments of GitHub: https://docs.github.com/en/rest/deployments */
import { defined } from '../core/model/defined.ts';
import { formatSubject, type Notice, type NoticeKind } from '../core/model/notice.ts';
import type { ImageOrigin } from '../core/model/image-origin.ts';
import type { GithubSettings } from '../core/model/notification-target.ts';
import { matchesText } from '../core/model/repository-pattern.ts';
import { cut } from '../core/model/text.ts';
import { isObject } from '../core/model/untyped.ts';
import type { Content } from './message.ts';
import { titleOf } from './notice-title.ts';
import type { Exchanged, SendResult } from './send-notice.ts';

/** The settings and clients for a report. */
export interface GithubMeans extends GithubSettings {
  /** The address of GitHub's API: `https://api.github.com`, or `https://github.example.com/api/v3`. */
  readonly api: URL;
  readonly token: string;
  readonly dashboardUrl?: string | undefined;
  readonly exchange: (url: URL, request: GithubRequest) => Promise<Exchanged>;
}

export interface GithubRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

type DeploymentState = 'pending' | 'in_progress' | 'success' | 'failure';

/** The states of deployments by the kind of a notice. Other kinds are not reported. */
const states: Readonly<Partial<Record<NoticeKind, DeploymentState>>> = {
  ApprovalRequired: 'pending',
  Updated: 'in_progress',
  RolledOut: 'success',
  RolledBack: 'success',
  RolloutFailed: 'failure',
};
const final: ReadonlySet<unknown> = new Set<DeploymentState>(['success', 'failure']);
/** The maximum length of a description: GitHub refuses longer ones. */
const maxDescription = 140;

/** Reports one notice. Never rejects. A notice is not reported if it is no state of a deployment, or has no revision on this GitHub. */
export async function reportDeployment(content: Content, means: GithubMeans): Promise<SendResult> {
  if (content.type === 'test') return (await call('rate_limit', undefined, means)).result;
  if (content.type === 'summary') return nothing('a summary is no deployment');
  const { notice, origins } = content;
  const state = states[notice.kind];
  if (state === undefined) return nothing(`${notice.kind} is no state of a deployment`);
  const found = findRepository(origins?.now, means);
  if ('why' in found) return nothing(found.why);
  return reportState({ ...found, notice, state }, means);
}

interface Report {
  /** The path of the repository: `repos/shop/web`. */
  readonly path: string;
  readonly revision: string;
  readonly notice: Notice;
  readonly state: DeploymentState;
}

/** Reports a state. Each policy, environment and revision has one deployment, which a repeated report finds again. */
async function reportState({ path, revision, notice, state }: Report, means: GithubMeans): Promise<SendResult> {
  const { environment } = means;
  const policy = formatSubject(notice.subject);
  const task = `deploy:${policy}`;
  const query = new URLSearchParams({ sha: revision, environment, task, per_page: '1' });
  const listed = await call(`${path}/deployments?${query.toString()}`, undefined, means);
  if (listed.result.kind !== 'sent') return listed.result;
  let id = Array.isArray(listed.json) ? idOf(listed.json[0]) : undefined;
  if (id !== undefined && !final.has(state) && (await isOutdated(`${path}/deployments/${id}`, notice.at, means)))
    return nothing('a later state was reported before');
  if (id === undefined) {
    const payload = {
      policy,
      ...defined({ tag: notice.tag, digest: notice.digest }),
    };
    const description = cut(`${policy} ${notice.tag ?? ''}`.trim(), maxDescription);
    const order = { ref: revision, task, environment, description, payload, auto_merge: false, required_contexts: [] };
    const created = await call(`${path}/deployments`, order, means);
    if (created.result.kind !== 'sent') return created.result;
    id = idOf(created.json);
  }
  if (id === undefined) return { kind: 'failed', message: `${means.api.origin} answered without the id of a deployment` };
  // The reason of a rollback is why the other image failed.
  const what = notice.kind === 'RolledBack' ? titleOf(notice) : (notice.message ?? notice.reason ?? notice.kind);
  const description = cut(what, maxDescription);
  const logUrl = means.dashboardUrl === undefined ? {} : { log_url: `${means.dashboardUrl}/policies/${policy}` };
  return (await call(`${path}/deployments/${id}/statuses`, { state, description, ...logUrl }, means)).result;
}

/** Whether a final state was reported after the event of the notice, because messages may arrive in any order. */
async function isOutdated(path: string, at: string, means: GithubMeans): Promise<boolean> {
  const { json } = await call(`${path}/statuses?per_page=1`, undefined, means);
  const last: unknown = Array.isArray(json) ? json[0] : undefined;
  return isObject(last) && final.has(last['state']) && Date.parse(String(last['created_at'])) >= Date.parse(at);
}

/** The repository of an image. The builder of the image names it, so it counts only on this GitHub, and if it is one of the configured ones. */
function findRepository(
  origin: ImageOrigin | undefined,
  { api, repositories }: GithubMeans,
): { readonly path: string; readonly revision: string } | { readonly why: string } {
  const host = api.host.replace(/^api\./, '');
  if (origin?.revision === undefined) return { why: 'the image names no source and revision' };
  const source = new URL(origin.repository);
  if (source.host !== host) return { why: `the source of the image is on ${source.host}, not on ${host}` };
  const name = source.pathname.slice(1);
  const isAllowed = repositories === undefined || repositories.some((pattern) => matchesText(pattern, name));
  return isAllowed ? { path: `repos/${name}`, revision: origin.revision } : { why: `${name} is none of the repositories of the target` };
}

function call(path: string, body: object | undefined, { api, token, exchange }: GithubMeans): Promise<Exchanged> {
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'user-agent': 'image-watcher',
    'x-github-api-version': '2022-11-28',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const url = new URL(`${api.href.replace(/\/+$/, '')}/${path}`);
  return exchange(url, { method: body === undefined ? 'GET' : 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

function idOf(deployment: unknown): number | undefined {
  const id = isObject(deployment) ? deployment['id'] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

function nothing(why: string): SendResult {
  return { kind: 'sent', message: `nothing to report: ${why}` };
}
