/** Compares the images that run with the versions of the base, and remembers what is learnt about it. */
import { inSlices } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { sameRepository, type Repository } from '../../core/model/image-reference.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import { hidesLayers, type KnownBase } from '../recognize/layers.ts';
import type { Line } from '../recognize/line.ts';
import type { Acting, ImageState, UsableBasePolicy } from './act.ts';
import { actionFor } from './action-for.ts';
import { describeBelow, findBelow } from './bases-below.ts';
import { describeBetween, findBetween, listBetween, type BaseBetween } from './bases-between.ts';
import { examineImages, taggedName, type Examination, type ExaminedImage } from './examine-images.ts';
import { learnVersions, seenVersion } from './learn-versions.ts';
import { listImages } from './list-images.ts';
import type { Findings } from './next-base-status.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BasePorts } from './ports.ts';
import { type BaseChoice, keepUnread } from './select-base.ts';

interface Chosen extends BaseChoice {
  readonly selected: SelectedBase;
  readonly job: BaseJob;
  /** Whether the job asks the registry for the base again. */
  readonly asksRegistry: boolean;
  /** Whether the policy was suspended: pushes have passed it by. */
  readonly isResumed: boolean;
}

/** What was asked so short a time ago is not asked again by jobs that ask the registry, which several policies may have at once. */
const askedLifeMs = 60_000;

/** The images, the versions that they were compared with, and how many tags of the base were not read. */
export interface Comparison {
  /** The images that run, and the bases in between through which some of them are reached. */
  readonly images: readonly ExaminedImage[];
  /** The images that are behind and left alone for now, and why. */
  readonly left: ReadonlyMap<ExaminedImage, ImageState>;
  readonly versions: Acting['versions'];
  readonly unread: Omit<Findings['versions'], 'known'>;
}

/** Compares the images that run with the versions of the base. What was learnt is remembered before anything is done. */
export async function compareImages(policy: UsableBasePolicy, choice: Chosen, ports: BasePorts, signal: AbortSignal): Promise<Comparison> {
  const { source, selected, job, asksRegistry } = choice;
  const isFresh = freshOf(policy, choice, ports.listed.get(policy.uid));
  const digestLifeMs = digestLifeOf(policy, job, asksRegistry);
  const { known, line, news, used, rest, failed, givenUp } = await learnVersions(policy, choice, ports, signal);
  const listed = listImages(policy, ports.cluster);
  const listedAs = new Map(policy.status.dependents?.map((one) => [one.image, one]));
  const shown = (image: string) => listedAs.get(image);
  const examination = { base: source, selected, known, line, access: source.access, isFresh, digestLifeMs, shown, signal };
  const running = await examineImages(listed, examination, ports);
  const restarted = listed.filter(({ repository }) => isRestarted(policy, repository));
  ports.listed.set(
    policy.uid,
    new Set(restarted.flatMap(({ repository, tag }) => (tag === undefined ? [] : [taggedName(repository, tag)]))),
  );
  const above = await findBetween(policy, running.images.filter(isBehind), ports, { known: [...known, ...running.learnt], signal });
  const bases = await examineImages(listBetween(above), { ...examination, known: [...known, ...running.learnt] }, ports);
  const images = [...running.images, ...bases.images];
  const learnt = [...running.learnt, ...bases.learnt];
  const seenAt = toSeconds(new Date(ports.cluster.now()));
  const inUse = new Set(images.flatMap(({ recognition }) => (recognition.kind === 'recognized' ? [recognition.base.digest] : [])));
  const named = learnt.filter(({ digest }) => !inUse.has(digest)).map((version) => seenVersion(version, { seenAt }));
  const newlyUsed = [...known, ...learnt].filter(({ digest }) => inUse.has(digest) && !used.has(digest));
  const added = [...news, ...named, ...newlyUsed.map((version) => seenVersion(version, { seenAt, used: true }))];
  // An image whose base is not known may be built on any version.
  const keepsAll = images.some(({ state }) => state === 'Unknown');
  if (added.length > 0) await ports.records.add(policy, added, { inUse, keepsAll, signal });
  keepUnread(policy, { tags: [...rest, ...failed.map(({ tag }) => tag)], givenUp }, ports);
  const left = await leaveImages(
    policy,
    { above, bases: bases.images, running: running.images },
    { ...examination, known: [...known, ...learnt] },
    ports,
  );
  return {
    images,
    left,
    versions: { source, known: [...known, ...learnt], line },
    unread: {
      unread: givenUp + rest.length + failed.length,
      isBeingRead: rest.length > 0,
      ...defined({ hidden: await findHidden([...known, ...learnt], line, signal) }),
      ...(failed[0] !== undefined && { fault: `${failed[0].tag}: ${failed[0].why}` }),
    },
  };
}

