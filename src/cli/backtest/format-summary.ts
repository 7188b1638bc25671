/** Shows a backtest to people. */
import { paintFor, type Terminal } from '../../service/command-line/command.ts';
import { countOf, fit } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import type { Summary } from './summarise.ts';

/** What is shown beside the summary. */
export interface Shown {
  readonly policy: string;
  /** RFC 3339, whole seconds. */
  readonly from: string;
  readonly to: string;
  readonly notes: readonly string[];
  /** The tags that ran although they must not. */
  readonly forbidden: readonly string[];
}

/** One line for each image that ran or was held, by day, and what was never selected. */
export function formatSummary(summary: Summary, { policy, from, to, notes, forbidden }: Shown, terminal: Terminal): string {
  const { first, last, pushes, changes, days, unselected } = summary;
  const paint = paintFor(terminal);
  const period = `${from.slice(0, 10)} to ${to.slice(0, 10)}`;
  const lines = [
    printable(`${policy}, ${period}: ${countOf(pushes, 'push', 'pushes')}, ${countOf(changes, 'change')}`),
    ...notes.map((note) => paint('dim', printable(`note: ${note}`))),
    printable(`${from.slice(0, 10)}  runs ${first}`),
    ...days.flatMap(({ day, entries }) =>
      entries.map(({ at, kind, tag = '', from: before = '', reason, message }) =>
        kind === 'runs'
          ? `${day}  ${paint('green', printable(`runs ${tag}`))}${printable(` instead of ${before}, from ${at.slice(11, 16)}`)}`
          : `${day}  ${paint('yellow', printable(`held ${tag}`.trimEnd()))}${printable(` ${reason}: ${message}`)}`,
      ),
    ),
    printable(`at the end ${last} runs`),
    ...unselected.map(({ reason, count, tags, message }) => {
      const others = count > tags.length ? ', …' : '';
      return printable(`never selected, ${reason}: ${countOf(count, 'push', 'pushes')} (${tags.join(', ')}${others}): ${message}`);
    }),
    ...forbidden.map((tag) => paint('red', printable(`must never run, and ran: ${tag}`))),
  ];
  return fit(`${lines.join('\n')}\n`, terminal);
}
