/**
 * Stops what is being done for a BaseImagePolicy as soon as the policy is not what it was planned for any more: suspended, deleted, changed, its approval taken back.
 * A reconcile may take minutes, with a slow registry or many workloads.
 */
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { isAsPlanned } from '../../core/model/same-base-plan.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePolicies } from './ports.ts';

/** The policy is not as it was planned for: what it wants now has to be found out anew. */
export class PolicyChanged extends Error {
  override readonly name = 'PolicyChanged';
}

export interface Brake {
  /** Aborted with a PolicyChanged as soon as the change is known, and with the signal of the worker. */
  readonly signal: AbortSignal;
  /** To be called before each act for a base: resolves if the policy was as planned at most 3 s ago; otherwise rejects, and aborts the signal. */
  readonly confirm: (base: SelectedBase) => Promise<void>;
  /** Ends the watching; must be called. */
  release(): void;
}

/** Follows a policy until it is released. */
export function startBrake(policy: BaseImagePolicy, basePolicies: Pick<BasePolicies, 'subscribe' | 'isAsPlanned'>, by: AbortSignal): Brake {
  const controller = new AbortController();
  const { signal } = controller;
  const stop = () => controller.abort(new PolicyChanged(`BaseImagePolicy ${policyKey(policy)} has changed meanwhile`));
  const onAbort = () => controller.abort(by.reason);
  if (by.aborted) onAbort();
  else by.addEventListener('abort', onAbort, { once: true });
  const unsubscribe = basePolicies.subscribe(({ type, object }) => {
    if (object.namespace !== policy.namespace || object.name !== policy.name) return;
    const isGone = type === 'deleted' && object.uid === policy.uid;
    if (isGone || (type !== 'deleted' && !isAsPlanned(policy, object))) stop();
  });
  return {
    signal,
    async confirm(base) {
      signal.throwIfAborted();
      if (!(await basePolicies.isAsPlanned(policy, base, signal))) stop();
      signal.throwIfAborted();
    },
    release() {
      unsubscribe();
      by.removeEventListener('abort', onAbort);
    },
  };
}
