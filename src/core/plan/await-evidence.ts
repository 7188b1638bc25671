/** When the evidence of the vulnerabilities of an image is read again: scanners and pipelines write it after the image. Pure. */
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { assessmentOf, exceptionOf } from './security-rules.ts';
import { isPending } from './pending-candidate.ts';
import { isSameWhole } from '../model/companions.ts';
import { defined } from '../model/defined.ts';

/** When evidence is read again after the image was first seen, in seconds. After the last time, it is read again with each poll or push. */
const delays: readonly number[] = [15, 30, 60, 120, 240, 480, 960, 1_920, 3_600];

/** When the evidence of an image of this age is still to be read again, the next time first. Both times in ms since 1970. */
export function evidenceLooks(sinceMs: number, nowMs: number): readonly Date[] {
  // The clock of the replica that saw the image first may be ahead.
  const start = Math.min(sinceMs, nowMs);
  return delays.map((seconds) => new Date(start + seconds * 1_000)).filter((at) => at.getTime() > nowMs);
}

/** When an image was first seen, in ms since 1970, as the status of its policy says; undefined for one that the status does not show. */
export function firstSeen(image: Candidate, { waiting, latest }: Pick<PolicyStatus, 'waiting' | 'latest'> = {}): number | undefined {
  const whole = { ...defined({ digest: image.digest, setDigest: image.setDigest }) };
  const times = [
    ...(isPending(waiting) && isSameWhole(waiting, whole) && waiting.since !== undefined ? [Date.parse(waiting.since)] : []),
    ...(latest !== undefined && isSameWhole(latest, whole) ? [Date.parse(latest.selectedAt)] : []),
  ].filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * When the images of a policy were first seen that are not applied because of what is known of their vulnerabilities, or that would not have to wait if more were
 * known: in ms since 1970, each once. A statement of the maker, or the report of another scanner, may follow the first report.
 */
export function awaitsEvidence({ spec, status }: ImagePolicy): readonly number[] {
  const { waiting, latest, vulnerabilities, conditions = [] } = status;
  if (!isUsable(spec) || spec.suspended || vulnerabilities === undefined) return [];
  const isVetoed = conditions.some(({ type, status: is, reason }) => type === 'Held' && is === 'True' && reason === 'MoreVulnerable');
  const times = [isPending(waiting) ? waiting : undefined, latest].flatMap((image) => {
    const isOpen = image !== undefined && assessmentOf(image, vulnerabilities) !== undefined;
    if (!isOpen) return [];
    const exception = isPending(waiting) ? exceptionOf(waiting.reason, spec, image, vulnerabilities) : undefined;
    return isVetoed || exception?.holds === false ? [firstSeen(image, status)] : [];
  });
  return [...new Set(times.filter((time) => time !== undefined))];
}
