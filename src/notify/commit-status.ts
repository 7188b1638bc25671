/** Reports updates as the status of the commit that the image was built from, so that its pipeline or pull request shows whether the image runs. */
import { formatSubject, type Notice } from '../core/model/notice.ts';
import type { StatusType } from '../core/model/notification-target.ts';
import { cut } from '../core/model/text.ts';
import { isObject, type JsonObject } from '../core/model/untyped.ts';
import {
  callForge,
  type Commit,
  describeReport,
  findCommit,
  type ForgeMeans,
  isFinal,
  nothing,
  reportPage,
  type ReportState,
  reportStates,
} from './forge-report.ts';
import type { Content } from './message.ts';
import type { SendResult } from '../service/proxy/exchange.ts';

/** The status of a commit. */
export interface CommitStatus {
  /** What distinguishes it from other statuses of the commit: `production: shop/web`. */
  readonly name: string;
  readonly state: ReportState;
  readonly description: string;
  /** The page of the dashboard; absent if there is none. */
  readonly url?: string | undefined;
}

/** A status as a Git host returns it. */
export interface KnownStatus {
  /** The word of the host for the state. */
  readonly state: unknown;
  /** The time at which it was set, RFC 3339. */
  readonly at: unknown;
}

/** A Git host whose commits have statuses. Each has its own file. */
export interface Forge {
  /** The kind of target, which is also the name of the file and the word Status. */
  readonly id: StatusType;
  /** Whether repositories may be in groups of groups. */
  readonly nested?: boolean;
  /** The words of the host for the states. */
  readonly states: Readonly<Record<ReportState, string>>;
  /** The value of the header `authorization`. */
  readonly authorize: (token: string) => string;
  /** The path of a request that changes nothing and is refused if the token is not valid. */
  readonly testPath: string;
  /** The path of the statuses of a commit. */
  readonly listPath: (commit: Commit, name: string) => string;
  /** The last status of a name in the response; undefined if there is none. */
  readonly readLast: (json: unknown, name: string) => KnownStatus | undefined;
  /** The path to which a status is posted. */
  readonly postPath: (commit: Commit) => string;
  /** What is posted. `state` is the word of the host. */
  readonly bodyOf: (status: CommitStatus & { readonly word: string }) => object;
  /** Whether the host refuses a state after another one, in its words. Absent for hosts that accept each. */
  readonly refuses?: (last: unknown, word: string) => boolean;
}

/** The maximum length of a name: the hosts refuse longer ones. */
const maxName = 255;

/** Reports one notice. Never rejects. A notice is not reported if it is no state of a rollout, or has no revision on this host. */
export async function reportStatus(content: Content, forge: Forge, means: ForgeMeans): Promise<SendResult> {
  const headers = { accept: 'application/json', authorization: forge.authorize(means.token) };
  const call = (path: string, body?: object) => callForge({ path, headers, body }, means);
  if (content.type === 'test') return (await call(forge.testPath)).result;
  if (content.type === 'summary') return nothing('a summary is no status of a commit');
  const { notice, origins } = content;
  const state = reportStates[notice.kind];
  if (state === undefined) return nothing(`${notice.kind} is no status of a commit`);
  const commit = findCommit(origins?.now, means, forge);
  if ('why' in commit) return nothing(commit.why);
  const name = cut(`${means.environment}: ${formatSubject(notice.subject)}`, maxName);
  if (!isFinal(state)) {
    const listed = await call(forge.listPath(commit, name));
    if (listed.result.kind !== 'sent') return listed.result;
    if (isOutdated(forge.readLast(listed.json, name), { notice, state }, forge))
      return nothing('this or a later state was reported before');
  }
  const status = { name, state, description: describeReport(notice), url: reportPage(notice, means), word: forge.states[state] };
  return (await call(forge.postPath(commit), forge.bodyOf(status))).result;
}

/** Whether the end was reported after the event of the notice, because messages may arrive in any order; or whether the host would refuse the state. */
function isOutdated(
  last: KnownStatus | undefined,
  { notice, state }: { readonly notice: Notice; readonly state: ReportState },
  { states, refuses }: Forge,
): boolean {
  if (last === undefined) return false;
  if (refuses?.(last.state, states[state]) === true) return true;
  const isOver = last.state !== states.pending && last.state !== states.running;
  return isOver && Date.parse(String(last.at)) >= Date.parse(notice.at);
}

/** The status with the highest id of those in a response that fit. Their order depends on the version of the host. */
export function newestOf(list: unknown, fits: (one: JsonObject) => boolean): JsonObject | undefined {
  const found = (Array.isArray(list) ? list : []).filter((one: unknown): one is JsonObject => isObject(one) && fits(one));
  return found.toSorted((a, b) => Number(b['id']) - Number(a['id']))[0];
}
