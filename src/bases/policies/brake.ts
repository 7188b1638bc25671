/**
 * Stops the work for a BaseImagePolicy as soon as the policy differs from the one it was planned for: suspended, deleted, changed, its approval withdrawn. A
 * reconcile may take minutes, with a slow registry or many workloads.
 */
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { isAsPlanned } from './same-base-plan.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePolicies } from './ports.ts';

/** The policy differs from the one that the work was planned for. It has to be evaluated again. */
export class PolicyChanged extends Error {
  override readonly name = 'PolicyChanged';
}

export interface Brake {
  /** Aborted with a PolicyChanged as soon as the change is known, and together with the signal of the worker. */
  readonly signal: AbortSignal;
  /** Must be called before each write for a base. Resolves if the policy was as planned at most 3 s ago. Otherwise rejects, and aborts the signal. */
  readonly confirm: (base: SelectedBase) => Promise<void>;
  /** Unsubscribes from the changes of the policy; must be called. */
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
