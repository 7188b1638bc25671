/** What a policy would have done, as a list of days: which image it ran, and what held others. */
import { defined } from '../../core/model/defined.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { Decision } from './past-world.ts';
import type { Played } from './play.ts';

/** One thing that happened on a day. `runs`: an image began to run · `held`: an image was selected, and something held it. */
export interface DayEntry {
  /** RFC 3339, whole seconds. */
  readonly at: string;
  readonly kind: 'runs' | 'held';
  readonly tag?: string;
  readonly from?: string;
  readonly reason: Reason;
  readonly message: string;
}

/** Pushes that the policy did not select, by the reason. */
export interface Unselected {
  readonly reason: Reason;
  readonly count: number;
  /** A few of the tags, the latest first. */
  readonly tags: readonly string[];
  /** What was said of the latest. */
  readonly message: string;
}

export interface Summary {
  /** The tag that ran at the beginning. */
  readonly first: string;
  /** The tag that runs at the end. */
  readonly last: string;
  readonly pushes: number;
  readonly changes: number;
  readonly days: readonly { readonly day: string; readonly entries: readonly DayEntry[] }[];
  readonly unselected: readonly Unselected[];
  /** Each tag that ran, in the order of its first time. */
  readonly ran: readonly string[];
}

const maxShown = 3;

/** Why nothing is changed although nothing is held. */
const isAsItShould: ReadonlySet<Reason> = new Set(['UpToDate', 'OlderThanRunning', 'Retagged']);

/** Summarises what was played. Days without anything new are left out. */
export function summarise({ first, last, decisions, pushes }: Played): Summary {
  const entries = entriesOf(decisions);
  const changes = entries.filter(({ kind }) => kind === 'runs');
  const days = [...Map.groupBy(entries, ({ at }) => at.slice(0, 10))].map(([day, of]) => ({ day, entries: of }));
  const ignored = decisions.filter(
    ({ kind, reason, pushed }) => pushed !== undefined && (kind === 'ignored' || reason === 'OlderThanRunning'),
  );
  const unselected = [...Map.groupBy(ignored, ({ reason }) => reason)].map(([reason, of]): Unselected => {
    const latest = of.toReversed();
    const tags = [...new Set(latest.flatMap(({ pushed }) => pushed ?? []))].slice(0, maxShown);
    return { reason, count: of.length, tags, message: latest[0]?.message ?? '' };
  });
  return {
    first,
    last: tagOf(last),
    pushes: pushes.length,
    changes: changes.length,
    days,
    unselected,
    ran: [...new Set([first, ...changes.flatMap(({ tag }) => tag ?? [])])],
  };
}

/** What began to run, and what was held. What holds an image is said once, until something else happens. */
function entriesOf(decisions: readonly Decision[]): DayEntry[] {
  const entries: DayEntry[] = [];
  for (const { at, kind, reason, message, tag, changes } of decisions) {
    const [change] = changes;
    const told = entries.at(-1);
    const isHeld = kind === 'waiting' || kind === 'stalled' || kind === 'failed' || (kind === 'unchanged' && !isAsItShould.has(reason));
    const found = { at: toSeconds(new Date(at)), reason, message };
    if (change !== undefined) entries.push({ ...found, kind: 'runs', tag: tagOf(change.to), from: tagOf(change.from) });
    else if (isHeld && (told?.reason !== reason || told.message !== message)) entries.push({ ...found, kind: 'held', ...defined({ tag }) });
  }
  return entries;
}

function tagOf(image: string): string {
  const read = tryParseImageReference(image);
  return read?.tag ?? read?.digest ?? image;
}
