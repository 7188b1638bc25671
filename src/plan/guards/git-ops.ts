/**
 * Field managers of tools that put a workload back to what a repository says, as they are recorded in managedFields: Argo CD, Flux, Helm, Fleet, Config
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

/** Labels and annotations by which such tools know their objects, and whose they are. */
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

/** The GitOps tool that has an object, by the managers, labels and annotations on it; undefined where there is none. */
export function findGitOpsTool(managersOnObject: readonly string[], keys: readonly string[]): string | undefined {
  return managersOnObject.find(isGitOpsManager) ?? marks.find(([key]) => keys.includes(key))?.[1];
}
