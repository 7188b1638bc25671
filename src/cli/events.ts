import { defined } from '../core/model/defined.ts';
import { eventOutcomes, type EventView } from '../service/api/event-view.ts';
import { isDigest } from '../core/model/image-reference.ts';
import type { GivenUpNotice } from '../core/model/notice.ts';
import { parseDuration } from '../core/model/text.ts';
import { apiOptions, findPolicyName, withApi } from '../service/command-line/api-client.ts';
import { defineCommand, type Terminal, UsageError, type Values } from '../service/command-line/command.ts';
import { type Filter, readEvents } from './events/list-events.ts';
import { createFold } from './events/fold-ignored.ts';
import { followEvents } from './events/follow-events.ts';
import { createShortIds, readEvent } from './events/short-ids.ts';
import { countOf, outputOption, print } from '../service/command-line/output.ts';
import { printable } from '../service/command-line/printable.ts';
import { readRecordFilters, recordFilters } from '../service/command-line/record-filters.ts';
import { policyOptions } from '../service/command-line/policy-client.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { reasonLinks } from './reason-links.ts';
import { summaries } from './summaries.ts';

const options = {
  limit: { value: 'NUMBER', about: 'how many, from 1 to 500 (default 50; with --since all)' },
  since: { value: 'DURATION', about: 'those of the last 90s, 10m or 1h' },
  repository: { value: 'IMAGE', about: 'of one repository only: harbor.example.com/shop/web' },
  outcome: { value: 'OUTCOME', choices: eventOutcomes, about: `of one outcome only: ${eventOutcomes.join(', ')}` },
  ...recordFilters,
  follow: { short: 'f', about: 'then show what happens, as it happens, until it is interrupted' },
  namespace: policyOptions.namespace,
  ...apiOptions,
  ...outputOption,
} as const;

export const events = defineCommand({
  name: 'events',
  summary: summaries.events,
  about:
    'Shows the newest pushes that you may see, also ignored ones; those of one policy, or one push in full, by its id. Ids are shortened. With --follow the oldest is first, and a push is shown again when its result changes; events that are no pushes, such as pulls, are shown once for each repository and then counted.',
  arguments: [
    { name: 'POLICY|ID', about: 'NAMESPACE/NAME or ipol/NAME of a policy, or the id of a push, or its beginning', completes: 'policy' },
  ],
  options,
  examples: [
    ['events', 'the last 50 pushes'],
    ['events shop/web --since 1h', 'what the policy web of the namespace shop did in the last hour'],
    ['events --follow', 'pushes as they arrive'],
  ],
  run(values, [what], terminal) {
    const { output, follow } = values;
    if (what === undefined || what.includes('/')) {
      const filter = readFilter(values);
      return withApi(terminal, async () => {
        const policy = what === undefined ? undefined : await findPolicyName(what, values);
        const full = { ...filter, ...defined({ policy }) };
        if (follow) return followEvents(values, full, { terminal, show: createFollowed(output, terminal) });
        const progress = startProgress(terminal, 'reading events …');
        const onRead = (count: number) => progress.update(`reading events: ${countOf(count, 'event')}`);
        const found = await readEvents(values, full, onRead).finally(progress.stop);
        print(terminal, output, found, () => (found.length === 0 ? 'no events\n' : describeAll(found)));
        return 0;
      });
    }
    const { limit, since, repository, outcome, until, digest, receiver, label } = values;
    if (follow || [limit, since, repository, outcome, until, digest, receiver, label].some((value) => value !== undefined))
      throw new UsageError('an id goes without a filter and without --follow; a policy is NAMESPACE/NAME or ipol/NAME');
    return withApi(terminal, async () => {
      const event = await readEvent(values, what);
      print(terminal, output, event, () => `${describe(event)}\n`);
      return 0;
    });
  },
});

