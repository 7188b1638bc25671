import type { Rule } from './rule.ts';

/** Whoever can push to the repository of the base could otherwise get what he pushes signed, as a part of every application. */
export const baseUnverified: Rule = {
  id: 'BaseUnverified',
  about:
    'The rebased image would be signed, and nobody has verified the signatures of the base, so that policies with `verify` would accept whatever is pushed as the base.',
  check({ signatures: { willBeSigned, isBaseVerified } }) {
    return willBeSigned && !isBaseVerified
      ? 'the rebased image would be signed, and the signatures of the base are not verified'
      : undefined;
  },
};
