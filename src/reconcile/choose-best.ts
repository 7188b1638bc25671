import { PermanentError } from '../model/errors.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { Outcome } from '../plan/outcome.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';
import { selectTag } from '../select/select-tag.ts';
import type { ChoiceRequest, ChoosePorts, Chosen } from './choice.ts';
import { listCandidates, noneSelected } from './choose-tag.ts';
import { examineTag } from './examine-tag.ts';
import { readAllTimes } from './read-creation-times.ts';
import { neededTags } from './needed-tags.ts';
import { inSlices } from '../async/in-parallel.ts';
import type { PlanPorts } from './plan-with.ts';

/** How many images are examined before the search for a usable one is given up; artifacts are counted apart. */
const maxLooks = 10;
const maxArtifacts = 100;

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

/** The best tag of all that the registry holds; where its image cannot be used, the next best. Throws PermanentError when there is none. */
export async function chooseBest(
  policy: ImagePolicy,
  spec: PolicySpec,
  request: ChoiceRequest,
  ports: ChoosePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Chosen | Outcome> {
  const source = ports.sourceOf(policy, spec);
  const tags = await listCandidates(spec.strategy, source, ports.listTags, signal, request.hint?.tag);
  const { knowing } = spec.strategy;
  const pointedAt = [request.hint?.tag, request.chosenBefore].filter((tag) => tag !== undefined);
  const needed = [...pointedAt, ...neededTags(policy, spec, ports)];
  const timesRequest = { source, needed, latest: policy.status.latest };
  const times = knowing === undefined ? undefined : await readAllTimes(tags, timesRequest, ports, signal);
  const known = knowing === undefined || times === undefined ? spec : { ...spec, strategy: knowing(times.created) };
  const remaining = new Set(tags);
  for (const tag of times?.artifacts ?? []) remaining.delete(tag);
  const preferred = new Set(needed);
  const passedOver: { readonly reason: 'PlatformMissing' | 'NotAnImage' | 'NoMatchingTag'; readonly message: string }[] = [];
  const artifacts = () => passedOver.filter(({ reason }) => reason === 'NotAnImage').length;
  while (passedOver.length - artifacts() < maxLooks && artifacts() < maxArtifacts) {
    const tag = await selectInSlices(known.strategy, remaining, preferred, signal);
    if (tag === undefined) break;
    const found = await examineTag(tag, { policy, spec: known, source, request }, ports, signal);
    if ('candidate' in found) {
      const { note } = known.strategy;
      const notes = [
        ...(note === undefined ? [] : [note]),
        ...passedOver.map(({ message }) => `passed over: ${message}`),
        ...(times?.notes ?? []),
      ];
      return { candidate: found.candidate, isComplete: true, spec: known, notes, ...(times && { created: times.created }) };
    }
    if (request.hint?.tag === tag && found.reason === 'TagNotFound') return { kind: 'ignored', ...found, tag };
    remaining.delete(tag);
    const isKnown = found.reason === 'PlatformMissing' || found.reason === 'NotAnImage';
    passedOver.push({ reason: isKnown ? found.reason : 'NoMatchingTag', message: found.message });
  }
  const [best] = passedOver;
  if (best === undefined) throw noneSelected(known.strategy, source, [...remaining]);
  const others = passedOver.length === 1 ? '' : `, and none of the next ${passedOver.length - 1} can be used`;
  throw new PermanentError(best.reason, best.message + others);
}
