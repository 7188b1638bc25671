import type { EventOutcome, EventView } from '../../service/api/event-view.ts';
import { type ApiTarget, callApi } from '../../service/command-line/api-client.ts';

/** The filter for events. */
export interface Filter {
  readonly limit: number;
  /** Only events that were received at this time or later, in ms since 1970. */
  readonly since?: number;
  readonly repository?: string;
  readonly outcome?: EventOutcome;
  /** The number of events in one request, at most 500. */
  readonly pageSize?: number;
  /** Further filters, as the query of the API. */
  readonly more?: Readonly<Record<string, string>>;
  readonly policy?: { readonly namespace: string; readonly name: string };
}

/** The events, the newest first, page by page. A page of the API may have fewer events than requested. */
export async function* listEvents(target: ApiTarget, filter: Filter): AsyncGenerator<EventView> {
  const { limit, since = 0, pageSize = 500 } = filter;
  let found = 0;
  for (let before: string | undefined; ;) {
    const query = queryOf(filter, { size: Math.min(limit - found, pageSize), before });
    const page = await callApi<Page>(target, 'GET', `/api/v1/events?${query}`);
    for (const event of page.events) {
      if (Date.parse(event.receivedAt) < since) return;
      yield event;
      if (++found >= limit) return;
    }
    before = page.next;
    if (before === undefined) return;
  }
}

interface Page {
  readonly events: readonly EventView[];
  readonly next?: string;
}

interface PageRequest {
  readonly size: number;
  readonly before: string | undefined;
}

function queryOf({ repository, outcome, policy, since, more }: Filter, { size, before }: PageRequest): string {
  const query = new URLSearchParams({ ...more, limit: String(size) });
  if (repository !== undefined) query.set('repository', repository);
  if (outcome !== undefined) query.set('outcome', outcome);
  if (policy !== undefined) query.set('policy', `${policy.namespace}/${policy.name}`);
  if (since !== undefined) query.set('since', new Date(since).toISOString());
  if (before !== undefined) query.set('before', before);
  return query.toString();
}

/** Reads all pages of events. `onRead` is called with the number of events so far. */
export async function readEvents(target: ApiTarget, filter: Filter, onRead?: (count: number) => void): Promise<EventView[]> {
  const found: EventView[] = [];
  for await (const event of listEvents(target, filter)) {
    found.push(event);
    onRead?.(found.length);
  }
  return found;
}
