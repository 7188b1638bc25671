/** Reads `spec.verify`: what must be signed and by whom, and where evidence of vulnerabilities comes from. */
import type { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { PolicySpec } from '../../core/model/image-policy.ts';
import { parseDuration } from '../../core/model/text.ts';
import { type Verification, wantSigner } from '../../core/model/verification.ts';
import type { VulnerabilityRules } from '../../core/model/vulnerabilities.ts';
import { inField } from './in-field.ts';
import type { specSchema } from './v1.ts';

type Spec = z.output<typeof specSchema>;
type KeyField = { readonly secretRef: { readonly name: string; readonly key: string } };
const refOf = ({ secretRef: { name, key } }: KeyField) => ({ secret: name, key });

type Verify = NonNullable<Spec['verify']>;
type Signers = Pick<Verification, 'keys' | 'signers'>;

/** Reads what an image must satisfy. */
export function readVerify(verify: Verify | undefined): Pick<PolicySpec, 'verification' | 'vulnerabilities'> {
  if (verify === undefined) return {};
  const { vulnerabilities, ...signed } = verify;
  const isSigned = signed.cosign !== undefined || signed.provenance !== undefined;
  return {
    ...((isSigned || vulnerabilities === undefined) && { verification: readVerification(signed) }),
    ...(vulnerabilities !== undefined && { vulnerabilities: readVulnerabilities(vulnerabilities) }),
  };
}

function readVulnerabilities(rules: NonNullable<Verify['vulnerabilities']>): VulnerabilityRules<Signers> {
  const { attestations, harbor = false, trivyOperator = false, maxAge, notMoreThanRunning } = rules;
  return {
    ...(attestations && { attestations: readSigners(attestations, 'spec.verify.vulnerabilities.attestations') }),
    harbor,
    trivyOperator,
    maxAgeMs: parseDuration(maxAge) ?? 604_800_000,
    ...defined({ notMoreThanRunning }),
  };
}

/** Reads what must be signed, and by whom. */
export function readVerification({ cosign, provenance }: Verify): Verification {
  const signed = cosign === undefined ? { keys: [], signers: [] } : readSigners(cosign, 'spec.verify.cosign');
  const keys = provenance?.keys.map(refOf);
  if (cosign === undefined && (keys === undefined || keys.length === 0)) throw invalid('spec.verify: write cosign, provenance or both');
  return { ...signed, ...defined({ provenance: keys }) };
}

/** Reads by whom something must be signed; throws where nobody is named. */
function readSigners({ keys = [], keyless = [] }: NonNullable<Verify['cosign']>, field: string): Signers {
  if (keys.length + keyless.length === 0) throw invalid(`${field}: write keys, keyless or both`);
  return {
    keys: keys.map(refOf),
    signers: keyless.map((rule, index) => inField(`${field}.keyless[${index}]`, () => wantSigner(rule))),
  };
}
function invalid(message: string): PermanentError {
  return new PermanentError('InvalidPolicy', message);
}
