/** What a user can do about an image that is built on a base, or may be. One answer for the API, its pages and `explain`. Pure. */
import type { Dependent } from './base-status.ts';
import { rebaseRules } from './rebase-rules.ts';

/** The next steps for an image on an outdated base: stable words with their texts. */
export const baseSteps = {
  ImageVolume:
    'mounted as an image volume, which is not examined: if it is built on the base, rebuild it, and let an ImagePolicy bring the new image to the volume',
  MendBase: 'push a mended base, or release this one to try it again',
  Approve: 'approve the base',
  LeaveDryRun: 'write mode: Automatic or Approval, if this is what should happen',
  BringBetween: 'bring the base in between forward: its own policy then brings this image',
  WaitForWindow: 'wait for the window',
  WaitForRetry: 'wait: it is tried again',
  UnpinOrTrigger: 'pinned by digest: trigger a rebuild, or unpin: name the image by its tag',
  AllowOrRebuild: 'rebuild the image, or name the rule in rebase.allow if the change is acceptable',
  Correct: 'correct what the message names, or rebuild the image',
  NameSource: 'let the build name its source (org.opencontainers.image.source), or name the repository in the trigger',
  CorrectTrigger: 'correct what the CI system refuses: the token, the project or the workflow',
  AwaitAcceptance: 'wait: the CI system is asked again for a day; if a message says why it has not accepted the request, correct that',
  ReadPipeline: 'see why the pipeline has brought no image',
  BringDigest: 'pinned by digest: the rebuilt image runs when an ImagePolicy with pin: Digest brings it, or when somebody names it',
  BringToInit: 'runs in an init container: an ImagePolicy brings a rebuilt image to it only with initContainers: true in its target',
  ReadRollout: 'see why the new pods fail; then push a mended base or image',
  WaitForRebuild: 'wait: the rebuilt image comes by its own push',
  WaitForWave: 'wait for the wave of its workloads',
  WaitForRollout: 'wait: its workloads are rolling out',
  NameBase:
    'let the build name its base (org.opencontainers.image.base.name and .digest) or build the image anew, if the message says nothing else',
  NameLine: 'nothing, or name its tag in spec.from to bring it to the selected line',
  RestartPods: 'the tag has the new image: wait for the wave, or restart the pods if the message says that they are kept',
  PushTag: 'push an image on the new base under the tag: the workloads are then restarted',
  AddAction: 'rebuild the image, or add an action for it to onNewBase',
} as const;
export type BaseStep = keyof typeof baseSteps;

/** How workloads use an image. */
export const imageUses = ['Container', 'InitContainer', 'ImageVolume'] as const;
export type ImageUse = (typeof imageUses)[number];

/** An image, and how workloads use it, if that is known. */
export interface StepSubject extends Pick<Dependent, 'image' | 'state'> {
  readonly base?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
  readonly uses?: readonly ImageUse[];
}

/** Whether workloads name an image by its digest. */
export function isPinned(image: string): boolean {
  return image.includes('@');
}

/** The step for an image; undefined if there is nothing to do or to wait for. `selected` is the digest of the selected base. */
export function nextStepOf(
  { image, state, base, action, reason, uses = [] }: StepSubject,
  selected: string | undefined,
): BaseStep | undefined {
  if (uses.length > 0 && uses.every((use) => use === 'ImageVolume')) return 'ImageVolume';
  const byReason = reason === undefined ? undefined : stepsOfReasons[reason];
  if (byReason !== undefined) return byReason;
  const isOnlyInit = uses.length > 0 && !uses.includes('Container');
  if (state === 'Behind') {
    if (isPinned(image) && action !== 'rebase' && action !== 'trigger') return 'UnpinOrTrigger';
    if (action === 'restart') return selected !== undefined && base?.endsWith(selected) === true ? 'RestartPods' : 'PushTag';
    if (action === 'rebase' || action === 'trigger') return 'WaitForRetry';
    return isOnlyInit ? 'BringToInit' : 'AddAction';
  }
  if (state === 'Requested') return isPinned(image) ? 'BringDigest' : isOnlyInit ? 'BringToInit' : 'WaitForRebuild';
  return stepsOfStates[state];
}

/** The steps that follow from a reason alone. */
const stepsOfReasons: Readonly<Record<string, BaseStep>> = {
  BaseRejected: 'MendBase',
  RejectedByUser: 'MendBase',
  ApprovalRequired: 'Approve',
  DryRun: 'LeaveDryRun',
  BaseBetween: 'BringBetween',
  Window: 'WaitForWindow',
  WavePending: 'WaitForWave',
  WavePause: 'WaitForWave',
  Retrying: 'WaitForRetry',
  ImageHasNoTag: 'UnpinOrTrigger',
  ...Object.fromEntries(rebaseRules.map((rule) => [rule, 'AllowOrRebuild'])),
  SourceUnknown: 'NameSource',
  RebuildPending: 'AwaitAcceptance',
  RebuildRefused: 'CorrectTrigger',
  RebuildOverdue: 'ReadPipeline',
};

const stepsOfStates: Readonly<Partial<Record<Dependent['state'], BaseStep>>> = {
  Failed: 'ReadRollout',
  RebuildOverdue: 'ReadPipeline',
  Refused: 'Correct',
  Rebased: 'WaitForWave',
  Updating: 'WaitForRollout',
  Unknown: 'NameBase',
  OtherLine: 'NameLine',
};
