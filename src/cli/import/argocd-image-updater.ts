import { cronJob, daemonSet, deployment, statefulSet } from '../../service/kube/targets.ts';
import { convertAll } from './argocd-image-updater/convert-all.ts';
import { registriesName } from './argocd-image-updater/registries.ts';
import type { Importer } from './importer.ts';

export const argocdImageUpdater: Importer = {
  id: 'argocd-image-updater',
  summary: 'convert the ImageUpdaters and annotations of Argo CD Image Updater into policies',
  about: `Reads the ImageUpdaters of Argo CD Image Updater, its annotations on Applications (argocd-image-updater.argoproj.io/image-list and others) and its registries.conf, and prints ImagePolicies that do the same, with comments on what is different. The targets are the Helm values of an Application (valuesObject) if they hold the image, and otherwise the workloads of the Application that run it.

The status of an Application names its workloads. In FILE it is usually missing: there, the targets are the Deployments with the label app.kubernetes.io/instance. --namespace is that of the Applications and ImageUpdaters; workloads are read from all namespaces.`,
  examples: [
    ['> policies.yaml', 'what is in the cluster'],
    ['-n shop applications/ > policies.yaml', 'files; what names no namespace is in shop'],
  ],
  kinds: [
    { apiVersion: 'argocd-image-updater.argoproj.io', kind: 'ImageUpdater', resource: 'imageupdaters' },
    { apiVersion: 'argoproj.io', kind: 'Application', resource: 'applications' },
    { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps', name: registriesName },
    ...[deployment, statefulSet, daemonSet, cronJob].map((kind) => ({ ...kind, isEverywhere: true as const })),
    { apiVersion: 'argoproj.io', kind: 'Rollout', resource: 'rollouts', isEverywhere: true },
  ],
  nothing: 'there is no ImageUpdater, and no Application with annotations of Argo CD Image Updater',
  convert: convertAll,
};
