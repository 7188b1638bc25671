import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import { awaitsEvidence, evidenceLooks } from '../../../core/plan/await-evidence.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';

/** How far ahead jobs are made. All policies are evaluated once a minute, so that no look is missed. */
const aheadMs = 90_000;

/**
 * The delayed jobs that look again at an image that is not applied, and might be if more were known of its vulnerabilities (`minAgeUnless`,
 * `update.windowsUnless`, `verify.vulnerabilities.notMoreThanRunning`). Like the job of a wait, they follow from the status alone, and the same look makes the same job.
 */
export function evidenceJobs(policy: ImagePolicy, now: Date): PolicyJob[] {
  const awaited = awaitsEvidence(policy);
  if (awaited.length === 0) return [];
  const looks = awaited.flatMap((since) => evidenceLooks(since, now.getTime()));
  const soon = new Set(looks.map((at) => at.getTime()).filter((at) => at <= now.getTime() + aheadMs));
  return [...soon].map((look) => {
    const at = new Date(look).toISOString();
    return policyJob(policy, { generation: policy.generation, source: 'WaitOver', cause: `evidence:${at}`, receivedAt: at, notBefore: at });
  });
}
