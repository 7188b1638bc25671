import type { BaseImagePolicy } from '../model/base-policy.ts';
import type { BaseStatus } from '../model/base-status.ts';
import { maxLengths } from '../model/policy-status.ts';
import { cut } from '../model/text.ts';
import { isReleased } from './guards/released.ts';

/** Why a base is rejected, at the time `now` in ms since 1970; undefined if it may be used, also after a release. */
export function rejectionOf({ status: { rejected = [] }, actions }: BaseImagePolicy, { digest }: { readonly digest: string }, now: number) {
  return rejected.find((one) => one.digest === digest && !isReleased(new Date(one.at), actions, new Date(now)));
}

const maxRejected = 10;

/** The rejected bases of the status with one more, the latest first. `now` is in ms since 1970. */
export function withRejection(
  { status: { rejected = [] } }: BaseImagePolicy,
  { tag, digest }: { readonly tag: string; readonly digest: string },
  message: string,
  now: number,
): NonNullable<BaseStatus['rejected']> {
  return [{ tag, digest, at: new Date(now).toISOString(), message: cut(message, maxLengths.message) }, ...rejected].slice(0, maxRejected);
}
