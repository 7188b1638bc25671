/** Lists the record of activity: pushes, and what was done and asked for, on one axis, limited to what the caller may see. */
import type { Activity } from '../core/model/activity.ts';
import { defined } from '../core/model/defined.ts';
import type { Access } from '../service/api/access.ts';
import type { AnsweredEntry, ActivityType } from '../service/api/activity-view.ts';
import { listEvents, type EventPorts, type EventQuery } from '../service/api/events.ts';
import { viewersOf } from '../service/api/record-feed.ts';
import type { RecordedActivity } from '../service/queue/activity-stream.ts';
import type { Position } from '../service/queue/read-events.ts';
import { basePlural } from '../service/resources/group.ts';
import { fromStart, mergePages, type SourcePage } from './merge-pages.ts';

/** Reads recorded activities, newest first. */
export type ReadActivities = (of: { readonly before?: string | undefined; readonly count: number }) => Promise<{
  readonly found: readonly RecordedActivity[];
  readonly last?: string;
  /** When they were read, if Redis does not answer. */
  readonly asOf?: string;
}>;

export interface ActivityQuery extends Pick<
  EventQuery,
  'limit' | 'namespace' | 'policy' | 'among' | 'receiver' | 'outcome' | 'since' | 'until' | 'digest'
> {
  readonly type?: ActivityType | undefined;
  /** Only actions of this user. */
  readonly user?: string | undefined;
  /** Where to read on in the pushes and in the record; undefined for a list of which there is nothing more. */
  readonly before: readonly [pushes: string | undefined, recorded: string | undefined];
}

export interface ActivityPage {
  readonly activity: readonly AnsweredEntry[];
  /** The positions at which the two lists go on; absent if both are at their end. */
  readonly next?: readonly (string | undefined)[];
  /** When a part of it was read, if Redis does not answer. */
  readonly asOf?: string;
}

const batch = 200;
/** The maximum number of recorded activities that are examined for one page, which limits the cost of a rare filter. */
const maxExamined = 2_000;

/** A page of the record, newest first. */
export async function listActivity(ports: EventPorts, read: ReadActivities, access: Access, query: ActivityQuery): Promise<ActivityPage> {
  const { type, user, receiver, outcome, limit } = query;
  const [pushes, recorded] = query.before;
  const hasPushes = (type === undefined || type === 'push') && user === undefined;
  const hasRecorded = type !== 'push' && receiver === undefined && outcome === undefined;
  const from = [hasPushes ? pushes : undefined, hasRecorded ? recorded : undefined];
  const pages = await Promise.all([
    from[0] === undefined ? nothing : readPushes(ports, access, query, from[0]),
    from[1] === undefined ? nothing : readRecorded(read, access, query, from[1]),
  ]);
  const { entries, next } = mergePages(pages, from, limit);
  // The older one, of two.
  const [asOf] = pages.flatMap((page) => page.asOf ?? []).sort();
  return { activity: entries, ...(next.some((one) => one !== undefined) && { next }), ...defined({ asOf }) };
}

interface ReadPage extends SourcePage<AnsweredEntry> {
  readonly asOf?: string;
}

const nothing: ReadPage = { placed: [] };

async function readPushes(ports: EventPorts, access: Access, query: ActivityQuery, from: string): Promise<ReadPage> {
  const { type: _, user: _user, before: _before, ...filters } = query;
  const { events, next, asOf } = await listEvents(ports, access, { ...filters, ...(from !== fromStart && { before: positionIn(from) }) });
  // What nobody watches or a receiver ignored is no activity; whoever looks for it asks for the outcome.
  const shown = query.outcome === undefined ? events.filter(({ outcome }) => outcome !== 'ignored' && outcome !== 'unwatched') : events;
  return {
    placed: shown.map((push) => {
      const { id, receivedAt } = push;
      const at = Date.parse(receivedAt);
      return { at, position: `${at}-${id}`, entry: { type: 'push', id, at: receivedAt, push } };
    }),
    ...(next && { next: { at: next.at, position: `${next.at}-${next.id}` } }),
    ...defined({ asOf }),
  };
}

function positionIn(text: string): Position {
  const [at = '', id = ''] = text.split(/-(.*)/s);
  return { at: Number(at), id };
}

async function readRecorded(read: ReadActivities, access: Access, query: ActivityQuery, from: string): Promise<ReadPage> {
  const { limit, since = -Infinity, until = Infinity } = query;
  const maySee = createSight(access);
  const placed: { at: number; position: string; entry: AnsweredEntry }[] = [];
  let before: string | undefined = from === fromStart ? (until === Infinity ? undefined : `${until + 1}-0`) : from;
  let age = {};
  for (let examined = 0; examined < maxExamined; examined += batch) {
    const { found, last, asOf } = await read({ before, count: batch });
    age = defined({ asOf });
    for (const { id, activity } of found) {
      const at = timeOf(id);
      if (at < since) return { placed, ...age };
      if (isWanted(activity, query) && (await maySee(activity))) placed.push({ at, position: id, entry: { id, ...activity } });
      if (placed.length >= limit) return { placed, next: { at, position: id }, ...age };
    }
    if (last === undefined) return { placed, ...age };
    before = last;
  }
  return { placed, ...age, ...(before !== undefined && { next: { at: timeOf(before), position: before } }) };
}

/** When an activity was recorded, which is a part of its id. */
function timeOf(id: string): number {
  return Number(id.split('-')[0]);
}

function isWanted(activity: Activity, { type, user, namespace, policy, among, digest }: ActivityQuery): boolean {
  const { subject } = activity;
  if (type !== undefined && activity.type !== type) return false;
  if (user !== undefined && (activity.type !== 'action' || activity.user !== user)) return false;
  if (namespace !== undefined && subject.namespace !== namespace) return false;
  if (policy !== undefined && (subject.namespace !== policy.namespace || subject.name !== policy.name)) return false;
  if (among !== undefined && (subject.kind !== 'ImagePolicy' || !among.has(`${subject.namespace}/${subject.name}`))) return false;
  if (digest === undefined) return true;
  return activity.type === 'change' ? activity.digest === digest : activity.value?.endsWith(`@${digest}`) === true;
}

/** Decides which activities a caller may see. */
function createSight(access: Access): (activity: Activity) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (activity) => {
    const questions = viewersOf(activity, basePlural);
    const key = JSON.stringify(questions);
    const ask = async () => {
      for (const question of questions) if (await access.may(question)) return true;
      return false;
    };
    const answer = known.get(key) ?? ask();
    known.set(key, answer);
    return answer;
  };
}
