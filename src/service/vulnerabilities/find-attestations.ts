/** The attestations about vulnerabilities that cosign stores: https://github.com/sigstore/cosign/blob/main/specs/ATTESTATION_SPEC.md */
import { statementType } from '../../core/model/media-types.ts';
import type { Wanted } from '../verify/find-attached.ts';

const scanTypes: readonly string[] = [
  'https://cosign.sigstore.dev/attestation/vuln/v1',
  // As the specification writes it: https://github.com/sigstore/cosign/blob/main/specs/COSIGN_VULN_ATTESTATION_SPEC.md
  'cosign.sigstore.dev/attestation/vuln/v1',
];
/** The type of an OpenVEX predicate, with a version or without one: https://github.com/openvex/spec/blob/main/ATTESTING.md */
const vexType = /^https:\/\/openvex\.dev\/ns(?:\/v[0-9.]{1,16})?$/;

/** What a statement is about, by the type of its predicate; undefined for what says nothing of vulnerabilities. */
export function kindOfPredicate(type: string): 'scan' | 'vex' | undefined {
  return scanTypes.includes(type) ? 'scan' : vexType.test(type) ? 'vex' : undefined;
}

export const attestations: Wanted = {
  names: ['an attestation', 'attestations'],
  suffix: 'att',
  // With the mode of referrers of OCI 1.1, cosign 2 names the content; its experimental releases named the tool.
  artifactTypes: [statementType, 'application/vnd.dev.cosign.artifact.att.v1+json'],
  layerTypes: ['application/vnd.dsse.envelope.v1+json'],
  // Two months of an image that is scanned each night.
  max: 64,
  isPredicate: (type) => kindOfPredicate(type) !== undefined,
};
