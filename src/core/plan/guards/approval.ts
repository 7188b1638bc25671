import { actionAnnotations, parseApproval } from '../../model/policy-actions.ts';
import type { Guard } from './guard.ts';

/** Blocks changes without an approval of exactly this tag and digest. */
export const approval: Guard = {
  id: 'approval',
  bindsRollback: false,
  check(_, { policy, spec, candidate }) {
    if (spec.mode !== 'Approval') return undefined;
    const { tag, digest } = candidate;
    const written = policy.actions?.approve;
    const approved = parseApproval(written);
    if (digest !== undefined && approved?.tag === tag && approved.digest === digest) return undefined;
    const image = `${tag}${digest === undefined ? '' : `@${digest}`}`;
    const hint = `approve it with image-watcher approve ${policy.namespace}/${policy.name}, or with the annotation ${actionAnnotations.approve}: ${image}`;
    if (written === undefined) return { kind: 'blocked', reason: 'ApprovalRequired', message: `${tag} waits for approval: ${hint}` };
    const why = approved === undefined ? 'is not of the form TAG@sha256:…' : 'approves something else';
    return { kind: 'blocked', reason: 'ApprovalRequired', message: `${tag} waits for approval; "${written}" ${why}: ${hint}` };
  },
};
