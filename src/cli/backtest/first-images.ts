/** What runs at the beginning of a backtest. */
import { PermanentError } from '../../core/model/errors.ts';
import { formatRepository, sameRepository } from '../../core/model/image-reference.ts';
import type { PolicySpec } from '../../core/model/image-policy.ts';
import { selectTag } from '../../core/select/select-tag.ts';
import type { PastImage } from './past-image.ts';
import type { FirstImage } from './past-workload.ts';

/** The tag that the policy selects among what had been pushed by then; the first that it can select later, if there is none. Throws PermanentError if it selects none of all. */
export function firstTag({ strategy, repository }: PolicySpec, pushes: readonly PastImage[], from: number): string {
  const own = pushes.filter((push) => sameRepository(push.repository, repository));
  const before = own.filter(({ pushedAt }) => pushedAt <= from);
  const created = new Map(before.map((image) => [image.tag, image.created]));
  const known = strategy.withCreationTimes?.(created) ?? strategy;
  const tag =
    selectTag(
      known,
      before.map((image) => image.tag),
    ) ?? own.find((image) => strategy.reject(image.tag) === undefined)?.tag;
  if (tag !== undefined) return tag;
  const [example] = own;
  const why = example === undefined ? 'it was never pushed' : `for example ${strategy.reject(example.tag)}`;
  throw new PermanentError('NoMatchingTag', `no tag of ${formatRepository(repository)} is ${strategy.description}; ${why}`);
}

/** The containers of the workload, that of the policy's own image first, with what they run. */
export function firstImages(
  { repository, alongside, pin }: PolicySpec,
  pushes: readonly PastImage[],
  tag: string,
  from: number,
): FirstImage[] {
  const imageOf = (of: PolicySpec['repository']) => {
    const pushed = pushes.filter((push) => push.tag === tag && sameRepository(push.repository, of));
    const image = pushed.findLast(({ pushedAt }) => pushedAt <= from) ?? pushed[0];
    return `${formatRepository(of)}:${tag}${pin === 'Digest' && image !== undefined ? `@${image.digest}` : ''}`;
  };
  const companions = alongside?.images ?? [];
  return [
    { container: 'image', image: imageOf(repository) },
    ...companions.flatMap(({ repository: companion, containers = [`companion-${companion.path.split('/').at(-1)}`] }) =>
      containers.map((container) => ({ container, image: imageOf(companion) })),
    ),
  ];
}
