import { matchesAny, verifyAuthorizationHeader, verifyBasicPassword } from './authorization-header.ts';
import type { Delivery } from './provider.ts';

/** For senders whose user chooses the name of the header: one of the secrets as the whole value of any, as bearer token, or as password. */
export function verifyAnyHeader(delivery: Delivery, secrets: readonly string[]): boolean {
  const values = Object.values(delivery.headers).filter((value) => typeof value === 'string');
  const isInOne = values.map((value) => matchesAny(value, secrets)).includes(true);
  return isInOne || verifyAuthorizationHeader(delivery, secrets) || verifyBasicPassword(delivery, secrets);
}
