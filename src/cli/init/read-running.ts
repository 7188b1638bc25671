/** Reads what the workloads of a cluster run, and which of them no policy should change. */
import { defined } from '../../core/model/defined.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import { type Config, registryAliases } from '../../service/config/settings.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { listPages, listPath } from '../../service/kube/objects.ts';
import { isWanted, projectWorkload } from '../../service/kube/project-workload.ts';
import { targets } from '../../service/kube/targets.ts';
import { type ImagePolicy, policyKey, scopeOf } from '../../core/model/image-policy.ts';
import { type ImageSource, podAccess } from '../../core/model/image-source.ts';
import { sameRepository, tryParseImageReference } from '../../core/model/image-reference.ts';
import { isTargetContainer } from '../../core/model/resolve-target.ts';
import { fieldsOf, textOrEmpty } from '../../core/model/untyped.ts';
import { helm } from '../../core/plan/guards/git-ops.ts';
import { formatWorkload, imagesOf, type Workload } from '../../core/model/workload.ts';
import { listPolicies, pageSize } from '../../service/command-line/policy-client.ts';
import { createPodSecrets } from '../pod-secrets.ts';
import { repositoryKey, type HelmRelease, type LeftOut, type RunningImage } from './propose-policies.ts';
import { readContextOf } from '../read-context.ts';
import type { RunningChart } from './find-charts.ts';
import { readCharts } from './read-charts.ts';
import { controllerOf, systemNamespaces, updatedWithCluster } from './why-not-resource.ts';

export interface Running {
  readonly images: readonly RunningImage[];
  readonly charts: readonly RunningChart[];
  readonly leftOut: readonly LeftOut[];
  /** The repositories whose tags are needed, by `repositoryKey`, each with the Secrets of the pods that run its images. */
  readonly sources: ReadonlyMap<string, ImageSource>;
  /** The names of existing policies, as NAMESPACE/NAME. */
  readonly taken: ReadonlySet<string>;
  /** What could not be read. */
  readonly doubts: readonly string[];
}

/** A running image with its workload. */
interface Found extends RunningImage {
  readonly workload: Workload;
}

interface Where {
  /** The namespace to read; undefined for all except those of Kubernetes itself. */
  readonly namespace: string | undefined;
  readonly config: Config;
  readonly signal: AbortSignal;
}

const releaseName = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

/** Reads all workloads that may be targets, the resources that install charts, and all existing policies. */
export async function readRunning(client: KubeClient, { namespace, config, signal }: Where): Promise<Running> {
  const aliases = registryAliases(config);
  const { policies, doubt } = await readPolicies(client, { namespace, config, signal });
  const images: Found[] = [];
  const leftOut: LeftOut[] = [];
  for (const kind of targets) {
    for await (const { items } of listPages(client, { path: listPath(kind, namespace), pageSize, signal })) {
      for (const raw of items.filter((item) => isWanted(kind, item))) {
        const workload = projectWorkload(kind, raw);
        if (workload.isDeleted === true) continue;
        const release = releaseOf(workload, raw);
        const whole = whyNotWorkload(workload, raw, namespace === undefined);
        for (const { container, position } of imagesOf(workload)) {
          const reference = tryParseImageReference(container.image, aliases);
          const why = whole ?? (reference === undefined ? 'it is not the name of an image' : undefined);
          const covering = reference && policies.find((policy) => isCovered(policy, workload, container.name, reference));
          const reason = why ?? (covering && `ImagePolicy ${policyKey(covering)} updates it already`);
          if (reason === undefined && reference !== undefined)
            images.push({ workload, container: container.name, list: position.list ?? 'containers', reference, ...defined({ release }) });
          else leftOut.push({ image: container.image, workloads: [formatWorkload(workload)], why: reason ?? '' });
        }
      }
    }
  }
  const found = await readCharts(client, { namespace, config, policies, signal });
  const sources = new Map([...sourcesOfCharts(found.charts), ...(await readSources(images, client))]);
  leftOut.push(...found.leftOut);
  const doubts = [...(doubt === undefined ? [] : [doubt]), ...found.doubts];
  return { images, charts: found.charts, leftOut, sources, taken: new Set(policies.map(policyKey)), doubts };
}

