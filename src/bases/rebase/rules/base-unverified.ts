import type { Rule } from './rule.ts';

/**
 * Refuses to sign an image on an unverified base: anybody who can push to the base's repository would get content signed in every application. The old base has to
 * be verified as well: its layers are removed, so that a planted one with layers of the application would have them removed from the signed image.
 */
export const baseUnverified: Rule = {
  id: 'BaseUnverified',
  about:
    'The rebased image would be signed, and nobody has verified the signatures of the new base and of the old one, so that policies with `verify` would accept whatever is pushed as the base, or an application without some of its layers.',
  check({ signatures: { willBeSigned, isBaseVerified, isOldBaseVerified } }) {
    if (!willBeSigned) return undefined;
    if (!isBaseVerified) return 'the rebased image would be signed, and the signatures of the base are not verified';
    return isOldBaseVerified
      ? undefined
      : 'the rebased image would be signed without the layers of the old base, whose signatures are missing or by others: build the image on a signed base once';
  },
};
