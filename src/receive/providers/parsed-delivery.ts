import type { ClaimedPush, IgnoredPush } from '../../model/push-event.ts';
import type { ParsedDelivery } from './provider.ts';

/** What was read of each part of a delivery, sorted into pushes and what is ignored. */
export function toParsedDelivery(results: readonly (ClaimedPush | IgnoredPush)[]): ParsedDelivery {
  const pushes: ClaimedPush[] = [];
  const ignored: IgnoredPush[] = [];
  for (const result of results) {
    if ('reason' in result) ignored.push(result);
    else pushes.push(result);
  }
  return { pushes, ignored };
}
