/** Reports updates as deployments of GitHub: https://docs.github.com/en/rest/deployments */
import { defined } from '../core/model/defined.ts';
import { formatSubject, type Notice } from '../core/model/notice.ts';
import { cut } from '../core/model/text.ts';
import { isObject } from '../core/model/untyped.ts';
import {
  callForge,
  type Commit,
  describeReport,
  findCommit,
  type ForgeMeans,
  isFinal,
  maxDescription,
  nothing,
  reportPage,
  type ReportState,
  reportStates,
} from './forge-report.ts';
import type { Content } from './message.ts';
import type { Exchanged, SendResult } from '../service/proxy/exchange.ts';

/** The state of a deployment: https://docs.github.com/en/rest/deployments/statuses */
const states = { pending: 'pending', running: 'in_progress', success: 'success', failure: 'failure' } as const satisfies Record<
  ReportState,
  string
>;

/** Reports one notice. Never rejects. A notice is not reported if it is no state of a deployment, or has no revision on this GitHub. */
export async function reportDeployment(content: Content, means: ForgeMeans): Promise<SendResult> {
  if (content.type === 'test') return (await call('rate_limit', undefined, means)).result;
  if (content.type === 'summary') return nothing('a summary is no deployment');
  const { notice, origins } = content;
  const state = reportStates[notice.kind];
  if (state === undefined) return nothing(`${notice.kind} is no state of a deployment`);
  const found = findCommit(origins?.now, means);
  if ('why' in found) return nothing(found.why);
  return reportState({ ...found, notice, state }, means);
}

interface Report extends Commit {
  readonly notice: Notice;
  readonly state: ReportState;
}

/** Reports a state. Each policy, environment and revision has one deployment, which a repeated report finds again. */
async function reportState({ path, revision, notice, state }: Report, means: ForgeMeans): Promise<SendResult> {
  const { environment } = means;
  const policy = formatSubject(notice.subject);
  const task = `deploy:${policy}`;
  const deployments = `repos/${path}/deployments`;
  const query = new URLSearchParams({ sha: revision, environment, task, per_page: '1' });
  const listed = await call(`${deployments}?${query.toString()}`, undefined, means);
  if (listed.result.kind !== 'sent') return listed.result;
  let id = Array.isArray(listed.json) ? idOf(listed.json[0]) : undefined;
  if (id !== undefined && !isFinal(state) && (await isOutdated(`${deployments}/${id}`, notice.at, means)))
    return nothing('a later state was reported before');
  if (id === undefined) {
    const payload = {
      policy,
      ...defined({ tag: notice.tag, digest: notice.digest }),
    };
    const description = cut(`${policy} ${notice.tag ?? ''}`.trim(), maxDescription);
    const order = { ref: revision, task, environment, description, payload, auto_merge: false, required_contexts: [] };
    const created = await call(deployments, order, means);
    if (created.result.kind !== 'sent') return created.result;
    id = idOf(created.json);
  }
  if (id === undefined) return { kind: 'failed', message: `${means.api.origin} answered without the id of a deployment` };
  const status = { state: states[state], description: describeReport(notice), ...defined({ log_url: reportPage(notice, means) }) };
  return (await call(`${deployments}/${id}/statuses`, status, means)).result;
}

/** Whether a final state was reported after the event of the notice, because messages may arrive in any order. */
async function isOutdated(path: string, at: string, means: ForgeMeans): Promise<boolean> {
  const { json } = await call(`${path}/statuses?per_page=1`, undefined, means);
  const last: unknown = Array.isArray(json) ? json[0] : undefined;
  if (!isObject(last) || Date.parse(String(last['created_at'])) < Date.parse(at)) return false;
  return last['state'] === states.success || last['state'] === states.failure;
}

function call(path: string, body: object | undefined, means: ForgeMeans): Promise<Exchanged> {
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${means.token}`,
    'x-github-api-version': '2022-11-28',
  };
  return callForge({ path, headers, body }, means);
}

function idOf(deployment: unknown): number | undefined {
  const id = isObject(deployment) ? deployment['id'] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
