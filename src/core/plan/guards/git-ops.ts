/**
 * Field managers of tools that reset a workload to the state in a repository, as recorded in managedFields: Argo CD, Flux, Helm, Fleet, Config Sync, Carvel,
 * Pulumi, Terraform.
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

/** Labels and annotations with which GitOps tools mark the objects that they manage, each with its tool. */
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

/** Helm by itself. It writes an image only when somebody runs it, whereas the other tools do so again and again. */
export const helm = 'Helm';
const helmManager = /^helm$/i;

/**
 * The GitOps tool that manages an object, judging by its field managers, labels and annotations; undefined if none does. The result is `helm` only if no other
 * tool runs Helm.
 */
export function findGitOpsTool(managersOnObject: readonly string[], keys: readonly string[]): string | undefined {
  const marked = marks.flatMap(([key, tool]) => (keys.includes(key) ? [tool] : []));
  const other =
    managersOnObject.find((manager) => isGitOpsManager(manager) && !helmManager.test(manager)) ?? marked.find((tool) => tool !== helm);
  const isOfHelm = marked.includes(helm) || managersOnObject.some((manager) => helmManager.test(manager));
  return other ?? (isOfHelm ? helm : undefined);
}
