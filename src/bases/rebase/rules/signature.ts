import type { Rule } from './rule.ts';

/** Refuses to rebase a signed image without signing the result. Signatures are for a digest, and the rebased image has another one. */
export const signature: Rule = {
  id: 'SignatureLost',
  about:
    'The application is signed, and the rebased image would not be signed with the same key, so that policies with `verify` would refuse it.',
  check({ signatures: { isSigned, isSignedByOwnKey, willBeSigned } }) {
    if (!isSigned || (willBeSigned && isSignedByOwnKey)) return undefined;
    if (!willBeSigned) return 'the application is signed, and the rebased image would not be: name a key to sign it with';
    return 'the application is not signed with the key that signs the rebased image, so that policies that require its signature would refuse it';
  },
};
