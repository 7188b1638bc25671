/** Short ids of events that still identify one event. */
import type { EventView } from '../../service/api/event-view.ts';
import { type ApiTarget, callApi } from '../../service/command-line/api-client.ts';
import { ApiError } from '../../service/command-line/api-error.ts';
import { listEvents } from './list-events.ts';

const leastLength = 8;
/** The number of newest events in which a short id is searched. */
const searched = 5_000;
const isShort = (id: string) => /^[0-9a-f]{4,63}$/.test(id);

/** Creates a function that shortens ids so that they stay unique among all ids given so far, to at least 8 characters. */
export function createShortIds(): (ids: readonly string[]) => (id: string) => string {
  const known = new Set<string>();
  return (ids) => {
    for (const id of ids) known.add(id);
    return (id) => {
      const others = [...known].filter((other) => other !== id && other.startsWith(id.slice(0, leastLength)));
      let length = leastLength;
      while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) length++;
      return id.slice(0, length);
    };
  };
}

/** The id of the only event whose id begins so; a long enough id, or one of another form, is returned unchanged. Rejects with ApiError otherwise. */
export async function findEventId(target: ApiTarget, text: string): Promise<string> {
  if (!isShort(text)) return text;
  const found = new Set<string>();
  for await (const { id } of listEvents(target, { limit: searched })) if (id.startsWith(text)) found.add(id);
  const [id, ...others] = found;
  if (id === undefined)
    throw new ApiError(`no event has an id that begins with ${text}, among the last ${searched}: image-watcher events lists them`);
  if (others.length > 0) throw new ApiError(`${found.size} events have an id that begins with ${text}: write more of it`);
  return id;
}

/** Reads an event by its id or the beginning of its id. */
export async function readEvent(target: ApiTarget, text: string): Promise<EventView> {
  return callApi<EventView>(target, 'GET', `/api/v1/events/${encodeURIComponent(await findEventId(target, text))}`);
}
