import type { EventLog } from '../../service/queue/event-log.ts';

/** An event log without effect, because only pushes have a record. */
export const noLog: EventLog = {
  unwatched: async () => {},
  matched: async () => {},
  recordResult: async () => {},
  unfinished: async () => [],
  recordGivenUp: async () => {},
};
