/** The causes of fixes that wait: an image fixes vulnerabilities of what runs, and is not applied. Pure. */
import { defined } from '../../core/model/defined.ts';
import { isUsable, scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { maxFixes } from '../../core/model/notice.ts';
import { isReason } from '../../core/model/reasons.ts';
import { describeFixWait, waitingFixOf, type FixWait } from '../../core/model/waiting-fix.ts';
import type { Cause, CauseStep, Urgency } from './cause.ts';
import { reasonRules } from './reason-rules.ts';

export interface FixCause {
  readonly cause: Cause;
  /** The reason why the fix is not applied. */
  readonly waitsFor: string;
}

/** The cause of the fix that a policy does not apply; undefined if none waits. Policies with the same image of a repository share it. */
export function fixCauseOf({
  namespace,
  name,
  spec,
  status,
  parent,
}: Pick<ImagePolicy, 'namespace' | 'name' | 'spec' | 'status' | 'parent'>): FixCause | undefined {
  const repository = scopeOf(spec)?.repository;
  const fix = waitingFixOf({ spec, status });
  if (fix === undefined || repository === undefined) return undefined;
  const { tag, digest, fixes, wait } = fix;
  const image = formatRepository(repository);
  return {
    waitsFor: wait.reason,
    cause: {
      id: `image/FixAvailable/${image}@${digest}`,
      kind: 'image',
      urgency: urgencyOf(wait),
      subject: `${image}:${tag}`,
      reason: 'FixAvailable',
      message: describeFixWait(fix),
      since: status.latest?.digest === digest ? status.latest.selectedAt : status.waiting?.since,
      policies: [{ namespace, name, ...defined({ parent: parent?.name }) }],
      fixes: fixes.slice(0, maxFixes),
      step: stepOf(wait, spec),
    },
  };
}

/** What ends by itself, and what somebody has decided, only needs a look. */
function urgencyOf({ reason, until }: FixWait): Urgency {
  if (until !== undefined) return 'Warning';
  return reason === 'ApprovalRequired' || ruleOf(reason)?.urgency === 'Blocked' ? 'Blocked' : 'Warning';
}

function stepOf({ reason }: FixWait, spec: ImagePolicy['spec']): CauseStep {
  switch (reason) {
    case 'ApprovalRequired':
      return 'approve';
    case 'Suspended':
      return 'unsuspend';
    case 'MinAge':
      return isUsable(spec) && spec.minAgeUnless === undefined ? 'skipWait' : 'explain';
    case 'Window':
      return isUsable(spec) && spec.windowsUnless === undefined ? 'skipWait' : 'explain';
    default:
      return ruleOf(reason)?.step ?? 'explain';
  }
}

function ruleOf(reason: string) {
  return isReason(reason) ? reasonRules[reason] : undefined;
}
