import type { BaseImagePolicy } from '../model/base-policy.ts';
import type { BaseStatus } from '../model/base-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { cut } from '../model/text.ts';
import { isReleased } from './guards/released.ts';

/** A base that is not used again. */
export type RejectedBase = NonNullable<BaseStatus['rejected']>[number];

/** Why a base is rejected, at the time `now` in ms since 1970; undefined if it may be used, also after a release. */
export function rejectionOf({ status: { rejected = [] }, actions }: BaseImagePolicy, { digest }: { readonly digest: string }, now: number) {
  return rejected.find((one) => one.digest === digest && !isReleased(new Date(one.at), actions, new Date(now)));
}

const maxRejected = 10;

/** The rejected bases with one more, the latest first; each digest is listed once. */
export function addRejectedBase(rejected: readonly RejectedBase[], base: RejectedBase): RejectedBase[] {
  const others = rejected.filter(({ digest }) => digest !== base.digest);
  return [{ ...base, message: cut(base.message, maxLengths.message) }, ...others].slice(0, maxRejected);
}

/** The rejected bases of the status with one more whose rollouts failed. `now` is in ms since 1970. */
export function withRejection(
  { status: { rejected = [] } }: BaseImagePolicy,
  { tag, digest }: { readonly tag: string; readonly digest: string },
  message: string,
  now: number,
): NonNullable<BaseStatus['rejected']> {
  return addRejectedBase(rejected, { tag, digest, at: new Date(now).toISOString(), message });
}
