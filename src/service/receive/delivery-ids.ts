/** The ids by which senders ask what became of their deliveries. Nobody can guess one, because it follows from a secret as well. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface DeliveryIds {
  /** The id of an event that was delivered to a receiver. */
  of(eventId: string, receiver: string): Promise<string>;
  /** The event of an id; undefined if the id was not given for this receiver. */
  read(id: string, receiver: string): Promise<string | undefined>;
}

const macLength = 40;

/** How long the secret is kept: where Redis was wiped, all replicas have the new one soon. */
const keptMs = 10_000;

/** `readSecret` reads the secret that all replicas share; `elapsed` is a monotonic clock in ms. */
export function createDeliveryIds(readSecret: () => Promise<string>, elapsed = () => performance.now()): DeliveryIds {
  let kept: { readonly at: number; readonly reading: Promise<string> } | undefined;
  const secret = () => {
    if (kept === undefined || elapsed() - kept.at >= keptMs) kept = { at: elapsed(), reading: readSecret() };
    const own = kept;
    own.reading.catch(() => kept === own && (kept = undefined));
    return own.reading;
  };
  const macOf = async (eventId: string, receiver: string) =>
    createHmac('sha256', await secret())
      .update(JSON.stringify([receiver, eventId]))
      .digest('hex')
      .slice(0, macLength);
  return {
    of: async (eventId, receiver) => `${eventId}-${await macOf(eventId, receiver)}`,
    async read(id, receiver) {
      const [eventId, mac] = [id.slice(0, -macLength - 1), id.slice(-macLength)];
      if (eventId === '' || id.at(-macLength - 1) !== '-') return undefined;
      const expected = await macOf(eventId, receiver);
      return mac.length === macLength && timingSafeEqual(Buffer.from(mac), Buffer.from(expected)) ? eventId : undefined;
    },
  };
}
