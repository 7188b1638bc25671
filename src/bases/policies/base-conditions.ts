/** The conditions of a BaseImagePolicy whose images were examined, and what they say. Pure. */
import { type BaseImagePolicy, isUsableBase } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import { actionAnnotations } from '../../core/model/policy-actions.ts';
import type { ConditionState } from '../../core/status/condition-states.ts';
import { describeMissingGrant } from '../../core/model/push-grant.ts';
import { cut } from '../../core/model/text.ts';
import { describeCount } from '../../core/plan/approvals.ts';
import { countBaseApprovals } from '../../core/plan/base-decisions.ts';
import type { RejectedBase } from '../../core/plan/rejected-base.ts';
import { maxVersions } from './learn-versions.ts';
import { nameOf } from './list-images.ts';
import type { Findings } from './next-base-status.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** The condition `Ready`, and the one that accompanies it. */
export function describeConditions(
  counts: NonNullable<BaseStatus['images']>,
  {
    base,
    images,
    versions,
    acted: { waves, pendingApproval, opensAt },
    waiting,
    unpermitted,
    policy,
    at,
  }: Findings & { readonly policy: BaseImagePolicy; readonly at: Date },
  rejection: RejectedBase | undefined,
): ConditionState[] {
  const summary = summarize(counts, { tag: base.tag, images, versions }) + describeUnpermitted(policy.namespace, unpermitted);
  const hint = `push a newer one, or release it with the annotation ${actionAnnotations.release}: "<time>"`;
  if (rejection?.reason === 'RejectedByUser') {
    const message = `${base.tag} was ${rejection.message}: ${hint}; ${summary}`;
    return [
      { type: 'Ready', status: 'True', reason: 'RejectedByUser', message },
      { type: 'Held', status: 'True', reason: 'RejectedByUser', message },
    ];
  }
  if (rejection !== undefined) {
    const message = `${base.tag} failed, and is not used again: ${hint}: ${rejection.message}`;
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
  const approval: ConditionState[] =
    pendingApproval === undefined
      ? []
      : [
          {
            type: 'ApprovalRequired',
            status: 'True',
            reason: 'ApprovalRequired',
            message: `${pendingApproval.tag}@${pendingApproval.digest}${describeApprovals(policy, base, at)}`,
          },
        ];
  const message = summary + waits;
  if (versions.isBeingRead)
    return [
      { type: 'Ready', status: 'False', reason: 'Progressing', message },
      { type: 'Reconciling', status: 'True', reason: 'Progressing', message },
      ...approval,
    ];
  const isUnsure = counts.unknown > 0 || versions.unread > 0 || versions.hidden !== undefined;
  const reason = counts.behind > 0 ? 'ImagesBehind' : isUnsure ? 'ImagesUnknown' : 'UpToDate';
  return [{ type: 'Ready', status: 'True', reason, message }, ...approval];
}

/** Who has approved the base so far, if several people are asked. */
function describeApprovals({ spec, ...policy }: BaseImagePolicy, base: SelectedBase, at: Date): string {
  const count = isUsableBase(spec) ? countBaseApprovals({ ...policy, spec }, base, at) : undefined;
  return count === undefined ? '' : `: ${describeCount(count)}`;
}

function countOf({ pending, progressing, done, failed }: NonNullable<BaseStatus['waves']>): number {
  return pending + progressing + done + failed;
}

function summarize(
  { total, behind, unknown, otherLine = 0 }: NonNullable<BaseStatus['images']>,
  { tag, images, versions }: Pick<Findings, 'images' | 'versions'> & { readonly tag: string },
): string {
  const { unread, isBeingRead, fault, hidden } = versions;
  if (total === 0)
    return 'the selected workloads run no images: check the selectors, and that the owners of other namespaces have consented';
  const others = [
    ...(otherLine === 0
      ? []
      : [`${otherLine} ${otherLine === 1 ? 'is' : 'are'} built on a version of another line, which spec.from may name`]),
    ...(unread === 0 ? [] : [`${unread} tags of the base are not compared${describeUnread(isBeingRead, fault)}`]),
    ...(hidden === undefined ? [] : [describeHidden(hidden)]),
    ...(unknown === 0 ? [] : [`of ${unknown} the base is not known${describeUnknown(images)}`]),
  ];
  const known = unknown > 0 || unread > 0 || hidden !== undefined ? 'no image is known to be behind' : 'no image is behind';
  return [behind === 0 ? `${known} ${tag} (of ${total})` : `${behind} of ${total} images are behind ${tag}`, ...others].join('; ');
}

/** The maximum lengths of an image and of a reason in a message, so that it has room for both. */
const [maxImage, maxWhy] = [200, 400];

/** Why the base of an image is not known, for one of them, and what to do. The one with the first name, so that the message changes as rarely as its cause. */
function describeUnknown(images: Findings['images']): string {
  const unknown = images.flatMap(({ image, recognition }) =>
    recognition.kind === 'unknown' ? [{ name: nameOf(image), why: recognition.reason }] : [],
  );
  const [first] = unknown.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const example = first === undefined ? '' : `, such as ${cut(first.name, maxImage)}: ${cut(first.why, maxWhy)}`;
  return `${example}: let the build name its base or build the image anew, if status.dependents says nothing else`;
}

function describeUnpermitted(namespace: string, repositories: readonly Repository[]): string {
  if (repositories.length === 0) return '';
  const what = repositories.length === 1 ? 'the images of 1 repository are' : `the images of ${repositories.length} repositories are`;
  return `; ${what} not rebased, because nothing permits to push them: ${describeMissingGrant(namespace, repositories)}`;
}

function describeHidden({ count, example }: NonNullable<Findings['versions']['hidden']>): string {
  const what = `${count} versions of the base, such as ${example}, are`;
  return `${what} not compared, because their configurations do not show their layers: push them anew, and let the builds on them name their base`;
}

function describeUnread(isBeingRead: boolean, fault: string | undefined): string {
  if (fault !== undefined) return `: ${fault}`;
  return isBeingRead ? ' yet: they are being read' : `, because ${maxVersions} versions are known: remove old tags from the registry`;
}
