import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';
import { say, type Said } from '../say.ts';

/** The permissions of a service account, compared with those that the chart lists. */
export interface PermissionFacts {
  /** The name of the account: `system:serviceaccount:image-watcher:image-watcher-work`, or `this process`. */
  readonly account: string | Said;
  readonly grants: readonly GrantFacts[];
  /** The number of namespaces that were not checked, because their number is limited. */
  readonly namespacesNotAsked?: number;
}

/** The permissions of one file of charts/image-watcher/files/permissions, in one namespace or (undefined) in all. */
export interface GrantFacts {
  readonly file: PermissionFile;
  readonly namespace?: string | undefined;
  /** The refused permissions, such as `patch deployments.apps`; or why they are not known. */
  readonly missing: readonly string[] | { readonly why: string };
}

/** The consequences if the permissions of a file are missing; undefined if the service cannot work without them. */
const consequences = {
  work: undefined,
  'work-bases': 'without.work-bases',
  'work-notifications': 'without.work-notifications',
  'work-rebase': 'without.work-rebase',
  'work-checks': 'without.work-checks',
  'work-analysis': 'without.work-analysis',
  'work-vulnerabilities': 'without.work-vulnerabilities',
  'work-status': undefined,
  'work-secrets': 'without.work-secrets',
  'work-secret-watches': 'without.work-secret-watches',
  'work-namespaces': 'without.work-namespaces',
  'work-definitions': 'without.work-definitions',
  'work-reviews': 'without.work-reviews',
  'convert-crd': undefined,
  'convert-secret': undefined,
} as const;

/** The files whose permissions are checked. */
export type PermissionFile = keyof typeof consequences;

/** The files whose permissions are checked, as a list. */
export const permissionFiles = Object.keys(consequences) as readonly PermissionFile[];

/** Checks that the service has the permissions that the chart grants. */
export const permissions: Check<PermissionFacts> = {
  id: 'permissions',
  lines: [...permissionFiles, 'not-asked'],
  evaluate: ({ account, grants, namespacesNotAsked = 0 }) => [
    ...grants.map((grant) => evaluateGrant(account, grant)),
    ...(namespacesNotAsked > 0 ? [skipped('permissions/not-asked', say('permissions.notAsked', namespacesNotAsked))] : []),
  ],
};

function evaluateGrant(account: string | Said, { file, namespace, missing }: GrantFacts): Finding {
  const line = `permissions/${file}`;
  const place = namespace === undefined ? say('permissions.nowhere') : say('permissions.in', namespace);
  if ('why' in missing) return skipped(line, say('permissions.unknown', account, place, missing.why));
  if (missing.length === 0) return ok(line, say('permissions.all', account, file, place));
  const consequence = consequences[file];
  const refused = missing.join(', ');
  const message =
    consequence === undefined
      ? say('permissions.missing', account, refused, place)
      : say('permissions.missingWith', account, refused, place, say(consequence));
  // Missing permissions for rebases are no failure: an administrator decides about them, and many clusters do not need them.
  if (file === 'work-rebase') return skipped(line, message, say('permissions.rebase.do'));
  const finding = consequence === undefined ? failed : warning;
  return finding(line, message, file === 'work-vulnerabilities' ? say('permissions.vulnerabilities.do') : say('permissions.do', file));
}
