import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';

/** The permissions of a service account, compared with those that the chart lists. */
export interface PermissionFacts {
  /** The name of the account: `system:serviceaccount:image-watcher:image-watcher-work`, or `this process`. */
  readonly account: string;
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
  'work-bases': 'BaseImagePolicies do nothing',
  'work-notifications': 'NotificationTargets of namespaces are not notified',
  'work-rebase': 'images that BaseImagePolicies have rebased are not rolled out',
  'work-status': undefined,
  'work-secrets':
    'registries can be read anonymously or with the own credentials of the service only, and signatures cannot be verified with keys of Secrets',
  'work-secret-watches': 'contents of Secrets are read again every 30 s, and policies notice a changed Secret at their next poll',
  'work-namespaces': 'a changed consent of a Namespace is noticed at the next reconcile',
  'work-definitions': 'a kind that is installed after the policy that names it is found within ten seconds to six minutes',
  'work-reviews': 'the API answers 503 with operations.auth: kubernetes',
  'convert-crd': undefined,
  'convert-secret': undefined,
} as const;

/** The files whose permissions are checked. */
export type PermissionFile = keyof typeof consequences;

/** The files whose permissions are checked, as a list. */
export const permissionFiles = Object.keys(consequences) as readonly PermissionFile[];

/** A rule in RBAC's terms. */
export interface PermissionRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Checks that the service has the permissions that the chart grants. */
export const permissions: Check<PermissionFacts> = {
  id: 'permissions',
  lines: [...permissionFiles, 'not-asked'],
  evaluate: ({ account, grants, namespacesNotAsked = 0 }) => [
    ...grants.map((grant) => evaluateGrant(account, grant)),
    ...(namespacesNotAsked > 0
      ? [
          skipped(
            'permissions/not-asked',
            `${namespacesNotAsked} more watched namespaces were not asked for, so that a report costs few requests`,
          ),
        ]
      : []),
  ],
};

function evaluateGrant(account: string, { file, namespace, missing }: GrantFacts): Finding {
  const line = `permissions/${file}`;
  const place = namespace === undefined ? '' : ` in ${namespace}`;
  if ('why' in missing) return skipped(line, `the permissions of ${account}${place} are not known: ${missing.why}`);
  if (missing.length === 0) return ok(line, `${account} has all permissions of ${file}.yaml${place}`);
  const consequence = consequences[file];
  const message = `${account} may not ${missing.join(', ')}${place}${consequence === undefined ? '' : `: ${consequence}`}`;
  // Missing permissions for rebases are no failure: an administrator decides about them, and many clusters do not need them.
  if (file === 'work-rebase')
    return skipped(line, message, 'set permissions.rebase: true in the values of the chart if a BaseImagePolicy has the action rebase');
  const finding = consequence === undefined ? failed : warning;
  return finding(line, message, `grant what charts/image-watcher/files/permissions/${file}.yaml lists: helm upgrade does`);
}
