import { eventOutcomes, type EventView } from '../operations/event-view.ts';
import { ApiError, apiHelp, apiOptions, callApi } from './api-client.ts';
import { type Command, parseOptions, parseOutput, UsageError } from './command.ts';
import { reasonLinks } from './reason-links.ts';

const options = { ...apiOptions, limit: { type: 'string' }, repository: { type: 'string' }, outcome: { type: 'string' } } as const;

/** `image-watcher events [ID]`. */
export const events: Command = {
  name: 'events',
  summary: 'show the pushes that were received, and the result of each',
  help: `Usage: image-watcher events [--limit N] [--repository IMAGE] [--outcome OUTCOME] [--server URL] [--output text|json]
       image-watcher events ID [--server URL] [--output text|json]

Shows the newest pushes that you may see, those that a receiver ignored among them, or one in full.

  --limit       how many (default 50, at most 500)
  --repository  of one repository only: harbor.example.com/shop/web
  --outcome     of one outcome only: ${eventOutcomes.join(', ')}
${apiHelp}`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = parseOutput(values.output);
    const [id, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`events takes one id at most: ${positionals.join(' ')}`);
    if (id !== undefined && (values.limit ?? values.repository ?? values.outcome) !== undefined)
      throw new UsageError('an id goes without a filter');
    try {
      const found =
        id === undefined ? await list(values) : [await callApi<EventView>(values, 'GET', `/api/events/${encodeURIComponent(id)}`)];
      if (output === 'json') terminal.out(`${JSON.stringify(id === undefined ? found : found[0], undefined, 2)}\n`);
      else terminal.out(found.length === 0 ? 'no events\n' : `${found.map((event) => describe(event, id !== undefined)).join('\n')}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      terminal.err(`${error.message}\n`);
      return 1;
    }
  },
};

interface Filter {
  readonly limit?: string | undefined;
  readonly repository?: string | undefined;
  readonly outcome?: string | undefined;
}

/** Reads pages until there are enough events: one page of the API may have fewer than requested. */
async function list(values: Filter & Parameters<typeof callApi>[0]): Promise<EventView[]> {
  const limit = Number(values.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) throw new UsageError('--limit is a number from 1 to 500');
  const found: EventView[] = [];
  for (let before: string | undefined; ;) {
    const query = new URLSearchParams({ limit: String(limit - found.length) });
    if (values.repository !== undefined) query.set('repository', values.repository);
    if (values.outcome !== undefined) query.set('outcome', values.outcome);
    if (before !== undefined) query.set('before', before);
    const page = await callApi<{ events: EventView[]; next?: string }>(values, 'GET', `/api/events?${query.toString()}`);
    found.push(...page.events);
    before = page.next;
    if (before === undefined || found.length >= limit) return found;
  }
}

/** A line for an event, one for its reason or error, and one for each policy; with `details`, digests are in full. */
function describe(event: EventView, details: boolean): string {
  const digest = event.digest === undefined ? '' : `@${details ? event.digest : event.digest.slice(0, 19)}`;
  const repository = [event.registry, event.repository].filter((part) => part !== undefined).join('/') || '-';
  const image = `${repository}${event.tag === undefined ? '' : `:${event.tag}`}${digest}`;
  const head = `${event.receivedAt}  ${event.outcome.padEnd(9)}  ${image}  ${event.receiver}  ${event.id}`;
  const policies = event.policies.map(({ namespace, name, outcome, reason, message, afterMs }) => {
    const after = afterMs === undefined ? '' : ` after ${afterMs} ms`;
    return `    ${namespace}/${name}: ${outcome}${after}${reason === undefined ? '' : ` (${reason})`}${message === undefined ? '' : `: ${message}`}`;
  });
  const times = event.count === undefined || event.count === 1 ? '' : ` (${event.count} times)`;
  const why = [event.reason, event.message].filter((part) => part !== undefined).join(': ');
  const own = event.outcome === 'unwatched' ? 'NoPolicy' : event.reason;
  const pages = details ? reasonLinks([own, ...event.policies.map(({ reason }) => reason)]) : [];
  return [head, ...(why === '' ? [] : [`    ${why}${times}`]), ...policies, ...pages].join('\n');
}
