/** Reads what is known of the vulnerabilities of an image, from the sources that a policy names. */
import { describeError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Verification } from '../../core/model/verification.ts';
import { joinEvidence, noEvidence, type Evidence, type VulnerabilityRules } from '../../core/model/vulnerabilities.ts';

/** An image, and the evidence that a policy accepts for it. */
export interface EvidenceRequest {
  readonly source: ImageSource;
  readonly digest: string;
  readonly rules: VulnerabilityRules<Pick<Verification, 'keys' | 'signers'>>;
  /** The namespace of the policy, which holds its keys. */
  readonly namespace: string;
  /** The namespaces of the targets, each once. */
  readonly targetNamespaces: readonly string[];
}

/** Reads the evidence about one digest. Never rejects unless the signal is aborted: a source that cannot be asked is one of the problems. */
export type ReadEvidence = (request: EvidenceRequest, signal: AbortSignal) => Promise<Evidence>;

/** A source of evidence. */
export interface EvidenceSource {
  /** The name of the source for people: `Harbor's scanner`. */
  readonly name: string;
  isWanted(rules: EvidenceRequest['rules']): boolean;
  /** Reads what the source knows of the digest; may reject. */
  read(request: EvidenceRequest, signal: AbortSignal): Promise<Evidence>;
}

/** Creates a reader that asks all wanted sources at once. */
export function createEvidenceReader(sources: readonly EvidenceSource[]): ReadEvidence {
  return async (request, signal) => {
    const wanted = sources.filter((source) => source.isWanted(request.rules));
    const found = await Promise.all(
      wanted.map(async (source): Promise<Evidence> => {
        try {
          return await source.read(request, signal);
        } catch (error) {
          if (signal.aborted) throw error;
          return { ...noEvidence, problems: [`${source.name} could not be asked: ${describeError(error)}`] };
        }
      }),
    );
    return joinEvidence(found);
  };
}
