/** The record of pushes: stored as the model of the record does it, over the simulated network. */
import type { EventLog, PolicyResult } from '../../src/service/queue/event-log.ts';
import { createEventLogModel } from './event-log-model.ts';
import { refuseByRedis, type Network } from './network.ts';

export interface PushRecords {
  /** The results of a push that are stored, by policy. */
  results(event: string): ReadonlyMap<string, PolicyResult | undefined>;
  isUnwatched(event: string): boolean;
  wipe(): void;
  connect(): EventLog;
}

export function createPushRecords(network: Network): PushRecords {
  const model = createEventLogModel();
  return {
    results: (event) => model.read(event)?.results ?? new Map(),
    isUnwatched: (event) => model.read(event)?.state === 'unwatched',
    wipe: model.wipe,
    connect: () =>
      model.connect((serve) => network.send({ server: 'redis', what: 'RECORD', serve, refuse: refuseByRedis, timeoutMs: 3_600_000 })),
  };
}
