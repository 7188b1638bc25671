import { actionAnnotations } from '../../model/policy-actions.ts';
import { evidenceLooks, firstSeen } from '../await-evidence.ts';
import { assessmentOf, findVeto } from '../security-rules.ts';
import type { Guard, GuardContext } from './guard.ts';
import { holdDecision, isReleased } from './released.ts';

/**
 * Keeps an image from replacing one with fewer vulnerabilities (`verify.vulnerabilities.notMoreThanRunning`), until somebody releases it. What is not known yet
 * may follow: the evidence is read again for an hour, and then with each poll.
 */
export const vulnerabilities: Guard = {
  id: 'vulnerabilities',
  bindsRollback: false,
  check({ changes }, context) {
    const { policy, spec, candidate, assessments, now } = context;
    const level = spec.vulnerabilities?.notMoreThanRunning;
    if (level === undefined || isPermitted(context)) return undefined;
    const assessment = assessmentOf(candidate, assessments);
    // Where only companions are changed, the own image runs already.
    const replacing = changes.filter(({ from, to }) => from !== to);
    const vetoes = replacing.flatMap(({ container, from }) => {
      const veto = findVeto(level, assessment, from);
      return veto === undefined ? [] : [{ container, ...veto }];
    });
    const [first] = vetoes.toSorted((a, b) => Number(a.isUnknown) - Number(b.isUnknown));
    if (first === undefined) return undefined;
    const containers = vetoes.map(({ container }) => container);
    const release = `a release: annotation ${actionAnnotations.release}: "<time>"`;
    if (!first.isUnknown) {
      const message = `${candidate.tag} is not applied: ${first.message}. Push a better image, or apply it all the same by ${release}`;
      return holdDecision({ reason: 'MoreVulnerable', message, containers }, policy.actions, now);
    }
    const why = `${candidate.tag} is not applied while its vulnerabilities are not known (verify.vulnerabilities): ${first.message}. It can be applied all the same by ${release}`;
    const held = holdDecision({ reason: 'VulnerabilitiesUnknown', message: why, containers }, policy.actions, now);
    const [next] = evidenceLooks(firstSeen(candidate, policy.status) ?? now.getTime(), now.getTime());
    const isSooner = next !== undefined && (held.kind !== 'waits' || next < held.until);
    return isSooner ? { kind: 'waits', reason: 'VulnerabilitiesUnknown', message: held.message, containers, until: next } : held;
  },
};

/** Whether somebody has released the image since the policy selected it. */
function isPermitted({ policy: { actions, status }, candidate, now }: GuardContext): boolean {
  const sinceMs = firstSeen(candidate, status);
  return sinceMs !== undefined && isReleased(new Date(sinceMs), actions, now);
}
