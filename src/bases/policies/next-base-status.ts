/** The next status of a BaseImagePolicy. Pure. */
import { type BaseImagePolicy, type BaseStatus, type Dependent, maxDependents } from '../../core/model/base-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { type Condition, maxLengths } from '../../core/model/policy-status.ts';
import { actionAnnotations } from '../../core/model/policy-actions.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { cut, toSeconds } from '../../core/model/text.ts';
import { formatWorkload } from '../../core/model/workload.ts';
import { isReleased } from '../../core/plan/guards/released.ts';
import type { Acted, ImageState } from './act.ts';
import type { ExaminedImage } from './examine-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** What a reconcile found and did. */
export interface Findings {
  readonly base: SelectedBase;
  /** A newer base that is not used yet. */
  readonly waiting?: BaseStatus['waiting'];
  readonly images: readonly ExaminedImage[];
  /** What is done about an image; undefined where nothing is. */
  readonly stateOf: (image: ExaminedImage) => ImageState | undefined;
  readonly acted: Acted['status'];
  /** When the registry was asked for the base, in ms since 1970. */
  readonly checkedAt: number;
  /** The annotation requested-at that this reconcile answers. */
  readonly request?: string | undefined;
}

const maxHistory = 10;

/** The status after a reconcile that found what runs. */
export function nextBaseStatus(policy: BaseImagePolicy, found: Findings, at: Date): BaseStatus {
  const { base, images, acted, waiting, request, checkedAt } = found;
  const { status } = policy;
  const now = toSeconds(at);
  const isSame = status.latest?.digest === base.digest;
  const selectedAt = isSame ? (status.latest?.selectedAt ?? now) : now;
  const shown = images.map((image) => showImage(image, found));
  const count = (wanted: ExaminedImage['state']) => shown.filter(({ relation }) => relation === wanted).length;
  const dependents = shown.filter(({ relation }) => relation !== 'Unrelated').map((one) => dependentOf(one, { status, selectedAt }));
  const since = dependents.flatMap(({ behindSince }) => behindSince ?? []).toSorted();
  const behind = count('Behind');
  const counts = { total: images.length, current: count('Current'), behind, unknown: count('Unknown'), unrelated: count('Unrelated') };
  const { waiting: _, behindSince: __, waves: ___, requests: ____, pendingApproval: _____, rejected = [], ...kept } = status;
  const stillRejected = (acted.rejected ?? rejected).filter((one) => !isReleased(new Date(one.at), policy.actions, at));
  const rejection = stillRejected.find(({ digest }) => digest === base.digest);
  return {
    ...kept,
    observedGeneration: policy.generation,
    conditions: nextConditions(policy, describe(counts, found, rejection?.message), now),
    latest: { tag: base.tag, digest: base.digest, selectedAt },
    lastCheckTime: toSeconds(new Date(checkedAt)),
    ...(request !== undefined && { lastHandledRequest: cut(request, maxLengths.request) }),
    ...(waiting !== undefined && { waiting }),
    images: counts,
    ...(since[0] !== undefined && { behindSince: since[0] }),
    dependents: dependents.toSorted(byUrgency).slice(0, maxDependents),
    ...(acted.waves && { waves: acted.waves }),
    ...(acted.requests && { requests: acted.requests }),
    ...(acted.pendingApproval && { pendingApproval: acted.pendingApproval }),
    ...(stillRejected.length > 0 && { rejected: stillRejected }),
    history: nextHistory(status, { ...base, selectedAt, isRejected: rejection !== undefined }, acted),
  };
}

/** The status of a policy whose base or images could not be found out: what was known stays. */
export function withProblem(
  policy: BaseImagePolicy,
  { reason, message, isRetried }: { readonly reason: Reason; readonly message: string; readonly isRetried: boolean },
  at: Date,
): BaseStatus {
  const type = isRetried ? ('Reconciling' as const) : ('Stalled' as const);
  const states: State[] = [
    { type: 'Ready', status: 'False', reason, message },
    { type, status: 'True', reason, message },
  ];
  return { ...policy.status, observedGeneration: policy.generation, conditions: nextConditions(policy, states, toSeconds(at)) };
}

