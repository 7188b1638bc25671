import { formatRepository, sameRepository, type Candidate, type Repository } from '../../core/model/image-reference.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { markGoneTags } from '../../core/plan/running-images.ts';
import { isUsable, type ImagePolicy } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { hasChanges, type UpdatePlan } from '../../core/plan/plan-update.ts';
import type { Basis } from '../../core/plan/outcome.ts';
import { basisOf } from '../reconcile/result.ts';
import { rememberTags } from '../reconcile/examine-tag.ts';
import type { Selection } from '../reconcile/selection.ts';
import { selectBest } from '../reconcile/select-best.ts';
import { planWith } from '../reconcile/plan.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { ListTags, Ports, Registry, RegistryReads, ResolveTag, SeenCluster } from '../reconcile/ports.ts';

/** The evaluation of one policy: its plan for the tags in the registry, or the error that prevented it. */
export type PollEvaluation = { readonly policy: ImagePolicy } & (Decision | { readonly error: unknown });

/** A plan, and the selection that it was made for. */
export interface Decision {
  readonly plan: UpdatePlan;
  readonly selection: Selection;
  /** What it rests on: the registry may have answered so slowly that a push was applied since. */
  readonly basis: Basis;
}

/** A policy whose plan changes something. */
export interface Find {
  readonly policy: ImagePolicy;
  readonly candidate: Candidate;
  /** The digest that the tag has in the registry now, if it was requested. */
  readonly resolved?: { readonly tag: string; readonly digest: string };
}

/** Requests the registry's answers for all policies of a poll. An error of one policy (a mutable tag that cannot be read) does not delay the others. */
export async function evaluatePolicies(
  policies: readonly ImagePolicy[],
  ask: SharedRequests,
  { registry, cluster }: Pick<Ports, 'registry' | 'cluster'>,
  signal: AbortSignal,
): Promise<PollEvaluation[]> {
  const selectedAt = cluster.now();
  const evaluations: PollEvaluation[] = [];
  for (const policy of policies) {
    if (!isUsable(policy.spec)) continue;
    try {
      const request = { announced: false, isOnlyFound: true };
      const seen = asSeenBy(policy, cluster);
      const reconcile = { policy, spec: policy.spec, request, cluster: seen, signal };
      const selection = await selectBest({ ...reconcile, spec: await rememberTags(reconcile) }, { ...registry, ...ask });
      if ('candidate' in selection)
        evaluations.push({
          policy,
          selection,
          plan: planFor(policy, selection, ask, seen),
          basis: basisOf(reconcile, { ...policy, selectedAt }),
        });
    } catch (error) {
      evaluations.push({ policy, error });
      if (signal.aborted) break;
    }
  }
  return evaluations;
}

/** The evaluations that found a change, with the registry's answer, so that the jobs need not ask again. */
export async function findsOf(
  evaluations: readonly PollEvaluation[],
  ask: SharedRequests,
  { sourceOf }: Registry,
  signal: AbortSignal,
): Promise<Find[]> {
  const found = evaluations.flatMap((evaluation) =>
    'plan' in evaluation && hasChanges(evaluation.plan)
      ? [
          {
            policy: evaluation.policy,
            candidate: evaluation.plan.candidate,
            source: sourceOf(evaluation.policy, evaluation.selection.spec),
          },
        ]
      : [],
  );
  const finds: Find[] = [];
  for (const { source, ...find } of found) {
    const { tag, digest } = find.candidate;
    const known = digest ?? (await digestOf(tag, source, ask, signal));
    finds.push({ ...find, ...(known !== undefined && { resolved: { tag, digest: known } }) });
  }
  return finds;
}

function planFor(policy: ImagePolicy, selection: Selection, ask: SharedRequests, cluster: SeenCluster): UpdatePlan {
  const plan = planWith(policy, selection, cluster);
  const tags = selection.spec.strategy.mutableTag === undefined ? ask.listed() : undefined;
  return tags === undefined ? plan : markGoneTags(plan, tags, cluster.aliases);
}

async function digestOf(tag: string, source: ImageSource, ask: SharedRequests, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await ask.headManifest(source, tag, signal))?.digest;
  } catch {
    // Without a shared answer, each policy asks the registry and reports for itself.
    return undefined;
  }
}

type SharedReads = Pick<RegistryReads, 'listTags' | 'headManifest' | 'resolveTag'>;

/** Shares the registry's answers about one repository between all policies of a poll: each request is sent once. */
export interface SharedRequests extends SharedReads {
  /** All tags, if they were requested and the registry knows the repository. */
  listed(): ReadonlySet<string> | undefined;
  /** The first error that may be temporary; undefined if there was none. */
  failure(): unknown;
}

/** Creates the shared requests for one poll of a repository, whose policies all have the same access. */
export function createSharedRequests(registry: SharedReads, polled: Repository): SharedRequests {
  const tags = new Map<string, ReturnType<ListTags>>();
  let listed: ReadonlySet<string> | undefined;
  let failure: unknown;
  const heads = new Map<string, ReturnType<ResolveTag>>();
  const noteFailure = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof PermanentError)) failure ??= error;
      throw error;
    }
  };
  const list: ListTags = async (source, signal) => {
    const answer = await noteFailure(registry.listTags(source, signal));
    // Companions have repositories of their own.
    if (answer !== undefined && sameRepository(source, polled)) listed = new Set(answer);
    return answer;
  };
  const resolveBy =
    (resolve: ResolveTag): ResolveTag =>
    (source, tag, signal) => {
      const key = `${formatRepository(source)}:${tag}`;
      const head = heads.get(key) ?? noteFailure(resolve(source, tag, signal));
      heads.set(key, head);
      return head;
    };
  return {
    listTags(source, signal) {
      const key = formatRepository(source);
      const answer = tags.get(key) ?? list(source, signal);
      tags.set(key, answer);
      return answer;
    },
    headManifest: resolveBy(registry.headManifest),
    resolveTag: resolveBy(registry.resolveTag),
    listed: () => listed,
    failure: () => failure,
  };
}
