/**
 * Why an announced push is not looked at, as label of a metric. Stable like the reasons: a code is never renamed and never used for something else.
 */
export const ignoredCodes = {
  OtherEvent: 'an event that announces no push: a pull, a scan, a deletion, a ping',
  Malformed: 'a body that is not what the provider sends',
  Incomplete: 'a push that lacks what names it: repository, resource, or all of its shape',
  NoRegistry: 'the payload names no registry, and the receiver none either',
  NotAnImage: 'a chart, an SBOM or another artifact, by its media type',
  NoTag: 'pushed by digest only',
  Referrer: 'a signature or attestation of an image, by its tag',
  InvalidName: 'a repository or tag that cannot be one',
} as const;

export type IgnoredCode = keyof typeof ignoredCodes;
