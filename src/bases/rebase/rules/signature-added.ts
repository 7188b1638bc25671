import type { Rule } from './rule.ts';

/** Refuses to sign an image that was not signed before. Anybody who can push an image could otherwise get it signed. */
export const signatureAdded: Rule = {
  id: 'SignatureAdded',
  about:
    'The application is not signed, but the rebased image would be, so that policies with `verify` would accept what they refused before.',
  check({ signatures: { isSigned, willBeSigned } }) {
    return !isSigned && willBeSigned ? 'the application is not signed, but the rebased image would be' : undefined;
  },
};
