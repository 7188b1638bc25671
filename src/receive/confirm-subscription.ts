import { BoundedMap } from '../async/bounded-map.ts';
import { createAllowance } from './allowance.ts';
import type { FetchText } from './proof.ts';
import type { SnsTopic } from './sns-topic.ts';

export interface ConfirmationOptions {
  readonly fetchText: FetchText;
  readonly now: () => number;
  readonly onResult: (topic: SnsTopic, isConfirmed: boolean) => void;
}

const timeoutMs = 10_000;
/** A topic is subscribed once in years. A confirmation proves itself, but whoever has seen one can send it again. */
const perTopic = 6;
const total = 60;
const maxRemembered = 64;

/** Confirms subscriptions at addresses that are made by us, without making anybody wait: each address once, and few in a minute. */
export function createConfirmation({ fetchText, now, onResult }: ConfirmationOptions): (topic: SnsTopic, url: string) => void {
  const isAllowed = createAllowance({ perKey: perTopic, total, now });
  const asked = new BoundedMap<string, true>(maxRemembered);
  return (topic, url) => {
    if (asked.has(url) || !isAllowed(topic.arn)) return;
    asked.set(url, true);
    fetchText(url, AbortSignal.timeout(timeoutMs)).then(
      () => onResult(topic, true),
      () => {
        asked.delete(url);
        onResult(topic, false);
      },
    );
  };
}
