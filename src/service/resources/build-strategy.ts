import type { Artifact } from '../../core/model/artifact.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { strategies } from '../../core/select/strategies/index.ts';
import { inField } from './in-field.ts';
import type { Spec } from './v1.ts';

type Select = Spec['select'];
type Options = { readonly [Way in keyof Select]-?: NonNullable<Select[Way]> };

/** The strategy of each field of `select`. */
const builders: { readonly [Way in keyof Options]: (options: Options[Way], artifact: Artifact) => TagStrategy } = {
  semver: (options, artifact) => inField('range', () => strategies.semver({ ...options, ofCharts: artifact === 'Chart' })),
  digest: strategies.digest,
  newest: () => strategies.newest(),
  alphabetical: strategies.alphabetical,
  numerical: strategies.numerical,
  replace: strategies.replace,
  proven: () => strategies.proven(),
};

/** The advice about `select` for messages: the names of all strategies. */
export const oneWay = `write exactly one of ${Object.keys(builders).join(', ')}`;

/** The strategy that `select` chooses, by the first of its fields. Throws a PermanentError whose message begins with the path below the field. */
export function buildStrategy(select: Select, artifact: Artifact = 'Image'): TagStrategy {
  const ways = Object.keys(builders) as readonly (keyof Select)[];
  const way = ways.find((one) => select[one] !== undefined);
  const strategy = way && build(way, select, artifact);
  if (strategy === undefined) throw new PermanentError('InvalidPolicy', oneWay);
  return strategy;
}

function build<Way extends keyof Options>(way: Way, select: Partial<Pick<Options, Way>>, artifact: Artifact): TagStrategy | undefined {
  const options: Options[Way] | undefined = select[way];
  return options && builders[way](options, artifact);
}