/** The status of a suspended policy. */
export function whileSuspended(policy: BaseImagePolicy, at: Date): BaseStatus {
  const states: State[] = [
    { type: 'Ready', status: 'True', reason: 'Suspended', message: 'suspended by the spec: nothing is checked or changed' },
  ];
  return { ...policy.status, observedGeneration: policy.generation, conditions: nextConditions(policy, states, toSeconds(at)) };
}

/** An image, what is done about it, and how what runs relates to the base. */
interface ShownImage {
  readonly examined: ExaminedImage;
  readonly done: ImageState;
  readonly relation: ExaminedImage['state'];
}

/** What is shown of an image whose tag has an image on the base while pods run the one before. */
const formerStates: ReadonlySet<Dependent['state']> = new Set(['Behind', 'Updating', 'Failed']);

/** The state that is shown is the one that is counted. */
function showImage(examined: ExaminedImage, { stateOf }: Findings): ShownImage {
  const { state } = examined;
  const done = stateOf(examined) ?? { state: state === 'Unrelated' ? ('Unknown' as const) : state };
  return { examined, done, relation: state === 'Current' && formerStates.has(done.state) ? 'Behind' : state };
}

function dependentOf(
  { examined, done, relation }: ShownImage,
  { status, selectedAt }: { readonly status: BaseStatus; readonly selectedAt: string },
): Dependent {
  const { image, digest, recognition } = examined;
  const name = cut(nameOf(examined), maxLengths.image);
  const before = status.dependents?.find((one) => one.image === name);
  const reason =
    done.message === undefined && recognition.kind !== 'unrelated' && recognition.reason !== undefined ? recognition.reason : undefined;
  const [first] = image.workloads;
  const reachedAt = done.at ?? (before?.state === done.state ? before.at : undefined);
  return {
    image: name,
    ...(digest !== undefined && { digest }),
    ...(recognition.kind === 'recognized' && { base: describeBase(recognition.base), recognizedBy: recognition.by }),
    ...(relation === 'Behind' && { behindSince: before?.behindSince ?? sinceUnlisted(status, selectedAt) }),
    workloads: image.workloads.length,
    ...(first !== undefined && { example: cut(formatWorkload(first.workload), 400) }),
    ...(reason !== undefined && { message: cut(reason, maxLengths.message) }),
    ...done,
    ...(reachedAt !== undefined && { at: reachedAt }),
  };
}

/** Images beyond the listed ones are behind since later than those; it is not known since when. */
function sinceUnlisted({ dependents = [] }: BaseStatus, selectedAt: string): string {
  const last = dependents.length === maxDependents ? dependents.at(-1)?.behindSince : undefined;
  return last ?? selectedAt;
}

function describeBase({ tag, digest }: { readonly tag?: string | undefined; readonly digest: string }): string {
  return tag === undefined ? digest : `${tag}@${digest}`;
}

