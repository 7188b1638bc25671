/** What reports to the Git host of an image's source have in common: which notices are reported, for which repositories, and how the API is called. */
import type { ImageOrigin } from '../core/model/image-origin.ts';
import type { Notice, NoticeKind } from '../core/model/notice.ts';
import type { ForgeSettings } from '../core/model/notification-target.ts';
import { matchesText } from '../core/model/repository-pattern.ts';
import { cut } from '../core/model/text.ts';
import { pageFor } from './message.ts';
import { titleOf } from './notice-title.ts';
import type { Exchanged, SendResult } from '../service/proxy/exchange.ts';

/** The settings and clients for a report. */
export interface ForgeMeans extends ForgeSettings {
  /** The address of the API: `https://api.github.com`, `https://gitlab.example.com/api/v4`. */
  readonly api: URL;
  readonly token: string;
  readonly dashboardUrl?: string | undefined;
  readonly exchange: (url: URL, request: ForgeRequest) => Promise<Exchanged>;
}

export interface ForgeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type ReportState = 'pending' | 'running' | 'success' | 'failure';

/** The state of the rollout of an image by the kind of a notice. Other kinds are not reported. */
export const reportStates: Readonly<Partial<Record<NoticeKind, ReportState>>> = {
  ApprovalRequired: 'pending',
  Updated: 'running',
  RolledOut: 'success',
  RolledBack: 'success',
  RolloutFailed: 'failure',
};

/** Whether the rollout is over in a state. */
export function isFinal(state: ReportState): boolean {
  return state === 'success' || state === 'failure';
}

/** The maximum length of a description: GitHub refuses longer ones, and the other hosts accept it. */
export const maxDescription = 140;

/** What happened, in one sentence. The reason of a rollback is why the other image failed, so it is left out. */
export function describeReport(notice: Notice): string {
  const what = notice.kind === 'RolledBack' ? titleOf(notice) : (notice.message ?? notice.reason ?? notice.kind);
  return cut(what, maxDescription);
}

/** The page of the dashboard about the notice. It contains no signed link, because everybody who sees the commit can open it. */
export function reportPage(notice: Notice, { dashboardUrl }: Pick<ForgeMeans, 'dashboardUrl'>): string | undefined {
  const page = pageFor(notice.subject);
  return dashboardUrl === undefined || page === undefined ? undefined : `${dashboardUrl}${page.path}`;
}

/** The commit that an image was built from. */
export interface Commit {
  /** The path of the repository, each part of it encoded for URLs: `shop/web`. */
  readonly path: string;
  readonly revision: string;
}

/**
 * The commit of an image. The builder of the image names it, so it counts only on the host of the API, and if its repository is one of the configured ones.
 * `nested` is for hosts whose repositories may be in groups of groups.
 */
export function findCommit(
  origin: ImageOrigin | undefined,
  { api, repositories }: Pick<ForgeMeans, 'api' | 'repositories'>,
  { nested = false } = {},
): Commit | { readonly why: string } {
  const host = api.host.replace(/^api\./, '');
  if (origin?.revision === undefined) return { why: 'the image names no source and revision' };
  const { repository, fullPath, revision } = origin;
  // A short hash may be the name of a branch, and the host would not find its report again.
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)) return { why: 'the revision of the image is not the whole hash of a commit' };
  const source = new URL(repository);
  if (source.host !== host) return { why: `the source of the image is on ${source.host}, not on ${host}` };
  const name = (nested && fullPath) || source.pathname.slice(1);
  const isAllowed = repositories === undefined || repositories.some((pattern) => matchesText(pattern, name));
  return isAllowed
    ? { path: name.split('/').map(encodeURIComponent).join('/'), revision }
    : { why: `${name} is none of the repositories of the target` };
}

export interface ForgeCall {
  /** The path below the address of the API, with a query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What is posted; absent for a GET. */
  readonly body?: object | undefined;
}

/** Calls the API. Never rejects. */
export function callForge({ path, headers, body }: ForgeCall, { api, exchange }: Pick<ForgeMeans, 'api' | 'exchange'>): Promise<Exchanged> {
  const url = new URL(`${api.href.replace(/\/+$/, '')}/${path}`);
  const all = { ...headers, 'user-agent': 'image-watcher', ...(body !== undefined && { 'content-type': 'application/json' }) };
  return exchange(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: all,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The result if there is nothing to report. */
export function nothing(why: string): SendResult {
  return { kind: 'sent', message: `nothing to report: ${why}` };
}
