/** The list of the sources of evidence, in the order in which their answers are shown. */
import type { ImageVerifierOptions } from '../verify/image-verifier.ts';
import { createAttestationSource } from './attestations.ts';
import { createHarborSource, type ScanRegistry } from './harbor.ts';
import { createEvidenceReader, type ReadEvidence } from './read-evidence.ts';
import { createTrivyOperatorSource, type TrivyOperatorMeans } from './trivy-operator.ts';

export type EvidenceOptions = ImageVerifierOptions & TrivyOperatorMeans & { readonly registry: ScanRegistry };

/** Creates the reader with all sources. */
export function createAllEvidence(options: EvidenceOptions): ReadEvidence {
  return createEvidenceReader([createAttestationSource(options), createHarborSource(options), createTrivyOperatorSource(options)]);
}
