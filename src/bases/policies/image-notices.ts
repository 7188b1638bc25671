/**
 * The notices about images on a base for the teams whose workloads run them. Each concerns the workloads of one namespace, and says nothing about any other one.
 * Pure.
 */
import { type BaseStep, baseSteps, nextStepOf } from '../../core/model/base-next-step.ts';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { IdentifiedNotice, NoticeKind } from '../../core/model/notice.ts';
import { hashId } from '../../core/model/push-event.ts';
import { finalReasons, rebaseRules } from '../../core/model/rebase-rules.ts';
import { formatWorkload, type WorkloadRef } from '../../core/model/workload.ts';
import type { ImageState, UsableBasePolicy } from './act.ts';
import { nameOf, type NamedImage } from './list-images.ts';
import type { Findings } from './next-base-status.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** A notice that is due until it is reported. */
export interface DueNotice {
  /** Identifies what is reported, once for each version of the base. */
  readonly key: string;
  /** The key that must have been reported before: the end of a rollout is reported only where its beginning was. */
  readonly after?: string;
  /** What need not be reported any more after this. */
  readonly covers: readonly string[];
  readonly identified: IdentifiedNotice;
}

/** The keys of reported notices that decide whether these are due. */
export function keysOf(due: readonly DueNotice[]): string[] {
  return [...new Set(due.flatMap(({ key, after }) => [key, ...(after === undefined ? [] : [after])]))];
}

/** The notices that have not been reported yet. */
export function unreported(due: readonly DueNotice[], reported: ReadonlySet<string>): DueNotice[] {
  return due.filter(({ key, after }) => !reported.has(key) && (after === undefined || reported.has(after)));
}

/** The maximum number of workloads that a notice names. */
const maxWorkloads = 20;

/** The notices about the current state of each image, one for each namespace whose workloads run it. */
export function imageNotices(policy: UsableBasePolicy, found: Findings, at: string): DueNotice[] {
  const { base, images, stateOf, replacements = [] } = found;
  const about = { policy, base, at };
  const ofImages = images.flatMap((examined) => {
    const { image, recognition } = examined;
    const done = stateOf(examined);
    const kind = done && kindOf(done);
    if (done === undefined || kind === undefined) return [];
    const namespaces = Map.groupBy(
      image.workloads.map(({ workload }) => workload),
      ({ namespace }) => namespace,
    );
    // The state is the worst of all workloads: where several namespaces run the image, it is not known whose rollout failed.
    if (kind === 'RolloutFailed' && namespaces.size > 1) return [];
    const isOn = recognition.kind === 'recognized' ? recognition.base.digest : undefined;
    const uses = [image.isOnlyInit === true ? ('InitContainer' as const) : ('Container' as const)];
    const step = nextStepOf({ image: nameOf(image), ...done, ...defined({ base: isOn }), uses }, base.digest);
    const name = nameInNotices(image);
    return [...namespaces].map(([namespace, workloads]) => toDue({ kind, namespace, name, workloads, done, step }, about));
  });
  const rollouts = Map.groupBy(
    replacements,
    ({ replacement: { workload, repository, from } }) => `${workload.namespace} ${repository}:${from}`,
  );
  const ofRollouts = [...rollouts.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined || all.some(({ isDone }) => !isDone)) return [];
    const { workload, repository, from, to } = first.replacement;
    const workloads = all.map(({ replacement }) => replacement.workload);
    const done = { state: 'Updated', rebased: to } as const;
    return [toDue({ kind: 'RolledOut', namespace: workload.namespace, name: `${repository}:${from}`, workloads, done }, about)];
  });
  return [...ofImages, ...ofRollouts];
}

/** An image by its tag, or by its digest if it has none: who rolls out a rebased image knows the tag alone. */
function nameInNotices({ tag, digest, ...image }: NamedImage): string {
  return nameOf({ ...image, tag, digest: tag === undefined ? digest : undefined });
}

/** What is reported about an image in a state. Failed rollouts of rebased images are reported by the ImagePolicies that roll them out. */
function kindOf({ state, action, reason }: ImageState): NoticeKind | undefined {
  // The workloads of the image run what they ran before. The platform gets the notice of the rejected base.
  if (reason === 'BaseRejected') return undefined;
  if (state === 'Behind') return 'Behind';
  if (state === 'Requested') return 'RebuildRequested';
  if (state === 'Refused' || state === 'RebuildOverdue') return 'Refused';
  if (action === 'rebase') return state === 'Rebased' || state === 'Updating' ? 'Rebased' : undefined;
  if (action === 'trigger') return state === 'Failed' ? 'Refused' : undefined;
  if (action !== 'restart') return undefined;
  return state === 'Updated' ? 'RolledOut' : state === 'Failed' ? 'RolloutFailed' : undefined;
}

interface ToReport {
  readonly kind: NoticeKind;
  readonly namespace: string;
  readonly name: string;
  readonly workloads: readonly WorkloadRef[];
  readonly done: ImageState;
  readonly step?: BaseStep | undefined;
}

interface About {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  readonly at: string;
}

function toDue({ kind, namespace, name, workloads, done, step }: ToReport, { policy, base, at }: About): DueNotice {
  const { reason, rebased, message } = done;
  const keyOf = (one: NoticeKind, why = '') => hashId([one, namespace, name, why]).slice(0, 32);
  const behind = keyOf('Behind');
  const key = kind === 'Refused' ? keyOf(kind, reason) : keyOf(kind);
  const named = workloads.map((workload) => formatWorkload(workload)).toSorted();
  return {
    key,
    ...(kind === 'RolledOut' && { after: behind }),
    covers: kind === 'Behind' ? [] : [behind],
    identified: {
      identity: [policy.uid, base.digest, key],
      notice: {
        kind,
        subject: { kind: 'Image', namespace, name, uid: policy.uid },
        at,
        base: formatBase(policy, base),
        ...defined({ tag: rebased, reason }),
        workloads: named.slice(0, maxWorkloads),
        ...(named.length > maxWorkloads && { hasMore: true }),
        ...(reason !== undefined && explained.has(reason) && defined({ message })),
        ...(kind !== 'RolledOut' && step !== undefined && { nextStep: baseSteps[step] }),
      },
    },
  };
}

/** The reasons whose messages are about the image and the base alone. Others may name workloads, Secrets or policies of other namespaces. */
const explained: ReadonlySet<string> = new Set([
  ...rebaseRules,
  ...finalReasons,
  'LayersUnchanged',
  'RebaseRefused',
  'ImageHasNoTag',
  'RebuildOverdue',
]);

/** The base as notices name it: `harbor.example.com/library/java:21.0.2@sha256:…`. */
export function formatBase({ spec }: Pick<UsableBasePolicy, 'spec'>, { tag, digest }: SelectedBase): string {
  return `${formatRepository(spec.base.repository)}${tag === '' ? '' : `:${tag}`}@${digest}`;
}
