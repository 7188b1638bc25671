/** Reads which OCI charts and other artifacts the custom resources of a cluster install, and which of them no policy should change. */
import { builtInTargets } from '../../core/model/built-in-targets.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { formatWorkload, type WorkloadRef, workloadKey } from '../../core/model/workload.ts';
import { readHeldChart, sourceOf } from '../../core/plan/plan-fields.ts';
import { pageSize } from '../../service/command-line/policy-client.ts';
import type { Config } from '../../service/config/settings.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { createDiscovery, type Discovery } from '../../service/kube/discovery.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { listPages, listPath, objectPath, readObject } from '../../service/kube/objects.ts';
import { projectWorkload } from '../../service/kube/project-workload.ts';
import type { TargetKind } from '../../service/kube/targets.ts';
import { chartFieldsOf, describeHeld, findChart, withoutVersion, type ReadObject, type RunningChart } from './find-charts.ts';
import type { LeftOut } from './propose-policies.ts';

export interface RunningCharts {
  readonly charts: readonly RunningChart[];
  readonly leftOut: readonly LeftOut[];
  /** What could not be read. */
  readonly doubts: readonly string[];
}

interface Where {
  readonly namespace: string | undefined;
  readonly config: Config;
  readonly policies: readonly ImagePolicy[];
  readonly signal: AbortSignal;
}

/** Reads the resources of all built-in kinds with fields for charts that the API server serves. */
export async function readCharts(client: KubeClient, where: Where): Promise<RunningCharts> {
  const { namespace, signal } = where;
  const discovery = createDiscovery(client, []);
  const sources = createSources(client, discovery);
  const found = { charts: [] as RunningChart[], leftOut: [] as LeftOut[], doubts: [] as string[] };
  for (const kind of await findKinds(discovery)) {
    try {
      for await (const { items } of listPages(client, { path: listPath(kind, namespace), pageSize, signal })) {
        for (const raw of items) {
          const read = await readResource(kind, raw, { ...where, sources });
          found.charts.push(...read.charts);
          found.leftOut.push(...read.leftOut);
        }
      }
    } catch (error) {
      if (!isKubeError(error, 403)) throw error;
      found.doubts.push(`you may not list ${kind.resource} (${kind.apiVersion}), so their charts are missing`);
    }
  }
  return found;
}

/** The kinds, each in the first of its versions that is served, with their fields for charts alone. */
async function findKinds(discovery: Discovery): Promise<TargetKind[]> {
  const found = new Map<string, TargetKind>();
  for (const { apiVersion, kind, fields } of builtInTargets) {
    const charts = fields.filter(({ chart }) => chart !== undefined);
    const key = `${apiVersion.split('/')[0]}/${kind}`;
    if (charts.length === 0 || found.has(key)) continue;
    try {
      found.set(key, { ...(await discovery.find({ apiVersion, kind })), fields: charts });
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error;
    }
  }
  return [...found.values()];
}

/** The objects that hold the URLs of repositories; undefined for one that does not exist or that the user may not read. */
type Sources = (ref: WorkloadRef) => Promise<ReadObject | undefined>;

function createSources(client: KubeClient, discovery: Discovery): Sources {
  const known = new Map<string, ReturnType<Sources>>();
  const read: Sources = async ({ apiVersion = '', kind, namespace, name }) => {
    try {
      const target = await discovery.find({ apiVersion, kind });
      const raw = await readObject<unknown>(client, objectPath(target, namespace, name));
      return raw === undefined ? undefined : { workload: projectWorkload(target, raw), raw };
    } catch (error) {
      if (error instanceof PermanentError || isKubeError(error, 403)) return undefined;
      throw error;
    }
  };
  return (ref) => {
    const key = workloadKey(ref);
    const answer = known.get(key) ?? read(ref);
    known.set(key, answer);
    return answer;
  };
}

interface Context extends Where {
  readonly sources: Sources;
}

async function readResource(kind: TargetKind, raw: unknown, context: Context): Promise<Omit<RunningCharts, 'doubts'>> {
  const workload = projectWorkload(kind, raw);
  const charts: RunningChart[] = [];
  const leftOut: LeftOut[] = [];
  if (workload.isDeleted === true) return { charts, leftOut };
  for (const fields of chartFieldsOf(kind, workload, context.config)) {
    const ref = sourceOf(fields, workload);
    const source = ref && (await context.sources(ref));
    const held =
      readHeldChart(fields, workload, (one) => (ref && workloadKey(one) === workloadKey(ref) ? source?.workload : undefined)) ??
      withoutVersion(fields);
    const read = findChart({ fields, held, workload, raw, source }, context);
    if ('why' in read) leftOut.push({ image: describeHeld(fields, workload, held), workloads: [formatWorkload(workload)], why: read.why });
    else charts.push(read);
  }
  return { charts, leftOut };
}
