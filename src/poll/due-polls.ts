import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import { accessDelayMs, dueIn, pollTurn, type PollTurn } from './poll-turn.ts';

/** A repository to be listed for all policies that share the credentials and the interval, and how long to delay that. */
export interface DuePoll {
  readonly repository: ImageSource;
  readonly intervalMs: number;
  readonly delayMs: number;
}

/** The polls of the policies that become due after `from` and no later than `to`, each once. */
export type DuePolls = (policies: Iterable<ImagePolicy>, from: number, to: number) => DuePoll[];

/** Caches the schedule of each policy object, because every tick asks for all of them; credentials are looked up only for policies that are due. */
export function createDuePolls(sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource): DuePolls {
  const turns = new WeakMap<PolicySpec, PollTurn>();
  const turnOf = (spec: PolicySpec): PollTurn => {
    const known = turns.get(spec);
    if (known !== undefined) return known;
    const turn = pollTurn(spec.repository, spec.pollIntervalMs);
    turns.set(spec, turn);
    return turn;
  };
  return (policies, from, to) => {
    const due = new Map<string, DuePoll>();
    for (const policy of policies) {
      const { spec } = policy;
      if (!isUsable(spec) || spec.suspended) continue;
      const turn = turnOf(spec);
      const delayMs = dueIn(turn, from, to);
      if (delayMs === undefined) continue;
      const repository = sourceOf(policy, spec);
      const access = accessKey(repository);
      const { intervalMs } = turn;
      due.set(`${turn.key} ${access}`, { repository, intervalMs, delayMs: delayMs + accessDelayMs(access, intervalMs) });
    }
    return [...due.values()];
  };
}
