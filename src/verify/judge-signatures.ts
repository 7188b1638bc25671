import type { VerificationResult } from '../model/verification.ts';
import type { FoundSignature } from './found-signature.ts';
import { judgeBundle } from './judge-bundle.ts';
import { judgeSimple } from './judge-simple.ts';
import type { Judgement, Trust } from './trust.ts';

const maxReasons = 3;

/** One signature that counts is enough; the search ends there. With none that counts, it says what there is and what was wanted. */
export async function judgeSignatures(found: AsyncIterable<FoundSignature>, digest: string, trust: Trust): Promise<VerificationResult> {
  const reasons = new Set<string>();
  for await (const signature of found) {
    const judgement = judge(signature, digest, trust);
    if (judgement.kind === 'valid') return { kind: 'verified', by: judgement.by };
    if (judgement.kind === 'invalid') reasons.add(judgement.why);
  }
  const wanted = describeTrust(trust);
  if (reasons.size === 0) return { kind: 'unsigned', why: `wanted is one by ${wanted}` };
  const shown = [...reasons].slice(0, maxReasons);
  const rest = reasons.size > shown.length ? `; and ${reasons.size - shown.length} more` : '';
  return { kind: 'invalid', why: `${shown.join('; ')}${rest}; wanted is one by ${wanted}` };
}

function judge(signature: FoundSignature, digest: string, trust: Trust): Judgement {
  switch (signature.kind) {
    case 'simple':
      return judgeSimple(signature, digest, trust);
    case 'bundle':
      return judgeBundle(signature, digest, trust);
    case 'unreadable':
      return { kind: 'invalid', why: signature.why };
  }
}

function describeTrust({ keys, signers }: Trust): string {
  const names = [...keys.map(({ name, fingerprint }) => `${name} (${fingerprint})`), ...signers.map(({ description }) => description)];
  return names.join(' or ');
}
