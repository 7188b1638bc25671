/** Checks of policies (`rollout.checks`) that would never get an answer: by the configuration, and with --cluster by what they are made from. */
import { isUsable, policyKey } from '../../core/model/image-policy.ts';
import type { CheckSettings } from '../../core/model/rollout-check.ts';
import { refusalOf, type AllowedChecks } from '../../service/checks/allowed-checks.ts';
import type { Config } from '../../service/config/settings.ts';
import { formatKeys } from '../../service/resources/validation/problem.ts';
import type { ClusterFinding } from './cluster-findings.ts';
import type { LocatedPolicy } from './shared-warnings.ts';

/** Why a check cannot be made from what it names in the cluster; undefined if it can. */
export type FindUnusable = (check: CheckSettings, namespace: string) => Promise<string | undefined>;

/** The findings about the checks of a policy. Nothing is compared with a configuration that is not given, and nothing is read without `findUnusable`. */
export async function checkFindings(
  { path, policy, positionOf }: LocatedPolicy,
  { allowed, findUnusable }: { readonly allowed?: AllowedChecks | undefined; readonly findUnusable?: FindUnusable },
): Promise<(ClusterFinding & { readonly path: string })[]> {
  const checks = isUsable(policy.spec) ? (policy.spec.rollout?.checks ?? []) : [];
  // A policy of a file without a namespace is linted in none.
  const namespace = policy.namespace === '' ? undefined : policy.namespace;
  const findings: (ClusterFinding & { readonly path: string })[] = [];
  for (const [index, check] of checks.entries()) {
    const refused = allowed && refusalOf(check.question, namespace, allowed);
    const why = refused ?? (namespace === undefined ? undefined : await findUnusable?.(check, namespace));
    if (why === undefined) continue;
    const keys = ['spec', 'rollout', 'checks', index];
    findings.push({
      path,
      severity: 'problem',
      ...positionOf?.(keys),
      policy: namespace === undefined ? policy.name : policyKey(policy),
      field: formatKeys(keys),
      message: `the check ${check.name} would time out: ${why}`,
      reason: 'CheckTimedOut',
    });
  }
  return findings;
}

/** What a configuration lets checks use. */
export function allowedBy({ checks: { hosts, prometheus, jobs, analysis } }: Config): AllowedChecks {
  return { hosts, servers: prometheus, jobs, analysis };
}
