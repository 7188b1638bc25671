import { isUsable, type ImagePolicy, type PolicySpec } from '../core/image-policy.ts';
import { formatRepository } from '../core/image-reference.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';

/** A repository, on whose behalf it is listed, and how often; all policies with all of it in common share one poll. */
export interface PollGroup {
  readonly repository: ImageSource;
  readonly intervalMs: number;
}

/** The polls that the policies ask for, each once. */
export function pollGroups(policies: Iterable<ImagePolicy>, sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource): PollGroup[] {
  const groups = new Map<string, PollGroup>();
  for (const policy of policies) {
    const { spec } = policy;
    if (!isUsable(spec) || spec.suspended) continue;
    const group = { repository: sourceOf(policy, spec), intervalMs: spec.pollIntervalMs };
    groups.set(groupKey(group), group);
  }
  return [...groups.values()];
}

/**
 * The groups whose turn falls into the time after `from` up to `to`. Turns come once per interval, at a point of it that hangs on the
 * group's name: spread out, the same in every replica, and without any memory that a restart could lose.
 */
export function duePolls(groups: readonly PollGroup[], from: number, to: number): PollGroup[] {
  return groups.filter((group) => turnAt(group, to) > turnAt(group, from));
}

function turnAt(group: PollGroup, at: number): number {
  return Math.floor((at + offsetMs(group)) / group.intervalMs);
}

function offsetMs(group: PollGroup): number {
  let hash = 2_166_136_261;
  for (const character of groupKey(group)) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0;
  return hash % group.intervalMs;
}

function groupKey({ repository, intervalMs }: PollGroup): string {
  return `${formatRepository(repository)} ${intervalMs} ${accessKey(repository)}`;
}