function readFilter(values: Values<typeof options>): Filter {
  const { limit, since, repository, outcome, until, follow } = values;
  if (follow && until !== undefined) throw new UsageError('--follow goes without --until');
  const count = limit === undefined ? undefined : Number(limit);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 500))
    throw new UsageError('--limit is a number from 1 to 500');
  const sinceMs = since === undefined ? undefined : parseDuration(since);
  if (since !== undefined && sinceMs === undefined) throw new UsageError(`--since is a duration such as 90s, 10m or 1h, not "${since}"`);
  return {
    limit: count ?? (sinceMs === undefined ? 50 : Number.POSITIVE_INFINITY),
    ...(sinceMs !== undefined && { since: Date.now() - sinceMs }),
    ...defined({ repository, outcome }),
    more: readRecordFilters(values),
  };
}

/** Creates a printer that shows events one by one. In the formats for programs, events are complete. */
function createFollowed(output: 'text' | 'json' | 'yaml' | undefined, terminal: Terminal): (event: EventView) => void {
  if (output === 'json') return (event) => terminal.out(`${JSON.stringify(event)}\n`);
  if (output === 'yaml')
    return (event) => {
      terminal.out('---\n');
      print(terminal, output, event, () => '');
    };
  const [fold, shorten] = [createFold(), createShortIds()];
  return (event) => {
    const { before, isShown } = fold(event);
    const lines = [...before.map((line) => printable(line)), ...(isShown ? [describe(event, shorten([event.id]))] : [])];
    if (lines.length > 0) terminal.out(`${lines.join('\n')}\n`);
  };
}

function describeAll(events: readonly EventView[]): string {
  const shorten = createShortIds()(events.map(({ id }) => id));
  return events.map((event) => `${describe(event, shorten)}\n`).join('');
}

/** A line for an event, one for its reason or error, and one for each policy. With `shorten`, ids and digests are short, and links are left out. */
function describe(event: EventView, shorten?: (id: string) => string): string {
  const details = shorten === undefined;
  const digest = event.digest === undefined ? '' : `@${details ? event.digest : event.digest.slice(0, 19)}`;
  const repository = [event.registry, event.repository].filter((part) => part !== undefined).join('/') || '-';
  // The tag of an ignored push by digest is the digest.
  const isByDigest = event.tag !== undefined && isDigest(event.tag);
  const image = `${repository}${event.tag === undefined ? '' : `${isByDigest ? '@' : ':'}${event.tag}`}${isByDigest ? '' : digest}`;
  const head = `${event.receivedAt}  ${event.outcome.padEnd(9)}  ${image}  ${event.receiver}  ${shorten?.(event.id) ?? event.id}`;
  const policies = event.policies.flatMap(({ namespace, name, outcome, reason, message, afterMs, noticesGivenUp = [] }) => {
    const after = afterMs === undefined ? '' : ` after ${afterMs} ms`;
    const result = `    ${namespace}/${name}: ${outcome}${after}${reason === undefined ? '' : ` (${reason})`}${message === undefined ? '' : `: ${message}`}`;
    return [result, ...noticesGivenUp.map(describeGivenUp)];
  });
  const times = event.count === undefined || event.count === 1 ? '' : ` (${event.count} times)`;
  const unwatched = event.outcome === 'unwatched' ? [`    no policy watches ${repository}`] : [];
  const why = [event.reason, event.message].filter((part) => part !== undefined).join(': ');
  const own = event.outcome === 'unwatched' ? 'NoPolicy' : event.reason;
  const pages = details ? reasonLinks([own, ...event.policies.map(({ reason }) => reason)]) : [];
  const lines = [head, ...(why === '' ? [] : [`    ${why}${times}`]), ...unwatched, ...policies].map((line) => printable(line));
  return [...lines, ...pages].join('\n');
}

function describeGivenUp({ target, kind, reason, message }: GivenUpNotice): string {
  const why = reason === 'Refused' ? 'refused it' : 'did not accept it for a day';
  return `        the notification ${kind} was given up: the target ${target} ${why}${message === undefined ? '' : `: ${message}`}`;
}
