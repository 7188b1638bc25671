import { nameOfSet, wholeDigest } from '../../model/companions.ts';
import { defined } from '../../model/defined.ts';
import { actionAnnotations, parseApproval } from '../../model/policy-actions.ts';
import { approvalPrefix } from '../../model/named-approvals.ts';
import { countApprovals, describeCount } from '../approvals.ts';
import type { Guard, GuardContext, GuardDecision } from './guard.ts';

/** Blocks changes without an approval of exactly this tag and digest. */
export const approval: Guard = {
  id: 'approval',
  bindsRollback: false,
  check(_, context) {
    const { policy, spec, candidate } = context;
    if (spec.mode !== 'Approval') return undefined;
    if (spec.approvals !== undefined) return byMany(context);
    const { tag } = candidate;
    const digest = wholeDigest(candidate);
    const written = policy.actions?.approve;
    const approved = parseApproval(written);
    if (digest !== undefined && approved?.tag === tag && approved.digest === digest) return undefined;
    const image = `${tag}${digest === undefined ? '' : `@${digest}`}`;
    const hint = `approve it with image-watcher approve ${policy.namespace}/${policy.name}, or with the annotation ${actionAnnotations.approve}: ${image}`;
    const what = nameOfSet(candidate);
    if (written === undefined) return { kind: 'blocked', reason: 'ApprovalRequired', message: `${what} waits for approval: ${hint}` };
    const why = approved === undefined ? 'is not of the form TAG@sha256:…' : 'approves something else';
    return { kind: 'blocked', reason: 'ApprovalRequired', message: `${what} waits for approval; "${written}" ${why}: ${hint}` };
  },
};

/** The decision of a policy that asks for several people. The annotation `approve`, which names nobody, has no effect on it. */
function byMany({ policy, spec, candidate, now }: GuardContext): GuardDecision | undefined {
  const { tag } = candidate;
  const count = countApprovals({ ...policy, spec }, { tag, ...defined({ digest: wholeDigest(candidate) }) }, now);
  if (count === undefined || (count.isEnough && candidate.digest !== undefined)) return undefined;
  const hint = `approve it with image-watcher approve ${policy.namespace}/${policy.name}, on the dashboard, or with an annotation ${approvalPrefix}…`;
  return {
    kind: 'blocked',
    reason: 'ApprovalRequired',
    message: `${nameOfSet(candidate)} waits for approval: ${describeCount(count)}: ${hint}`,
  };
}