/** The repositories of images. Images that are pinned by their digest alone have no tags to choose from. */
async function readSources(images: readonly Found[], client: KubeClient): Promise<Map<string, ImageSource>> {
  const podSecrets = createPodSecrets(client);
  await podSecrets.read(images.map(({ workload }) => workload));
  const sources = new Map<string, ImageSource>();
  const wanted = images.filter(({ reference: { tag, digest } }) => tag !== undefined || digest === undefined);
  for (const [key, group] of Map.groupBy(wanted, ({ reference }) => repositoryKey(reference))) {
    const workloads = group.map(({ workload }) => workload);
    const access = podAccess(workloads, podSecrets);
    for (const { reference } of group.slice(0, 1)) sources.set(key, { ...reference.repository, ...defined({ access }) });
  }
  return sources;
}

/** The repositories of charts, each with the Secret of one of the resources that install from it. */
function sourcesOfCharts(charts: readonly RunningChart[]): [key: string, source: ImageSource][] {
  return charts.map(({ reference, workload: { namespace }, pullSecret }) => {
    const access = pullSecret === undefined ? undefined : { secrets: [{ namespace, name: pullSecret, namedBy: 'policy' as const }] };
    return [repositoryKey(reference), { ...reference.repository, ...defined({ access }) }];
  });
}

function isCovered(
  { spec }: ImagePolicy,
  workload: Workload,
  container: string,
  image: { repository: Parameters<typeof sameRepository>[0] },
): boolean {
  const scope = scopeOf(spec);
  if (scope === undefined || !sameRepository(scope.repository, image.repository)) return false;
  return scope.targets.some((target) => isTargetContainer(target, workload, container));
}

function whyNotWorkload({ namespace, gitOps }: Workload, raw: unknown, isEverywhere: boolean): string | undefined {
  if (isEverywhere && systemNamespaces.has(namespace)) return updatedWithCluster(namespace);
  if (gitOps !== undefined && gitOps !== helm)
    return `${gitOps} manages the workload and would set its image back: let it write the tag, or write a policy for its own resource`;
  const owner = controllerOf(raw);
  if (owner !== undefined)
    return `${owner} controls the workload and would set its image back: write a policy for the fields of that resource`;
  return undefined;
}

/** The release of a workload that Helm alone manages. */
function releaseOf({ gitOps, namespace }: Workload, raw: unknown): HelmRelease | undefined {
  if (gitOps !== helm) return undefined;
  const annotations = fieldsOf(fieldsOf(fieldsOf(raw)['metadata'])['annotations']);
  const name = textOrEmpty(annotations['meta.helm.sh/release-name']);
  const of = textOrEmpty(annotations['meta.helm.sh/release-namespace']) || namespace;
  // Both are shown in a command, so that only real names are used.
  return [name, of].every((one) => releaseName.test(one)) ? { name, namespace: of } : undefined;
}

/** All policies that may have a target in the namespace. Empty if the definition is not installed, or if the caller may not read them. */
async function readPolicies(
  client: KubeClient,
  { namespace, config, signal }: Where,
): Promise<{ policies: ImagePolicy[]; doubt?: string }> {
  const context = await readContextOf(config);
  const policies: ImagePolicy[] = [];
  try {
    for await (const { items } of listPolicies(client, namespace, signal)) policies.push(...items.map((raw) => readPolicy(raw, context)));
  } catch (error) {
    if (isKubeError(error, 403))
      return { policies, doubt: 'you may not list ImagePolicies, so images that one updates already are not left out' };
    if (!isKubeError(error, 404)) throw error;
  }
  return { policies };
}