function nameOf({ image: { repository, tag, digest } }: ExaminedImage): string {
  return `${formatRepository(repository)}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/** Those that need somebody first, then those that are behind for longest. */
const urgency: readonly Dependent['state'][] = [
  'Failed',
  'RebuildOverdue',
  'Refused',
  'Behind',
  'Updating',
  'Requested',
  'Rebased',
  'Unknown',
  'Updated',
  'Current',
];

function byUrgency(a: Dependent, b: Dependent): number {
  const isBehind = Number(b.behindSince !== undefined) - Number(a.behindSince !== undefined);
  if (isBehind !== 0) return isBehind;
  const bySince = (a.behindSince ?? '') < (b.behindSince ?? '') ? -1 : Number((a.behindSince ?? '') > (b.behindSince ?? ''));
  return bySince || urgency.indexOf(a.state) - urgency.indexOf(b.state) || (a.image < b.image ? -1 : 1);
}

/** One entry for each base, the selected one first; its counts are those of now. */
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
    // Images that were rebuilt are not behind any more, and their requests not counted.
    requested: Math.max(acted.requested ?? 0, before?.requested ?? 0),
    updated: acted.waves?.done ?? before?.updated ?? 0,
    failed: acted.waves?.failed ?? before?.failed ?? 0,
    result: isRejected ? ('Rejected' as const) : ('Selected' as const),
  };
  return [entry, ...history.filter((one) => one !== before)].slice(0, maxHistory);
}

type State = Pick<Condition, 'type' | 'status' | 'message'> & { readonly reason: Reason };

/** What `Ready` says, and the condition beside it. */
function describe(
  { total, behind, unknown }: NonNullable<BaseStatus['images']>,
  { base, acted: { waves, pendingApproval, opensAt }, waiting }: Findings,
  rejection: string | undefined,
): State[] {
  const summary = summarize({ total, behind, unknown }, base.tag);
  if (rejection !== undefined) {
    const hint = `push a newer one, or release it with the annotation ${actionAnnotations.release}: "<time>"`;
    const message = `${base.tag} failed, and is not used again: ${hint}: ${rejection}`;
    return [
      { type: 'Ready', status: 'False', reason: 'BaseRejected', message },
      { type: 'Stalled', status: 'True', reason: 'BaseRejected', message },
    ];
  }
  if (waves !== undefined && waves.progressing === 0 && opensAt !== undefined) {
    const message = `${waves.pending} of ${countOf(waves)} workloads are restarted when the next window opens: ${opensAt}; ${summary}`;
    return [
      { type: 'Ready', status: 'False', reason: 'Window', message },
      { type: 'Reconciling', status: 'True', reason: 'Window', message },
    ];
  }
  if (waves !== undefined && waves.pending + waves.progressing > 0) {
    const message = `rolling out ${base.tag}: ${waves.done} of ${countOf(waves)} workloads; ${summary}`;
    return [
      { type: 'Ready', status: 'False', reason: 'Progressing', message },
      { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
    ];
  }
  const waits =
    waiting === undefined ? '' : `; ${waiting.tag} waits${waiting.until === undefined ? '' : ` until ${waiting.until}`}: ${waiting.reason}`;
  const approval: State[] =
    pendingApproval === undefined
      ? []
      : [
          {
            type: 'ApprovalRequired',
            status: 'True',
            reason: 'ApprovalRequired',
            message: `${pendingApproval.tag}@${pendingApproval.digest}`,
          },
        ];
  return [{ type: 'Ready', status: 'True', reason: behind > 0 ? 'ImagesBehind' : 'UpToDate', message: summary + waits }, ...approval];
}

function countOf({ pending, progressing, done, failed }: NonNullable<BaseStatus['waves']>): number {
  return pending + progressing + done + failed;
}

function summarize(
  { total, behind, unknown }: { readonly total: number; readonly behind: number; readonly unknown: number },
  tag: string,
): string {
  const unsure = unknown === 0 ? '' : `, and of ${unknown} the base is not known`;
  if (total === 0)
    return 'the selected workloads run no images: check the selectors, and that the owners of other namespaces have consented';
  return behind === 0 ? `no image is behind ${tag} (of ${total})${unsure}` : `${behind} of ${total} images are behind ${tag}${unsure}`;
}

const ownTypes: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled', 'ApprovalRequired']);

/** Conditions of other writers are not changed. */
function nextConditions({ status: { conditions = [] }, generation }: BaseImagePolicy, states: readonly State[], now: string): Condition[] {
  const own = states.map(({ type, status, reason, message }): Condition => {
    const before = conditions.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, reason, message: cut(message, maxLengths.message), lastTransitionTime, observedGeneration: generation };
  });
  return [...own, ...conditions.filter(({ type }) => !ownTypes.has(type))];
}
