import { cronJob, daemonSet, deployment, statefulSet } from '../../service/kube/targets.ts';
import type { Importer, ReadKind } from './importer.ts';
import { convertAll } from './flux/convert-all.ts';
import { group } from './flux/resources.ts';

const policies: readonly ReadKind[] = [
  { apiVersion: group, kind: 'ImagePolicy', resource: 'imagepolicies' },
  { apiVersion: group, kind: 'ImageRepository', resource: 'imagerepositories', isEverywhere: true },
  { apiVersion: group, kind: 'ImageUpdateAutomation', resource: 'imageupdateautomations' },
];
const targets: readonly ReadKind[] = [
  { apiVersion: 'helm.toolkit.fluxcd.io', kind: 'HelmRelease', resource: 'helmreleases', isEverywhere: true },
  ...[deployment, statefulSet, daemonSet, cronJob].map((kind) => ({ ...kind, isEverywhere: true as const })),
];

export const flux: Importer = {
  id: 'flux',
  summary: "convert Flux's ImagePolicies, ImageRepositories and ImageUpdateAutomations into policies",
  about: `Reads the image automation of Flux (ImagePolicy, ImageRepository and ImageUpdateAutomation), and prints ImagePolicies of image-watcher that do the same, with comments on what is different. They are in the namespaces of their targets.

With FILE, such as a clone of the repository that Flux writes to, the targets are the fields that its markers name ({"$imagepolicy": "NAMESPACE:NAME"}). The cluster has no markers: there, the targets are the Deployments, StatefulSets, DaemonSets, CronJobs and HelmReleases that run the image, in all namespaces; --namespace is that of Flux's ImagePolicies.`,
  examples: [
    ['clusters/ apps/ > policies.yaml', 'the policies and the manifests of a repository'],
    ['-n flux-system > policies.yaml', 'what is in the cluster, without the markers'],
  ],
  kinds: [...policies, ...targets],
  nothing: 'there is no ImagePolicy of Flux',
  convert: convertAll,
};
