/** Proposes a BaseImagePolicy for each line of versions that images are built on. Pure, except that it lets other work run in between. */
import type { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { formatRepository, type RegistryAliases, type Repository } from '../../../core/model/image-reference.ts';
import { selectTag, naturalOrder } from '../../../core/select/select-tag.ts';
import { chooseSelection, type Selection, strategyOf } from '../../../service/command-line/selection/choose-selection.ts';
import { readTagForm } from '../../../service/command-line/selection/tag-form.ts';
import { freeName, type WrittenPolicy } from '../../../service/command-line/policy-documents.ts';
import { baseKind } from '../../../service/resources/group.ts';
import { apiVersion } from '../../../service/resources/v1.ts';
import { specProblems } from '../../../service/resources/validation/spec-problems.ts';
import type { KnownBase } from '../../recognize/layers.ts';
import { lineOf } from '../../recognize/line.ts';
import { tagsOfLine } from '../../recognize/read-versions.ts';
import { judge, type BaseState } from '../../recognize/recognize-base.ts';
import { baseSpecSchema } from '../../resource/schema.ts';
import type { ExaminedImage } from './resolve-images.ts';

type BaseSpec = z.input<typeof baseSpecSchema>;

/** A proposed policy, what it would select now, and the images that it would find. */
export interface LineProposal extends WrittenPolicy<BaseSpec> {
  readonly selects: string;
  readonly images: Readonly<Record<'current' | 'behind', readonly string[]>>;
  /** The repositories of these images. */
  readonly repositories: readonly Repository[];
  /** The workloads that run these images, as `Deployment shop/web`. */
  readonly workloads: readonly string[];
}

/** Images that no policy is proposed for, and the reason. */
export interface LeftOutImage {
  readonly image: string;
  readonly workloads: readonly string[];
  readonly why: string;
}

export interface LineProposals {
  readonly policies: readonly LineProposal[];
  readonly leftOut: readonly LeftOutImage[];
  /** The number of images that are not built on the base. */
  readonly unrelated: number;
}

/** A policy of the cluster for the same base. */
export interface ExistingPolicy {
  readonly name: string;
  readonly selection: { readonly selects: string | undefined; readonly mutableTag: string | undefined };
}

export interface Proposing {
  readonly base: Repository;
  readonly namespace: string;
  readonly aliases: RegistryAliases;
  /** All tags of the base. */
  readonly tags: readonly string[];
  readonly known: readonly KnownBase[];
  readonly existing: readonly ExistingPolicy[];
  /** The names of existing policies, as NAMESPACE/NAME. */
  readonly taken: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** A way to select a line, and the images that are of it. */
interface Candidate {
  readonly running: string;
  readonly selection: Selection;
  readonly selects: string;
  readonly states: ReadonlyMap<ExaminedImage, BaseState | undefined>;
}

/** Whether a policy with this selection counts the image as one of its line. */
const isOfLine = (state: BaseState | undefined) => state === 'Current' || state === 'Behind';

/** One policy for each line that is used. A line that covers another one, such as 21 for images on 21.0.1, is preferred. */
export async function proposeLines(images: readonly ExaminedImage[], proposing: Proposing): Promise<LineProposals> {
  const { tags } = proposing;
  const leftOut: LeftOutImage[] = [];
  const leave = ({ image }: ExaminedImage, why: string) => void leftOut.push({ image: image.name, workloads: image.workloads, why });
  const recognized = images.filter(({ recognition }) => recognition.kind === 'recognized');
  for (const one of images) if (one.recognition.kind === 'unknown') leave(one, `its base is not known: ${one.recognition.reason}`);

  const candidates = new Map<string, Candidate>();
  const problems = new Map<ExaminedImage, string>();
  for (const image of recognized) {
    const running = runningTag(image);
    if (running === undefined) continue;
    const selection = chooseSelection(running, tags);
    const key = JSON.stringify('problem' in selection ? selection : [selection.select, selection.tags]);
    const found =
      candidates.get(key) ?? ('problem' in selection ? selection.problem : await judgeAll(running, selection, recognized, proposing));
    if (typeof found === 'string') problems.set(image, found);
    else candidates.set(key, found);
  }

  const open = new Set(recognized);
  const policies: LineProposal[] = [];
  const names = new Set(proposing.taken);
  for (;;) {
    const size = ({ states }: Candidate) => [...open].filter((image) => isOfLine(states.get(image))).length;
    const [best] = [...candidates.values()].toSorted((a, b) => size(b) - size(a) || naturalOrder(b.selects, a.selects));
    if (best === undefined || size(best) === 0) break;
    const members = [...open].filter((image) => isOfLine(best.states.get(image)));
    for (const image of members) open.delete(image);
    const written = writeLine(best, members, proposing, names);
    if (typeof written === 'string') for (const image of members) leave(image, written);
    else policies.push(written);
  }
  for (const image of open)
    leave(
      image,
      problems.get(image) ??
        'it is built on a version without a tag: which line that is of is not known, so name it in spec.from of a policy',
    );
  const unrelated = images.filter(({ recognition }) => recognition.kind === 'unrelated').length;
  return { policies: policies.toSorted((a, b) => naturalOrder(b.selects, a.selects)), leftOut, unrelated };
}

/** How exactly a tag names a version. */
function exactness(tag: string): number {
  const form = readTagForm(tag);
  if (form.kind === 'version') return 10 + form.numbers.length;
  return form.kind === 'name' ? Number(/[0-9]/.test(tag)) : 5;
}

/** The tag that says most about the version that an image is built on: 21.0.1 of 21, 21.0.1 and latest. */
function runningTag({ recognition }: ExaminedImage): string | undefined {
  if (recognition.kind !== 'recognized') return undefined;
  const [most] = recognition.base.tags.toSorted((a, b) => exactness(b) - exactness(a) || a.length - b.length || naturalOrder(b, a));
  return most;
}

/** Judges all images as a policy with this selection would; or why there can be none. */
async function judgeAll(
  running: string,
  selection: Selection,
  images: readonly ExaminedImage[],
  { tags, known, signal }: Proposing,
): Promise<Candidate | string> {
  const strategy = strategyOf(selection);
  if (selection.select.newest !== undefined)
    return `the tag ${running} names a commit, and commits have no order: follow a mutable tag of the base, or write a policy with newest by hand`;
  const selects = selectTag(strategy, tags);
  const digest = known.find((version) => selects !== undefined && version.tags.includes(selects))?.digest;
  if (selects === undefined || digest === undefined)
    return `${selects ?? 'the selected version'} was not read from the registry: compare more tags with --tags`;
  const ofLine = await tagsOfLine(tags, { strategy }, signal);
  const line = await lineOf({ strategy, selected: { tag: selects, digest }, known, ...ofLine }, signal);
  const states = new Map(images.map((image) => [image, judge(image.recognition, { digest, line }).state]));
  return { running, selection, selects, states };
}

/** The policy for a line; or why it is left out. */
function writeLine(
  { running, selection, selects, states }: Candidate,
  members: readonly ExaminedImage[],
  { base, namespace, aliases, existing, tags }: Proposing,
  names: Set<string>,
): LineProposal | string {
  const { mutableTag } = strategyOf(selection);
  const other = existing.find(({ selection: one }) => one.selects === selects && one.mutableTag === mutableTag);
  if (other !== undefined) return `${baseKind} ${other.name} selects ${selects} already`;
  const { select, tags: filter } = selection;
  const spec: BaseSpec = { image: formatRepository(base), select, ...defined({ tags: filter }) };
  const problems = specProblems(baseSpecSchema, spec, { aliases, customTargets: [], namespace });
  if (problems.length > 0)
    return `no valid policy follows from it: ${problems.map(({ path, message }) => `${path} ${message}`).join('; ')}`;
  const name = freeName(namespace, [nameOf(base, running)], names);
  const inState = (wanted: BaseState) =>
    members
      .filter((image) => states.get(image) === wanted)
      .map(({ image }) => image.name)
      .toSorted(naturalOrder);
  const unsure = tags.includes(running) ? [] : [`The registry has no tag ${running} any more.`];
  return {
    policy: { apiVersion, kind: baseKind, metadata: { name, namespace }, spec },
    // The notes on a mutable tag are about workloads that run it.
    notes: [selection.why, ...(mutableTag === undefined ? selection.notes : []), ...unsure],
    selects,
    images: { current: inState('Current'), behind: inState('Behind') },
    repositories: [...new Map(members.map(({ image: { source } }) => [formatRepository(source), source])).values()],
    workloads: [...new Set(members.flatMap(({ image }) => image.workloads))].toSorted(),
  };
}

/** The name of a policy: base-java-21-alpine for the tag 21.0.1-alpine. */
function nameOf({ path }: Repository, tag: string): string {
  const line = tag.replace(/^([^0-9]*[0-9]+)(?:\.[0-9]+)+/, '$1');
  const text = `${path.split('/').at(-1)}-${line}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return text.slice(0, 50).replaceAll(/^-|-$/g, '');
}
