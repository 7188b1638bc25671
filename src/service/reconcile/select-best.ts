import { artifactOf } from '../../core/model/artifact.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { Outcome, SeenSet } from '../../core/plan/outcome.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { selectTag, naturalOrder } from '../../core/select/select-tag.ts';
import { examineTag, isOtherKind, neededTags, type OtherKind } from './examine-tag.ts';
import { completeSet } from './complete-set.ts';
import { readAllTimes } from './creation-times.ts';
import { inSlices } from '../../core/async/in-parallel.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Reconcile } from './attempt.ts';
import type { ListTags, Registry } from './ports.ts';
import { selectProven } from './select-proven.ts';
import type { Selection } from './selection.ts';

/** How many images are examined before the search for a usable one is given up. Artifacts of other kinds are counted apart. */
const maxExamined = 10;
const maxOthers = 100;

async function selectInSlices(
  strategy: TagStrategy,
  tags: Iterable<string>,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  let best: string | undefined;
  await inSlices(tags, signal, (tag) => (best = selectTag(strategy, best === undefined ? [tag] : [best, tag], known)));
  return best;
}

/** Selects the best tag that the registry holds; if its image cannot be used, the next best. Throws PermanentError if there is none. */
export async function selectBest(reconcile: Reconcile, registry: Registry): Promise<Selection | Outcome> {
  const { policy, spec, request, cluster, signal } = reconcile;
  if (spec.strategy.isProven === true) return selectProven(reconcile, registry);
  const source = registry.sourceOf(policy, spec);
  const tags = await listCandidates({ strategy: spec.strategy, source, announced: request.hint?.tag, signal }, registry.listTags);
  const { withCreationTimes } = spec.strategy;
  const requested = [request.hint?.tag, request.selectedBefore].filter((tag) => tag !== undefined);
  const needed = [...requested, ...neededTags(reconcile)];
  const timesRequest = { source, artifact: artifactOf(spec), needed, latest: policy.status.latest, now: cluster.now, signal };
  const times = withCreationTimes === undefined ? undefined : await readAllTimes(tags, timesRequest, registry);
  const known = withCreationTimes === undefined || times === undefined ? spec : { ...spec, strategy: withCreationTimes(times.created) };
  const remaining = new Set(tags);
  for (const tag of times?.others ?? []) remaining.delete(tag);
  const preferred = new Set(needed);
  const passedOver: { readonly reason: 'PlatformMissing' | 'CompanionMissing' | OtherKind | 'NoMatchingTag'; readonly message: string }[] =
    [];
  const sets: SeenSet[] = [];
  const others = () => passedOver.filter(({ reason }) => isOtherKind(reason)).length;
  while (passedOver.length - others() < maxExamined && others() < maxOthers) {
    const tag = await selectInSlices(known.strategy, remaining, preferred, signal);
    if (tag === undefined) break;
    const found = await examineTag(tag, { ...reconcile, spec: known, source }, registry);
    if ('candidate' in found) {
      const { candidate, set, overdue } = await completeSet(found.candidate, { ...reconcile, spec: known }, registry);
      sets.push(...(set === undefined ? [] : [set]));
      if (overdue !== undefined) {
        remaining.delete(tag);
        passedOver.push({ reason: 'CompanionMissing', message: overdue });
        continue;
      }
      const { note } = known.strategy;
      const notes = [
        ...(note === undefined ? [] : [note]),
        ...passedOver.map(({ message }) => `passed over: ${message}`),
        ...(times?.notes ?? []),
      ];
      const seen = sets.length === 0 ? {} : { sets };
      return { candidate, spec: known, basis: 'AllTags', ...seen, notes, ...(times && { created: times.created }) };
    }
    if (request.hint?.tag === tag && found.reason === 'TagNotFound') return { kind: 'ignored', ...found, tag };
    remaining.delete(tag);
    const { reason, message } = found;
    passedOver.push({ reason: reason === 'PlatformMissing' || isOtherKind(reason) ? reason : 'NoMatchingTag', message });
  }
  const [best] = passedOver;
  if (best === undefined) throw noneSelected(known.strategy, source, [...remaining]);
  const rest = passedOver.length === 1 ? '' : `, and none of the next ${passedOver.length - 1} can be used`;
  throw new PermanentError(best.reason, best.message + rest);
}

/** The limit for pattern instructions times characters of tags; checked in slices, some seconds in all: 100,000 tags of 20 characters, 95 instructions. */
const maxSteps = 200_000_000;

/** The source of the tags, the strategy that selects from them, and the announced tag. */
interface Listing {
  readonly strategy: TagStrategy;
  readonly source: ImageSource;
  readonly announced?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The tags among which a policy chooses: all that the registry lists, and the announced tag, which it may not list yet. Throws PermanentError if there are
 * none.
 */
export async function listCandidates({ strategy, source, announced, signal }: Listing, listTags: ListTags): Promise<readonly string[]> {
  if (strategy.mutableTag !== undefined) return [strategy.mutableTag];
  const listed = await listTags(source, signal);
  const tags = announced === undefined ? listed : [...(listed ?? []), announced];
  const name = formatRepository(source);
  if (tags === undefined)
    throw new PermanentError('RepositoryNotFound', `the registry does not know ${name}: check the name, or push to it`);
  const candidates: string[] = [];
  let steps = 0;
  await inSlices(tags, signal, (tag) => {
    steps += strategy.costOf?.(tag) ?? 0;
    if (steps > maxSteps) throw tooCostly(name, tags.length);
    if (strategy.reject(tag) === undefined) candidates.push(tag);
  });
  if (candidates.length > 0) return candidates;
  throw noneSelected(strategy, source, tags);
}

function tooCostly(name: string, count: number): PermanentError {
  const what = `the patterns of tags are too large for the ${count} tags of ${name}`;
  return new PermanentError('InvalidTagPolicy', `${what}: write smaller repetition counts, or remove tags from the registry`);
}

/** The error that says why no tag is selected. It explains the tag that is probably the newest, preferably one with a number in it. */
export function noneSelected(strategy: TagStrategy, source: ImageSource, tags: readonly string[]): PermanentError {
  const numbered = tags.filter((tag) => /[0-9]/.test(tag));
  const [example] = (numbered.length > 0 ? numbered : tags).toSorted((a, b) => naturalOrder(b, a));
  const why = example === undefined ? '' : `; for example ${strategy.reject(example)}`;
  const what = `none of the ${tags.length} tags of ${formatRepository(source)} is ${strategy.description}${why}`;
  const { note } = strategy;
  return new PermanentError('NoMatchingTag', note === undefined || what.includes(note) ? what : `${what}; ${note}`);
}
