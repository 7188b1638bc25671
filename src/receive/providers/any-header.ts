import { matchesAny, verifyAuthorizationHeader, verifyBasicPassword } from './authorization-header.ts';
import type { Delivery } from './provider.ts';

/** No sender and no proxy adds nearly as many headers; a stranger can send thousands. */
const maxHeaders = 128;

/** For senders whose user chooses the name of the header: one of the secrets as the whole value of any, as bearer token, or as password. */
export function verifyAnyHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const values = Object.values(delivery.headers).filter((value) => typeof value === 'string');
  if (values.length > maxHeaders) return false;
  const isInOne = values.map((value) => matchesAny(value, secrets)).includes(true);
  return isInOne || verifyAuthorizationHeader(delivery, secrets) || verifyBasicPassword(delivery, secrets);
}
