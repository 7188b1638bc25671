/**
 * Field managers of tools that reset a workload to what a repository says, as recorded in managedFields: Argo CD, Flux, Helm, Fleet, Config
 * Sync, Carvel, Pulumi, Terraform.
 */
const managers: readonly RegExp[] = [
  /^argocd(?:-|$)/,
  /^(?:helm|helm-controller|kustomize-controller|flux)$/i,
  /^(?:fleet-?agent|gitjob)$/i,
  /^configsync/i,
  /^kapp(?:-controller)?$/,
  /^pulumi/i,
  /^terraform$/i,
  /^hashicorp$/i,
];

/** Whether a field manager is a GitOps tool. */
export function isGitOpsManager(manager: string): boolean {
  return managers.some((pattern) => pattern.test(manager));
}

/** Labels and annotations by which such tools mark the objects they manage, and the tool that uses each. */
const marks: readonly (readonly [key: string, tool: string])[] = [
  ['argocd.argoproj.io/instance', 'Argo CD'],
  ['argocd.argoproj.io/tracking-id', 'Argo CD'],
  ['kustomize.toolkit.fluxcd.io/name', 'Flux'],
  ['helm.toolkit.fluxcd.io/name', 'Flux'],
  ['meta.helm.sh/release-name', 'Helm'],
  ['objectset.rio.cattle.io/id', 'Fleet'],
  ['configmanagement.gke.io/managed', 'Config Sync'],
  ['kapp.k14s.io/app', 'kapp'],
];

/** The GitOps tool that manages an object, judging by its field managers, labels and annotations; undefined if none does. */
export function findGitOpsTool(managersOnObject: readonly string[], keys: readonly string[]): string | undefined {
  return managersOnObject.find(isGitOpsManager) ?? marks.find(([key]) => keys.includes(key))?.[1];
}
