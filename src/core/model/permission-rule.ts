/** A rule in RBAC's terms: every verb on every resource of every group, or only on the resources with these names. */
export interface PermissionRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
