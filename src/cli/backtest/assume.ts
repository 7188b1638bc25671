/** What a backtest takes for granted, because the past of a registry does not show it. */
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { PermanentError } from '../../core/model/errors.ts';

/** A policy as a backtest plays it, and what it takes for granted, one sentence each. */
export interface Assumed {
  readonly policy: ImagePolicy & { readonly spec: PolicySpec };
  readonly assumptions: readonly string[];
}

/**
 * Removes from a policy what needs more than images and times. `approves`: whether each image is approved as soon as it waits for that. Throws
 * PermanentError(InvalidPolicy) where nothing can be said without what other policies ran.
 */
export function assume(policy: ImagePolicy, spec: PolicySpec, approves: boolean): Assumed {
  if (spec.strategy.isProven === true || spec.after !== undefined)
    throw new PermanentError(
      'InvalidPolicy',
      'it follows what other policies run, which the past of a registry does not show: test the followed policies',
    );
  const { verification, vulnerabilities, minAgeUnless: _minAge, windowsUnless: _windows, rollout, ...kept } = spec;
  const isApproved = approves && spec.mode === 'Approval';
  const assumptions = [
    ...(verification === undefined ? [] : ['every image counts as signed']),
    ...(vulnerabilities === undefined ? [] : ['no image counts as a security fix, or as worse than what runs']),
    ...(rollout?.checks === undefined ? [] : ['every check counts as passed']),
    ...(rollout === undefined ? [] : ['every rollout counts as complete, at once']),
    ...(isApproved ? ['every image is approved at once'] : []),
    ...(spec.suspended ? ['the policy counts as not suspended'] : []),
  ];
  const played: PolicySpec = {
    ...kept,
    suspended: false,
    mode: isApproved ? 'Automatic' : spec.mode,
    targets: [],
  };
  return { policy: { ...policy, spec: played, status: {}, actions: {} }, assumptions };
}
