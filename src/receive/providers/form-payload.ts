import { headerOf } from './header-of.ts';
import type { Delivery } from './provider.ts';

/** The field `payload` of a form, where senders put the JSON when they are told to send forms; undefined when the body is no form with exactly one. */
export function formPayload(delivery: Delivery): Buffer | undefined {
  const contentType = headerOf(delivery, 'content-type')?.trim().toLowerCase() ?? '';
  if (!contentType.startsWith('application/x-www-form-urlencoded')) return undefined;
  const [payload, ...more] = new URLSearchParams(delivery.body.toString('utf8')).getAll('payload');
  return payload === undefined || more.length > 0 ? undefined : Buffer.from(payload);
}
