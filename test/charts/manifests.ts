/** Ways to look at what a chart makes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../harness/helm.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const clusterWide = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'Namespace',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

/** The collection that an object belongs to: `/apis/apps/v1/namespaces/shop/deployments`. */
export function resourceOf({ apiVersion, kind, metadata }: Manifest, defaultNamespace: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const namespacePath = clusterWide.has(kind) ? '' : `/namespaces/${metadata.namespace ?? defaultNamespace}`;
  return `${root}${namespacePath}/${kind
    .toLowerCase()
    .replace(/(?<=polic)y$/, 'ie')
    .replace(/(?<=ingres)s$/, 'se')}s`;
}

export interface PodTemplate {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly containers: readonly { readonly args?: readonly string[] }[];
  };
}

/** The pods that Deployments, StatefulSets and Jobs would make. */
export function podTemplatesOf(objects: readonly Manifest[]): PodTemplate[] {
  return objects
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map(({ metadata, spec }) => {
      const { template } = spec as {
        template: { metadata: { labels: Record<string, string> }; spec: PodTemplate['spec'] & { volumes?: object[] } };
      };
      const claims = (spec as { volumeClaimTemplates?: { metadata: { name: string } }[] }).volumeClaimTemplates ?? [];
      // What a StatefulSet adds to its pods.
      const volumes = claims.map(({ metadata: { name } }) => ({ name, persistentVolumeClaim: { claimName: name } }));
      return {
        name: metadata.name,
        labels: template.metadata.labels,
        spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...volumes] },
      };
    });
}

/** Each configuration of the program, as a file; the password of Redis is mounted for it. */
export function configOf(objects: readonly Manifest[]): string[] {
  const folder = tempFolder('config');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, 'a password');
  return objects
    .filter(({ kind }) => kind === 'ConfigMap')
    .flatMap(({ data }) => Object.entries(data as Record<string, string>))
    .filter(([name]) => name.endsWith('.yaml'))
    .map(([name, text]) => {
      const file = join(folder, name);
      writeFileSync(file, text.replace('/etc/image-watcher-redis/password', passwordFile));
      return file;
    });
}
