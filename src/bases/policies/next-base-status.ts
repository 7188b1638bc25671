/** The next status of a BaseImagePolicy. Pure. */
import { type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { type BaseStatus, type Dependent, maxDependents } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import type { Condition } from '../../core/model/policy-status.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { cut, toSeconds } from '../../core/model/text.ts';
import { formatWorkload } from '../../core/model/workload.ts';
import { nextDecisions } from '../../core/plan/base-decisions.ts';
import type { Acted, ImageState } from './act.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { ConditionState } from '../../core/status/condition-states.ts';
import { toCondition } from '../../core/model/to-condition.ts';
import { describeConditions } from './base-conditions.ts';
import { nameOf } from './list-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** What a reconcile has found and done. */
export interface Findings {
  readonly base: SelectedBase;
  /** A newer base that is not used yet. */
  readonly waiting?: BaseStatus['waiting'];
  readonly images: readonly ExaminedImage[];
  /** The versions that the images were compared with, and the tags of the base that were not read. */
  readonly versions: {
    readonly known: number;
    readonly unread: number;
    /** Whether the unread tags will be read next. */
    readonly isBeingRead: boolean;
    /** Why one of them could not be read. */
    readonly fault?: string;
    /** The versions of the line whose layers are not known, and the tag or digest of one. */
    readonly hidden?: { readonly count: number; readonly example: string };
  };
  /** The state of an image according to the actions; undefined if no action applies to it. */
  readonly stateOf: (image: ExaminedImage) => ImageState | undefined;
  /** The rebased images that are rolled out, or have been. */
  readonly replacements?: Acted['replacements'];
  /** The repositories of images on the base that the policy may not push to. */
  readonly unpermitted: readonly Repository[];
  readonly acted: Acted['status'];
  /** When the registry was asked for the base, in ms since 1970. */
  readonly checkedAt: number;
  /** The value of the annotation requested-at that this reconcile answers. */
  readonly request?: string | undefined;
}

const maxHistory = 10;
const maxBase = maxLengths.digest + maxLengths.tag;

/** The status after a reconcile that has examined the images. */
export function nextBaseStatus(policy: BaseImagePolicy, found: Findings, at: Date): BaseStatus {
  const { base, images, versions, acted, waiting, request, checkedAt } = found;
  const { status } = policy;
  const now = toSeconds(at);
  const selectedAt = selectedAtOf(policy, base, now);
  const shown = images.map((image) => showImage(image, found));
  const count = (wanted: ExaminedImage['state']) => shown.filter(({ relation }) => relation === wanted).length;
  const dependents = orderDependents(shown, { status, selectedAt });
  const behindNow = shown.filter(({ relation }) => relation === 'Behind').map(({ done }) => done);
  const refused = behindNow.filter(({ state }) => refusedStates.has(state)).length;
  const overdue = behindNow.filter(({ state }) => state === 'RebuildOverdue').length;
  const reported = behindNow.filter(({ state, action }) => state === 'Behind' && action === 'report').length;
  const since = dependents.flatMap(({ behindSince }) => behindSince ?? []).toSorted();
  const counts = {
    total: images.length,
    current: count('Current'),
    behind: behindNow.length,
    otherLine: count('OtherLine'),
    unknown: count('Unknown'),
    unrelated: count('Unrelated'),
    ...(refused > 0 && { refused }),
    ...(overdue > 0 && { overdue }),
    ...(reported > 0 && { reported }),
  };
  const {
    waiting: _,
    behindSince: __,
    waves: ___,
    requests: ____,
    pendingApproval: _____,
    approvals: ______,
    rejected = [],
    ...kept
  } = status;
  const decided = nextDecisions(policy, base, { isPending: acted.pendingApproval !== undefined, rejected: acted.rejected ?? rejected }, at);
  const rejection = decided.rejected?.find(({ digest }) => digest === base.digest);
  return {
    ...kept,
    observedGeneration: policy.generation,
    conditions: nextConditions(policy, describeConditions(counts, { ...found, policy, at }, rejection), at),
    latest: { tag: base.tag, digest: base.digest, selectedAt },
    lastCheckTime: toSeconds(new Date(checkedAt)),
    ...(request !== undefined && { lastHandledRequest: cut(request, maxLengths.request) }),
    ...defined({ waiting }),
    images: counts,
    versions: { known: versions.known, unread: versions.unread + (versions.hidden?.count ?? 0) },
    ...(since[0] !== undefined && { behindSince: since[0] }),
    dependents: dependents.slice(0, maxDependents),
    ...defined({ waves: acted.waves, requests: acted.requests, pendingApproval: acted.pendingApproval }),
    ...decided,
    history: nextHistory(status, { ...base, selectedAt, isRejected: rejection !== undefined }, acted),
  };
}

/** All images that are built on the base or may be, those that are behind first. The status has the first of them. */
export function listDependents(policy: BaseImagePolicy, found: Findings, at: Date): Dependent[] {
  const selectedAt = selectedAtOf(policy, found.base, toSeconds(at));
  const shown = found.images.map((image) => showImage(image, found));
  return orderDependents(shown, { status: policy.status, selectedAt });
}

function selectedAtOf({ status: { latest } }: BaseImagePolicy, { digest }: SelectedBase, now: string): string {
  return latest?.digest === digest ? latest.selectedAt : now;
}

/** The status of a policy whose base or images could not be read. Everything that was known stays. */
export function withProblem(
  policy: BaseImagePolicy,
  { reason, message, isRetried }: { readonly reason: Reason; readonly message: string; readonly isRetried: boolean },
  at: Date,
): BaseStatus {
  const type = isRetried ? ('Reconciling' as const) : ('Stalled' as const);
  const states: ConditionState[] = [
    { type: 'Ready', status: 'False', reason, message },
    { type, status: 'True', reason, message },
  ];
  return { ...policy.status, observedGeneration: policy.generation, conditions: nextConditions(policy, states, at) };
}

/** The status from the selection of a base until the images are examined. It counts nothing, and calls none current, because that is about the base before. */
export function whileExamining(policy: BaseImagePolicy, { tag, digest }: SelectedBase, at: Date): BaseStatus {
  const { images: _, behindSince: __, dependents, ...kept } = policy.status;
  const message = `${tag} was selected: finding out which images are built on an older version`;
  const compared = dependents?.map((one) =>
    upToDateStates.has(one.state) ? { ...one, state: 'Unknown' as const, message: `it is being compared with ${tag}` } : one,
  );
  const states: ConditionState[] = [
    { type: 'Ready', status: 'False', reason: 'Progressing', message },
    { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
  ];
  const now = toSeconds(at);
  return {
    ...kept,
    ...defined({ dependents: compared }),
    conditions: nextConditions(policy, states, at),
    latest: { tag, digest, selectedAt: now },
  };
}

/** The status of a suspended policy. */
export function whileSuspended(policy: BaseImagePolicy, at: Date): BaseStatus {
  const states: ConditionState[] = [
    { type: 'Ready', status: 'True', reason: 'Suspended', message: 'suspended by the spec: nothing is checked or changed' },
  ];
  return { ...policy.status, observedGeneration: policy.generation, conditions: nextConditions(policy, states, at) };
}

/** An image with its action's state, and the relation of the running image to the base. */
interface ShownImage {
  readonly examined: ExaminedImage;
  readonly done: ImageState;
  readonly relation: ExaminedImage['state'];
}

/** The states of an image that is built on the selected base. */
const upToDateStates: ReadonlySet<Dependent['state']> = new Set(['Current', 'Updated']);

/** The states shown for an image whose tag is built on the base while pods still run the former image. */
const formerStates: ReadonlySet<Dependent['state']> = new Set(['Behind', 'Updating', 'Failed']);

/** The entry of the status for an image. The state that is shown is the one that is counted. */
function showImage(examined: ExaminedImage, { stateOf }: Findings): ShownImage {
  const { state } = examined;
  const done = stateOf(examined) ?? { state: state === 'Unrelated' ? ('Unknown' as const) : state };
  return { examined, done, relation: state === 'Current' && formerStates.has(done.state) ? 'Behind' : state };
}

interface Basis {
  readonly status: BaseStatus;
  readonly selectedAt: string;
}

function orderDependents(shown: readonly ShownImage[], basis: Basis): Dependent[] {
  const related = shown.filter(({ relation }) => relation !== 'Unrelated').map((one) => dependentOf(one, basis));
  return related.toSorted(byUrgency);
}

function dependentOf({ examined, done, relation }: ShownImage, { status, selectedAt }: Basis): Dependent {
  const { image, digest, recognition } = examined;
  const name = nameOf(image);
  const before = status.dependents?.find((one) => one.image === name);
  const reason =
    done.message === undefined && recognition.kind !== 'unrelated' && recognition.reason !== undefined ? recognition.reason : undefined;
  const [first] = image.workloads;
  const reachedAt = done.at ?? (before?.state === done.state ? before.at : undefined);
  return {
    image: name,
    ...defined({ digest }),
    ...(recognition.kind === 'recognized' && { base: cut(describeBase(recognition.base), maxBase), recognizedBy: recognition.by }),
    ...(relation === 'Behind' && { behindSince: before?.behindSince ?? sinceUnlisted(status, selectedAt) }),
    workloads: image.workloads.length,
    ...(first !== undefined && { example: cut(formatWorkload(first.workload), 400) }),
    ...(reason !== undefined && { message: cut(reason, maxLengths.message) }),
    ...done,
    ...defined({ at: reachedAt }),
  };
}

/** Since when an image is behind that the status did not list. It is only known to be later than the times of the listed images. */
function sinceUnlisted({ dependents = [] }: BaseStatus, selectedAt: string): string {
  const last = dependents.length === maxDependents ? dependents.at(-1)?.behindSince : undefined;
  return last ?? selectedAt;
}

function describeBase({ tags: [tag], digest }: { readonly tags: readonly string[]; readonly digest: string }): string {
  return tag === undefined ? digest : `${tag}@${digest}`;
}

/** The states of an image for which nothing more is done until somebody acts. */
export const refusedStates: ReadonlySet<Dependent['state']> = new Set(['Failed', 'RebuildOverdue', 'Refused']);

/** The order of states in the list of images: first those that need attention. */
const urgency: readonly Dependent['state'][] = [
  'Failed',
  'RebuildOverdue',
  'Refused',
  'Behind',
  'Updating',
  'Requested',
  'Rebased',
  'Unknown',
  'OtherLine',
  'Updated',
  'Current',
];

function byUrgency(a: Dependent, b: Dependent): number {
  const isBehind = Number(b.behindSince !== undefined) - Number(a.behindSince !== undefined);
  if (isBehind !== 0) return isBehind;
  const bySince = (a.behindSince ?? '') < (b.behindSince ?? '') ? -1 : Number((a.behindSince ?? '') > (b.behindSince ?? ''));
  return bySince || urgency.indexOf(a.state) - urgency.indexOf(b.state) || (a.image < b.image ? -1 : 1);
}

/** The history, with one entry for each base, the selected one first. Its counts are the current ones. */
function nextHistory(
  { history = [] }: BaseStatus,
  { isRejected, ...base }: SelectedBase & { readonly selectedAt: string; readonly isRejected: boolean },
  acted: Acted['status'],
): NonNullable<BaseStatus['history']> {
  const before = history.find(({ digest }) => digest === base.digest);
  const entry = {
    tag: base.tag,
    digest: base.digest,
    selectedAt: base.selectedAt,
    // The maximum is kept: a rebuilt image is not behind any more, so its request is not counted again.
    requested: Math.max(acted.requested ?? 0, before?.requested ?? 0),
    updated: acted.waves?.done ?? before?.updated ?? 0,
    failed: acted.waves?.failed ?? before?.failed ?? 0,
    result: isRejected ? ('Rejected' as const) : ('Selected' as const),
  };
  return [entry, ...history.filter((one) => one !== before)].slice(0, maxHistory);
}

const ownTypes: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled', 'Held', 'ApprovalRequired']);

/** Conditions of other writers are kept unchanged. */
function nextConditions(
  { status: { conditions = [] }, generation }: BaseImagePolicy,
  states: readonly ConditionState[],
  at: Date,
): Condition[] {
  const own = states.map((state) => toCondition(state, conditions, generation, at));
  return [...own, ...conditions.filter(({ type }) => !ownTypes.has(type))];
}
