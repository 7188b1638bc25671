/** The permissions that the chart ships: what a service that is installed with it may do, and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { ControlPlane } from './control-plane.ts';
import { kubeconfigWithGrants, type Account, type Grant, type Rule } from './service-account.ts';

/** Whom the chart grants something: a role of the program, the jobs that write the CustomResourceDefinition, or the one that makes the password of Redis. */
export type Grantee = 'work' | 'convert' | 'definition' | 'redis-password';

/** Where the service is, which namespaces it watches (all, unless given), whether it rolls out rebased images, runs Jobs or makes AnalysisRuns for checks, and reads VulnerabilityReports, and what its user grants it besides. */
export interface Installation {
  readonly namespace?: string;
  readonly watched?: readonly string[];
  readonly rebase?: boolean;
  readonly checkJobs?: boolean;
  readonly analysis?: boolean;
  readonly vulnerabilityReports?: boolean;
  readonly extraRules?: readonly Rule[];
}

export const permissionsFolder = join(import.meta.dirname, '../../charts/image-watcher/files/permissions');

/** The rules of a file of the chart. */
export function shippedRules(file: string): Rule[] {
  return parse(readFileSync(join(permissionsFolder, `${file}.yaml`), 'utf8')) as Rule[];
}

/** What the chart grants; test/charts compares it with what the templates make of the same files. */
export function shippedGrants(
  grantee: Grantee,
  {
    namespace = 'default',
    watched,
    rebase = false,
    checkJobs = false,
    analysis = false,
    vulnerabilityReports = false,
    extraRules = [],
  }: Installation = {},
): Grant[] {
  switch (grantee) {
    case 'work': {
      const rules = [
        ...[
          'work',
          'work-bases',
          'work-notifications',
          ...(rebase ? ['work-rebase'] : []),
          ...(vulnerabilityReports ? ['work-vulnerabilities'] : []),
          ...(checkJobs ? ['work-checks'] : []),
          ...(analysis ? ['work-analysis'] : []),
          'work-secrets',
          'work-secret-watches',
        ].flatMap(shippedRules),
        ...extraRules,
      ];
      const status = shippedRules('work-status');
      if (watched !== undefined) {
        return watched.flatMap((one) => [
          { namespace: one, rules },
          { namespace: one, rules: status },
        ]);
      }
      return [
        { rules: [...rules, ...shippedRules('work-namespaces'), ...shippedRules('work-definitions'), ...shippedRules('work-reviews')] },
        { rules: status },
      ];
    }
    case 'convert':
      return [{ namespace, rules: shippedRules('convert-secret') }, { rules: shippedRules('convert-crd') }];
    case 'definition':
      return [{ rules: shippedRules('definition') }, { namespace, rules: shippedRules('definition-endpoint') }];
    case 'redis-password':
      return [{ namespace, rules: shippedRules('redis-password') }];
  }
}

/** A kubeconfig of the account that runs all roles in one process. */
export function kubeconfigAsShipped(cluster: ControlPlane, installation: Installation = {}): Promise<string> {
  const { namespace = 'default' } = installation;
  const account: Account = { name: 'image-watcher', namespace };
  return kubeconfigWithGrants(cluster, account, [...shippedGrants('work', installation), ...shippedGrants('convert', installation)]);
}
