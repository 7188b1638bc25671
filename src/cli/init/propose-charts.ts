/** Proposes policies for the charts and other OCI artifacts that resources install, given the tags in registries. Pure. */
import { defined } from '../../core/model/defined.ts';
import type { Artifact } from '../../core/model/artifact.ts';
import type { ImageReference } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { formatWorkload } from '../../core/model/workload.ts';
import { selectTag } from '../../core/select/select-tag.ts';
import { freeName } from '../../service/command-line/policy-documents.ts';
import { strategyOf, type Selection } from '../../service/command-line/selection/choose-selection.ts';
import { chooseVersion } from './choose-version.ts';
import { kind } from '../../service/resources/group.ts';
import { policiesAlone } from '../../service/resources/resource-group.ts';
import { apiVersion, type Spec } from '../../service/resources/v1.ts';
import { validatePolicy } from '../../service/resources/validate.ts';
import {
  chunks,
  type LeftOut,
  leftOutOf,
  type Proposal,
  type ProposeOptions,
  type Proposals,
  repositoryKey,
  type TagList,
} from './propose-policies.ts';
import type { InstalledArtifact } from './read-artifacts.ts';
import type { RunningChart } from './find-charts.ts';

/** What registries say. */
interface Known {
  readonly tagsOf: (reference: ImageReference) => TagList;
  /** What the installed tags are, by the keys of `installedTags`. */
  readonly installed: ReadonlyMap<string, InstalledArtifact>;
}

interface PlannedChart extends RunningChart {
  readonly artifact: Artifact;
  readonly selection: Selection;
  readonly tags: readonly string[];
}

function tagKey({ reference }: RunningChart): string {
  return `${repositoryKey(reference)}:${reference.tag}`;
}

/** The tags whose manifests say what is installed, each with the source to read it from. */
export function installedTags(
  charts: readonly RunningChart[],
  sources: ReadonlyMap<string, ImageSource>,
): Map<string, { source: ImageSource; tag: string }> {
  return new Map(
    charts.map((chart) => {
      const { repository, tag } = chart.reference;
      return [tagKey(chart), { source: sources.get(repositoryKey(chart.reference)) ?? repository, tag }];
    }),
  );
}

/** One policy for all charts of a namespace and repository that are selected in the same way. All policies are valid. */
export function proposeCharts(charts: readonly RunningChart[], known: Known, { mode, taken }: ProposeOptions): Proposals {
  const leftOut: LeftOut[] = [];
  const planned = charts.flatMap((chart): PlannedChart[] => {
    const plan = planChart(chart, known);
    if (!('problem' in plan)) return [plan];
    leftOut.push(leftOutOf([chart], plan.problem));
    return [];
  });
  const groups = Map.groupBy(planned, ({ workload, reference, artifact, selection, fields, pullSecret }) =>
    JSON.stringify([workload.namespace, repositoryKey(reference), artifact, selection.select, fields.digest === undefined, pullSecret]),
  );
  const names = new Set(taken);
  const policies = [...groups.values()].flatMap(chunks).flatMap((part): Proposal[] => {
    const [first] = part;
    if (first === undefined) return [];
    const proposal = writePolicy(first, part, { mode, names });
    const problems = validatePolicy(proposal.policy, policiesAlone).map(({ path, message }) => `${path} ${message}`);
    if (problems.length === 0) return [proposal];
    leftOut.push(leftOutOf(part, `no valid policy follows from it: ${problems.join('; ')}`));
    return [];
  });
  return { policies, leftOut };
}

function planChart(chart: RunningChart, { tagsOf, installed }: Known): PlannedChart | { readonly problem: string } {
  const list = tagsOf(chart.reference);
  if ('problem' in list) return list;
  const found = installed.get(tagKey(chart)) ?? { problem: 'its manifest was not read' };
  if ('problem' in found) return found;
  const selection = chooseVersion(chart.reference.tag, list.tags, found.artifact);
  return 'problem' in selection ? selection : { ...chart, selection, artifact: found.artifact, tags: list.tags };
}

interface Writing {
  readonly mode: ProposeOptions['mode'];
  readonly names: Set<string>;
}

function writePolicy(first: PlannedChart, part: readonly PlannedChart[], { mode, names }: Writing): Proposal {
  const { reference, artifact, selection, pullSecret, fields, tags } = first;
  const { namespace } = first.workload;
  const update = { ...(mode !== 'Automatic' && { mode }), ...(fields.digest !== undefined && { pin: 'Digest' as const }) };
  const spec: Spec = {
    image: repositoryKey(reference),
    artifact,
    select: selection.select,
    ...(pullSecret !== undefined && { pullSecrets: [{ name: pullSecret }] }),
    targets: part.map(({ workload, fields: written }) => ({
      ...defined({ apiVersion: workload.apiVersion }),
      kind: workload.kind,
      name: workload.name,
      fields: written,
    })),
    ...(Object.keys(update).length > 0 && { update }),
  };
  const last = reference.repository.path.split('/').at(-1) ?? '';
  const what =
    artifact === 'Any' ? [`What ${formatWorkload(first.workload)} installs is no chart: artifact: Any selects any OCI artifact.`] : [];
  const selects = selectTag(strategyOf(spec), tags);
  return {
    policy: { apiVersion, kind, metadata: { name: freeName(namespace, [last, `${last}-chart`], names), namespace }, spec },
    runs: [...new Set(part.map((chart) => chart.reference.tag))].toSorted(),
    notes: [selection.why, ...selection.notes, ...what, ...new Set(part.flatMap(({ notes }) => notes))],
    ...defined({ selects }),
  };
}
