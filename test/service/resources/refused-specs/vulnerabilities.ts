/** Wrong rules about the vulnerabilities of images. */
import { byRule, bySchema, chartSpec, specWith, type RefusedSpec } from './specs.ts';

export const vulnerabilities: readonly RefusedSpec[] = [
  byRule(
    'evidence from nowhere',
    specWith({ verify: { vulnerabilities: { harbor: false, notMoreThanRunning: 'High' } } }),
    'spec.verify.vulnerabilities',
    'write where evidence comes from',
  ),
  byRule(
    'attestations by nobody',
    specWith({ verify: { vulnerabilities: { attestations: {} } } }),
    'spec.verify.vulnerabilities.attestations',
    'write keys, keyless or both',
  ),
  byRule(
    'an exception from minAge without evidence',
    specWith({ minAge: '168h', minAgeUnless: { fixes: 'Critical' } }),
    'spec',
    'write verify.vulnerabilities',
  ),
  byRule(
    'an exception from windows without evidence',
    specWith({ update: { windowsUnless: { fixes: 'Critical' } }, verify: { cosign: { keys: [{ secretRef: { name: 'a', key: 'b' } }] } } }),
    'spec',
    'write verify.vulnerabilities',
  ),
  byRule(
    'the vulnerabilities of a chart',
    specWith({ ...chartSpec, verify: { vulnerabilities: { harbor: true } } }),
    'spec',
    'verify.vulnerabilities is about images',
  ),
  bySchema(
    'a severity that no rule can name',
    specWith({ minAgeUnless: { fixes: 'Unknown' }, verify: { vulnerabilities: { harbor: true } } }),
    'spec.minAgeUnless.fixes',
    'Unsupported value',
    'none of Low, Medium, High, Critical',
  ),
  byRule(
    'a scan of any age',
    specWith({ verify: { vulnerabilities: { harbor: true, maxAge: '0s' } } }),
    'spec.verify.vulnerabilities.maxAge',
    'write a duration longer than zero',
  ),
];
