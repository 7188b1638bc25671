/** What the schemas accept of images that are changed together. */
import fc from 'fast-check';
import { companionMatches } from '../../../src/core/model/companions.ts';
import { list, some } from './arbitrary-parts.ts';

type Parts = { readonly [Part in 'image' | 'containers' | 'duration']: fc.Arbitrary<unknown> };

/** Everything that `spec.alongside` may be. */
export function alongsideArbitrary({ image, containers, duration }: Parts) {
  const images = list(some({ image, containers }, ['image']), 1);
  return some({ images, match: fc.constantFrom(...companionMatches), within: duration }, ['images']);
}

/** Whether a spec says which images belong together: tags that move do not show it. */
export function showsPairs(spec: object): boolean {
  if (!('alongside' in spec) || !('select' in spec)) return true;
  const { alongside, select } = spec;
  const isMoving = typeof select === 'object' && select !== null && 'digest' in select;
  return !isMoving || (typeof alongside === 'object' && alongside !== null && 'match' in alongside && alongside.match !== 'SameTag');
}
