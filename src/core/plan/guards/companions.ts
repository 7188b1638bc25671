import type { Guard } from './guard.ts';

/** Makes an image wait for its companions, so that nothing is changed to half of a set. */
export const companions: Guard = {
  id: 'companions',
  bindsRollback: false,
  check(_, { spec, candidate }) {
    if (spec.alongside === undefined || candidate.companions !== undefined) return undefined;
    const { tag, missing } = candidate;
    if (missing === undefined)
      return {
        kind: 'blocked',
        reason: 'CompanionMissing',
        message: `the companions of ${tag} are not known yet: they are asked for before anything is changed`,
      };
    const { images, until } = missing;
    const message = `${tag} waits for ${images.join(' and ')}, which the registry does not hold; it is passed over at ${until}`;
    return { kind: 'waits', reason: 'CompanionMissing', message, until: new Date(until) };
  },
};
