/**
 * The pushes that this process has matched with policies lately. A watch may be silent for minutes without an error, and pushes of that time are matched with
 * policies as they were before. When the watch delivers such a policy, these pushes are found for it.
 */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { PushJob } from '../queue/jobs.ts';

export interface RecentPushes {
  remember(push: PushJob): void;
  /** Whether a push is one of these, so that its delivery is a repetition. */
  has(push: PushJob): boolean;
  /** The pushes for a policy that came after its spec was written, to the second: the last one of each tag. Usually there are none. */
  missedBy(policy: ImagePolicy): readonly PushJob[];
}

const maxRepositories = 2_000;
const maxPushes = 20;
const rememberedMs = 600_000;

/** Creates a memory without pushes. */
export function createRecentPushes(now: () => number): RecentPushes {
  const byRepository = new BoundedMap<string, readonly PushJob[]>(maxRepositories);
  return {
    remember(push) {
      const key = formatRepository(push.repository);
      const others = byRepository.get(key)?.filter(({ id, tag }) => id !== push.id && tag !== push.tag) ?? [];
      byRepository.set(key, [...others, push].slice(-maxPushes));
    },
    has: ({ id, repository }) => byRepository.get(formatRepository(repository))?.some((one) => one.id === id) === true,
    missedBy({ spec, createdAt, writtenAt = createdAt }) {
      if (!isUsable(spec)) return [];
      const since = Math.max(Date.parse(writtenAt ?? ''), now() - rememberedMs);
      const companions = spec.alongside?.images ?? [];
      const pushes = [spec, ...companions].flatMap(({ repository }) => byRepository.get(formatRepository(repository)) ?? []);
      return pushes.filter(({ receivedAt }) => Date.parse(receivedAt) >= since);
    },
  };
}
