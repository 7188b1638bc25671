/** Reads the report of a push for who has delivered it. */
import { broughtIn, reportOf, type DeliveryReport } from './delivery-report.ts';
import type { EventReader } from './read-events.ts';

/**
 * Creates the reader. A report is undefined if no record of the push is left, or if another receiver was given it. `dashboardUrl`: the address of the dashboard,
 * if it has one; reports then have the page of each policy.
 */
export function createReportReader(
  events: Pick<EventReader, 'get'>,
  dashboardUrl: string | undefined,
): (id: string, receiver: string) => Promise<DeliveryReport | undefined> {
  return async (id, receiver) => {
    const record = await events.get(id);
    if (record?.event.receiver !== receiver) return undefined;
    const brought = await Promise.all(broughtIn(record).map(async (other) => [other, await events.get(other)] as const));
    return reportOf(record, new Map(brought.flatMap(([other, found]) => (found === undefined ? [] : [[other, found]]))), dashboardUrl);
  };
}
