/** The schedule of polls. Each repository is polled once per interval, at an offset derived from its name, so that polls are spread without stored state. */
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';

/** The time between ticks, in ms. If the time of the last tick is unknown (Redis was wiped), a tick covers this period. */
export const tickMs = 5_000;

export interface PollSchedule {
  /** The key of the schedule, which is the same for the same repository and interval. */
  readonly key: string;
  readonly intervalMs: number;
  /** The offset in the interval. It is derived from the key, so it is the same in every replica, and after every restart. */
  readonly offsetMs: number;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;

/** The schedule of polls of a repository with this interval. */
export function pollSchedule(repository: Repository, intervalMs: number): PollSchedule {
  const key = keyOf(repository, intervalMs);
  return { key, intervalMs, offsetMs: hash(key) % intervalMs };
}

function keyOf(repository: Repository, intervalMs: number): string {
  return `${formatRepository(repository)} ${intervalMs}`;
}

/**
 * How long to delay the poll that became due after `from` and no later than `to`; undefined if none did. Long overdue polls do not all run together: they keep
 * the order of their next regular times, and are spread like those.
 */
export function dueIn(
  { intervalMs, offsetMs }: Pick<PollSchedule, 'intervalMs' | 'offsetMs'>,
  from: number,
  to: number,
): number | undefined {
  const periodAt = (at: number) => Math.floor((at + offsetMs) / intervalMs);
  const period = periodAt(to);
  if (period <= periodAt(from)) return undefined;
  const lateMs = to + offsetMs - period * intervalMs;
  if (lateMs <= Math.max(2 * tickMs, Math.min(minuteMs, intervalMs / 10))) return 0;
  return Math.floor(((intervalMs - lateMs) / intervalMs) * spreadMs(intervalMs));
}

/** A delay derived from the access (`accessKey`), so that polls of the same repository with different access do not run together. */
export function accessDelayMs(access: string, intervalMs: number): number {
  return access === '' ? 0 : hash(access) % Math.max(1, Math.floor(spreadMs(intervalMs)));
}

/** The time over which simultaneous polls are spread: a tenth of their interval, and an hour at most. */
function spreadMs(intervalMs: number): number {
  return Math.min(intervalMs / 10, hourMs);
}

/** The hash of a text (FNV-1a), which spreads polls over their interval. */
function hash(text: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return hash;
}

/** A poll of a repository for all policies with the same access and interval, and its delay. */
export interface DuePoll {
  readonly repository: ImageSource;
  readonly intervalMs: number;
  readonly delayMs: number;
}

/** The polls of the policies that become due after `from` and no later than `to`, each once. */
export type DuePolls = (policies: Iterable<ImagePolicy>, from: number, to: number) => DuePoll[];

/** Creates the function that finds due polls. It caches each policy's offset, which every tick needs. `sourceOf` is called only for policies that are due. */
export function createDuePolls(sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource): DuePolls {
  const offsets = new WeakMap<PolicySpec, number>();
  const offsetOf = (spec: PolicySpec): number => {
    const known = offsets.get(spec);
    if (known !== undefined) return known;
    const { offsetMs } = pollSchedule(spec.repository, spec.pollIntervalMs);
    offsets.set(spec, offsetMs);
    return offsetMs;
  };
  return (policies, from, to) => {
    const due = new Map<string, DuePoll>();
    for (const policy of policies) {
      const { spec } = policy;
      if (!isUsable(spec) || spec.suspended) continue;
      const { pollIntervalMs: intervalMs } = spec;
      const delayMs = dueIn({ intervalMs, offsetMs: offsetOf(spec) }, from, to);
      if (delayMs === undefined) continue;
      const repository = sourceOf(policy, spec);
      const access = accessKey(repository);
      due.set(`${keyOf(repository, intervalMs)} ${access}`, {
        repository,
        intervalMs,
        delayMs: delayMs + accessDelayMs(access, intervalMs),
      });
    }
    return [...due.values()];
  };
}
