import { backoffMs, sleep, type Backoff } from '../../core/async/backoff.ts';
import type { EventView } from '../../service/api/event-view.ts';
import type { ApiTarget } from '../../service/command-line/api-client.ts';
import { ApiError } from '../../service/command-line/api-error.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { type Filter, listEvents, readEvents } from './list-events.ts';

const pauseMs = 2_000;
const backoff: Backoff = { firstMs: 1_000, maxMs: 30_000, jitter: 'equal' };
/** The number of newest events that are compared again for changed results. */
const examined = 100;
const remembered = 5_000;

/**
 * Shows the events of the filter, the oldest first, then each new one and each whose result changes, until the terminal is interrupted. If the service cannot
 * be reached, the request is repeated. If it refuses the caller, ApiError is thrown.
 */
export async function followEvents(
  target: ApiTarget,
  filter: Filter,
  { terminal, show }: { readonly terminal: Terminal; readonly show: (event: EventView) => void },
): Promise<number> {
  const { signal } = terminal;
  const shown = new Map<string, string>();
  const showChanged = (found: readonly EventView[]) => {
    for (const event of found.toReversed()) {
      const state = stateOf(event);
      if (shown.get(event.id) === state) continue;
      shown.delete(event.id);
      shown.set(event.id, state);
      show(event);
    }
    for (const id of shown.keys()) if (shown.size > remembered) shown.delete(id);
  };
  const first = await readEvents(target, filter);
  showChanged(first);
  // Events before the oldest shown one are not new.
  const since = Math.max(filter.since ?? 0, ...first.slice(-1).map(({ receivedAt }) => Date.parse(receivedAt)));
  const later = { ...filter, since, limit: remembered, pageSize: examined };
  const readNew = async () => {
    const found: EventView[] = [];
    for await (const event of listEvents(target, later)) {
      if (found.length >= examined && shown.has(event.id)) break;
      found.push(event);
    }
    return found;
  };
  let failures = 0;
  for (;;) {
    try {
      await sleep(failures === 0 ? pauseMs : backoffMs(failures - 1, Math.random, backoff), signal);
      showChanged(await readNew());
      if (failures > 0) terminal.err('connected again\n');
      failures = 0;
    } catch (error) {
      if (signal?.aborted) return 0;
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      if (failures++ === 0) terminal.err(`${error.message}; trying again\n`);
    }
  }
}

function isPassing({ status }: ApiError): boolean {
  return status === undefined || status === 429 || status >= 500;
}

/** The parts of an event whose change is shown again. */
function stateOf({ outcome, count, policies }: EventView): string {
  return JSON.stringify([
    outcome,
    count,
    policies.map(({ namespace, name, outcome: result, reason }) => [namespace, name, result, reason]),
  ]);
}
