/** What is known about images, in Redis: `src/service/queue/image-facts.ts` without its limits. */
import type { FactsStore } from '../../src/bases/recognize/facts-reader.ts';
import { refuseByRedis, type Network } from './network.ts';

export interface FactsModel extends FactsStore {
  wipe(): void;
}

export function createFactsModel(network: Network): FactsModel {
  const texts = new Map<string, string>();
  const send = <T>(what: string, serve: () => T): Promise<T> =>
    network.send({ server: 'redis', what, serve, refuse: refuseByRedis, timeoutMs: 3_600_000 });
  return {
    read: (key) => send('READ facts', () => texts.get(key)),
    write: (key, text) => send('WRITE facts', () => void texts.set(key, text)),
    wipe: () => texts.clear(),
  };
}