/** The versions that an image on an older base may be built on, and whose layers are not known. */
async function findHidden(known: readonly KnownBase[], line: Line, signal: AbortSignal): Promise<Findings['versions']['hidden']> {
  const hidden: KnownBase[] = [];
  await inSlices(known, signal, (version) => {
    if (hidesLayers(version) && !['other', 'newer'].includes(line.relationOf(version) ?? '')) hidden.push(version);
  });
  const [first] = hidden;
  return first && { count: hidden.length, example: first.tags[0] ?? first.digest };
}

function isBehind({ state }: ExaminedImage): boolean {
  return state === 'Behind';
}

interface Chains {
  /** The running images with a base in between. */
  readonly above: ReadonlyMap<ExaminedImage, BaseBetween>;
  /** The bases in between. */
  readonly bases: readonly ExaminedImage[];
  readonly running: readonly ExaminedImage[];
}

/** Finds the images that are left to another policy, and those that would lose what another one has brought. Of the bases in between, the lowest comes first. */
async function leaveImages(
  policy: UsableBasePolicy,
  { above, bases, running }: Chains,
  { known, selected, base: source, signal }: Examination,
  ports: BasePorts,
): Promise<Map<ExaminedImage, ImageState>> {
  const among = [...above.values()].map((one) => one.policy);
  const between = new Map([...above, ...(await findBetween(policy, bases.filter(isBehind), ports, { known, among, signal }))]);
  const isRebased = (image: ExaminedImage) =>
    isBehind(image) && !between.has(image) && actionFor(image, policy.spec.onNewBase).kind === 'rebase';
  const below = await findBelow(policy, running.filter(isRebased), { selected, source, signal }, ports);
  const leftTo = [...between].map(([image, one]) => [image, describeBetween(one)] as const);
  const waiting = [...below].map(([image, one]) => [image, describeBelow(one, selected)] as const);
  return new Map([...leftTo, ...waiting]);
}

/**
 * How long the digest of a tag is remembered. A workload that has changed, or the step of a wave, is no reason to ask for the tags of all others: like the base, they
 * are known until the next poll. A poll asks for what has not been asked for half of its interval, so that each image is asked for twice in it, by however many policies.
 */
export function digestLifeOf({ spec: { base } }: UsableBasePolicy, { source }: BaseJob, asksRegistry: boolean): number {
  if (!asksRegistry) return base.pollIntervalMs;
  return source === 'Poll' ? base.pollIntervalMs / 2 : askedLifeMs;
}

/**
 * The images whose digests are read again: all for a request of a user and after a suspension, those of one repository for a push, and those that are restarted and
 * that the policy had not listed before: pushes have passed it by until then. `listed`: those of the last reconcile by this process.
 */
function freshOf(
  policy: UsableBasePolicy,
  { job: { source, pushed }, isResumed }: Chosen,
  listed: ReadonlySet<string> = new Set(),
): Examination['isFresh'] {
  const shown = new Set(policy.status.dependents?.map(({ image }) => image));
  const isNew = (name: string) => !shown.has(name) && !listed.has(name);
  return (image) =>
    source === 'Request' ||
    isResumed ||
    (pushed !== undefined && sameRepository(image.source, pushed)) ||
    (isNew(image.name) && isRestarted(policy, image.source));
}

/** Whether the workloads that run an image are restarted for a push of it. */
function isRestarted({ spec }: UsableBasePolicy, source: Repository): boolean {
  return actionFor({ source }, spec.onNewBase).kind === 'restart';
}
